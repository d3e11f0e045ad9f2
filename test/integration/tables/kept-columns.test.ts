import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longTest } from '../stack/long-test.ts';
import { type KeyedRecord, openKeyed } from './open-keyed.ts';

const WORD = '__debezium_unavailable_value';

/** A change of the source. `null`: the large value was not sent, as it is the one before. */
type Change =
  | {
      readonly kind: 'row';
      readonly key: string;
      readonly amount: number;
      readonly doc: string | null;
      readonly note: string | null;
    }
  | { readonly kind: 'delete' | 'tombstone' | 'truncate' | 'misfit'; readonly key: string };

const value = fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 2 });

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('row' as const),
      key: fc.constantFrom('1', '1.0', '2', '3'),
      amount: fc.integer({ min: 0, max: 9 }),
      doc: value,
      note: value,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete' as const, 'tombstone', 'truncate', 'misfit'),
      key: fc.constantFrom('1', '10e-1', '2', '3'),
    }),
  },
);

function recordOf(change: Change): KeyedRecord {
  const key = `{"id":${change.key}}`;
  switch (change.kind) {
    case 'row': {
      const { amount, doc, note } = change;
      const after = `{"id":${change.key},"amount":${amount},"doc":"${doc ?? WORD}","note":"${note ?? WORD}"}`;
      return { key, value: `{"before":null,"after":${after},"op":"u"}` };
    }
    case 'delete':
      return { key, value: '{"before":{"id":7,"amount":0,"doc":"","note":""},"after":null,"op":"d"}' };
    case 'tombstone':
      return { key, value: null };
    case 'truncate':
      return { value: '{"before":null,"after":null,"op":"t"}' };
    case 'misfit':
      return { key, value: `{"after":{"id":${change.key},"amount":1e2000,"doc":"${WORD}","note":"${WORD}"},"op":"c"}` };
  }
}

interface Row {
  readonly amount: number;
  readonly doc: string;
  readonly note: string;
}

/** What a change makes of the row that has its key, if there is one; or why it makes nothing. */
function changed(before: Row | undefined, change: Change): Row | null | string {
  switch (change.kind) {
    case 'delete':
    case 'tombstone':
      return null;
    case 'truncate':
      return 'truncate';
    case 'misfit':
      return 'value_does_not_fit';
    case 'row': {
      const [doc, note] = [change.doc ?? before?.doc, change.note ?? before?.note];
      return doc === undefined || note === undefined ? 'missing_value' : { amount: change.amount, doc, note };
    }
  }
}

/** The rows after the changes one after the other, and the places of those that cannot be: a `Map` alone. */
function modelOf(changes: readonly Change[]) {
  const rows = new Map<number, Row>();
  const letters: { at: number; reason: string }[] = [];
  for (const [at, each] of changes.entries()) {
    const key = Number(each.key);
    const row = changed(rows.get(key), each);
    if (typeof row === 'string') {
      letters.push({ at, reason: row });
    } else if (row === null) {
      rows.delete(key);
    } else {
      rows.set(key, row);
    }
  }
  return { rows: [...rows].sort(([one], [other]) => one - other).map(([id, row]) => ({ id, ...row })), letters };
}

/** Lists of changes, each for one transaction. */
const batches = fc.array(fc.array(change, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 5 });

const DDL = 'CREATE TABLE ?.replica (id numeric PRIMARY KEY, doc text, note text, amount int NOT NULL)';

async function agrees(parameters: fc.Parameters<[Change[][]]>): Promise<void> {
  const tables = [{ table: '?.replica', key: 'id', envelope: 'debezium' }];
  const store = await openKeyed({ ddl: DDL, tables, partitions: 4_000, settings: { deadLetters: { maxRatio: 1 } } });
  let partition = 0;
  const outcomeOf = async (lists: readonly (readonly Change[])[]) => {
    await store.run('DELETE FROM ?.replica; DELETE FROM ?.dead_letters');
    partition += 1;
    for (const list of lists) {
      await store.write(list.map(recordOf), partition);
    }
    const rows = await store.run('SELECT id::float8 AS id, amount, doc, note FROM ?.replica ORDER BY id');
    return { rows, letters: (await store.letters()).map(({ at, reason }) => ({ at, reason })) };
  };
  const property = fc.asyncProperty(batches, async (lists) => {
    const changes = lists.flat();
    const model = modelOf(changes);
    const cut = await outcomeOf(lists);
    expect(cut.rows).toEqual(model.rows);
    // A record that a later one of its batch replaces is not looked for in the table: it may be no letter.
    expect(model.letters).toEqual(expect.arrayContaining([...cut.letters]));
    const always = model.letters.filter(({ reason }) => reason !== 'missing_value');
    expect(cut.letters).toEqual(expect.arrayContaining(always));
    expect(await outcomeOf(changes.map((each) => [each]))).toEqual(model);
  });
  await fc.assert(property, parameters);
}

describe('the table is what a Map of the events is, whichever large values the source did not send', () => {
  test('in any cut into batches, and one by one', () => agrees({ numRuns: 10, seed: 7 }));

  longTest('with other events each time', () => agrees({ numRuns: 300 }));
});

test('a value is kept from the record before in the same batch, of another key written as an equal number', async () => {
  const tables = [{ table: '?.replica', key: 'id', envelope: 'debezium' }];
  const store = await openKeyed({ ddl: DDL, tables });
  const row = (key: string, doc: string | null, note: string | null) =>
    recordOf({ kind: 'row', key, amount: 1, doc, note });
  await store.write([row('1', 'a', 'b'), row('1.0', null, 'c'), row('10e-1', 'd', null), row('1', null, null)]);
  expect(await store.run('SELECT doc, note FROM ?.replica')).toEqual([{ doc: 'd', note: 'c' }]);
  expect(await store.letters()).toEqual([]);
});
