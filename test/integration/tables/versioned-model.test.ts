import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longTest } from '../stack/long-test.ts';
import { type KeyedRecord, openKeyed } from './open-keyed.ts';

/** What a record is for: a table, or none. */
type Target = 'sum' | 'other' | 'none';

interface Change {
  readonly kind: 'put' | 'delete' | 'tombstone' | 'misfit';
  readonly target: Target;
  /** As JSON writes them: several numbers are one key, or one version. `null`: no version. */
  readonly key: string;
  readonly version: string | null;
  readonly amount: number;
  /** A header that the tables ask for; of these values they take all but `z`. */
  readonly from: 'a' | 'b' | 'z';
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'put', 'delete', 'delete', 'tombstone', 'misfit'),
  target: fc.constantFrom<Target>('sum', 'sum', 'sum', 'sum', 'other', 'none'),
  key: fc.constantFrom('1', '1.0', '10e-1', '2', '3'),
  version: fc.option(fc.constantFrom('0', '1', '1.0', '2', '2.00', '3', '40e-1'), { freq: 8 }),
  amount: fc.integer({ min: 0, max: 9 }),
  from: fc.constantFrom('a', 'a', 'b', 'b', 'z'),
});

/** Batches of changes, and what another program does to the rows behind them. */
const chapter = fc.record({
  batches: fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
  forgets: fc.boolean(),
});
type Chapter = typeof chapter extends fc.Arbitrary<infer T> ? T : never;

function recordOf({ kind, target, key, version, amount, from }: Change): KeyedRecord {
  const headers = { from };
  const versioned = version === null ? '' : `,"version":${version}`;
  const head = `{"kind":"${target}","id":${key}${versioned}`;
  switch (kind) {
    case 'put':
      return { headers, value: `${head},"amount":${amount}}` };
    case 'delete':
      return { headers, value: `${head},"gone":true}` };
    case 'tombstone':
      return { headers, key, value: null };
    case 'misfit':
      return { headers, value: `${head},"amount":"many"}` };
  }
}

interface Row {
  readonly amount: number;
  readonly version: number | null;
  readonly visits: number;
}

const isNotOlder = (version: string, before: Row | undefined): boolean =>
  before === undefined || before.version === null || Number(version) >= before.version;

/** The tables after the changes one after the other: two Maps. */
class Model {
  readonly sums = new Map<number, Row>();
  readonly others = new Map<number, number>();
  readonly letters: { at: number; reason: string }[] = [];
  unmatched = 0;
  #at = 0;

  apply(change: Change): void {
    const at = this.#at;
    this.#at += 1;
    const key = Number(change.key);
    if (change.from === 'z' || (change.kind !== 'tombstone' && change.target === 'none')) {
      this.unmatched += 1;
    } else if (change.kind === 'tombstone') {
      this.sums.delete(key);
      this.others.delete(key);
    } else {
      const reason = change.target === 'sum' ? this.#applyToSums(key, change) : this.#applyToOthers(key, change);
      this.letters.push(...(reason === null ? [] : [{ at, reason }]));
    }
  }

  #applyToSums(key: number, { kind, version, amount }: Change): string | null {
    if (version === null) {
      return 'missing_value';
    }
    if (kind === 'misfit') {
      return 'value_does_not_fit';
    }
    const before = this.sums.get(key);
    if (isNotOlder(version, before) && kind === 'put') {
      this.sums.set(key, { amount, version: Number(version), visits: before?.visits ?? 0 });
    } else if (isNotOlder(version, before)) {
      this.sums.delete(key);
    }
    return null;
  }

  #applyToOthers(key: number, { kind, amount }: Change): string | null {
    if (kind === 'misfit') {
      return 'value_does_not_fit';
    }
    kind === 'put' ? this.others.set(key, amount) : this.others.delete(key);
    return null;
  }

  /** Another program takes the version of a row away, and counts a visit of each. */
  forget(): void {
    for (const [key, row] of this.sums) {
      this.sums.set(key, { ...row, visits: row.visits + 1, version: key === 1 ? null : row.version });
    }
  }

  get found() {
    const sums = [...this.sums].map(([id, row]) => ({ id, ...row }));
    return {
      sums: sums.sort((one, other) => one.id - other.id),
      others: [...this.others].map(([id, amount]) => ({ id, amount })).sort((one, other) => one.id - other.id),
      letters: this.letters,
      unmatched: this.unmatched,
    };
  }
}

const DDL = `CREATE TABLE ?.sums (id numeric PRIMARY KEY, version numeric, amount int, visits int NOT NULL DEFAULT 0);
  CREATE TABLE ?.others (id numeric PRIMARY KEY, amount int)`;
const FORGET = 'UPDATE ?.sums SET visits = visits + 1, version = CASE WHEN id <> 1 THEN version END';

const TABLES = [
  {
    ...{ table: '?.sums', key: 'id', delete: 'gone', version: 'version', columns: { visits: false } },
    when: { kind: 'sum', '$header.from': ['a', 'b'] },
  },
  { table: '?.others', key: 'id', delete: 'gone', when: { kind: ['other'], '$header.from': ['a', 'b'] } },
];

async function agrees(parameters: fc.Parameters<[Chapter[]]>): Promise<void> {
  const settings = { deadLetters: { maxRatio: 1 } };
  const store = await openKeyed({ ddl: DDL, tables: TABLES, partitions: 4_000, settings });
  let partition = 0;
  const outcomeOf = async (chapters: readonly Chapter[], cut: (chapter: Chapter) => readonly (readonly Change[])[]) => {
    await store.run('DELETE FROM ?.sums; DELETE FROM ?.others; DELETE FROM ?.dead_letters');
    partition += 1;
    let unmatched = 0;
    for (const each of chapters) {
      for (const batch of cut(each)) {
        const outcome = await store.write(batch.map(recordOf), partition);
        unmatched += outcome.kind === 'committed' ? (outcome.tables?.unmatched ?? 0) : 0;
      }
      await store.run(each.forgets ? FORGET : '');
    }
    return {
      sums: await store.run(
        'SELECT id::float8 AS id, amount, version::float8 AS version, visits FROM ?.sums ORDER BY id',
      ),
      others: await store.run('SELECT id::float8 AS id, amount FROM ?.others ORDER BY id'),
      letters: (await store.letters()).map(({ at, reason }) => ({ at, reason })),
      unmatched,
    };
  };
  const property = fc.asyncProperty(fc.array(chapter, { minLength: 1, maxLength: 3 }), async (chapters) => {
    const model = new Model();
    for (const { batches, forgets } of chapters) {
      batches.flat().forEach((each) => {
        model.apply(each);
      });
      forgets && model.forget();
    }
    expect(await outcomeOf(chapters, ({ batches }) => batches)).toEqual(model.found);
    expect(await outcomeOf(chapters, ({ batches }) => [batches.flat()])).toEqual(model.found);
    expect(await outcomeOf(chapters, ({ batches }) => batches.flat().map((each) => [each]))).toEqual(model.found);
  });
  await fc.assert(property, parameters);
}

describe('tables with versions and conditions are what Maps fed in the order of offsets are', () => {
  test('in any cut into batches, and one by one', () => agrees({ numRuns: 10, seed: 11 }));

  // Tens of thousands of transactions.
  longTest('with other records each time', () => agrees({ numRuns: 300 }));
});

const WORD = '__debezium_unavailable_value';

/** A change of a source. `null`: the large value was not sent, as it is the one before. */
interface SourceChange {
  readonly kind: 'row' | 'delete' | 'tombstone';
  readonly key: string;
  readonly version: number;
  readonly doc: string | null;
}

const sourceChange: fc.Arbitrary<SourceChange> = fc.record({
  kind: fc.constantFrom('row', 'row', 'row', 'row', 'delete', 'tombstone'),
  key: fc.constantFrom('1', '1.0', '2', '3'),
  version: fc.integer({ min: 0, max: 4 }),
  doc: fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 2 }),
});

function eventOf({ kind, key, version, doc }: SourceChange): KeyedRecord {
  const record = { key: `{"id":${key}}` };
  if (kind === 'tombstone') {
    return { ...record, value: null };
  }
  const after = `{"id":${key},"version":${version},"doc":"${doc ?? WORD}"}`;
  return { ...record, value: kind === 'row' ? `{"after":${after},"op":"u"}` : '{"after":null,"op":"d"}' };
}

/** What the changes make of a Map, and those that lack a value and a row to keep it of. */
function replicaOf(changes: readonly SourceChange[]) {
  const rows = new Map<number, { version: number; doc: string }>();
  const letters: number[] = [];
  for (const [at, { kind, key, version, doc }] of changes.entries()) {
    const before = rows.get(Number(key));
    const kept = doc ?? before?.doc;
    if (kind !== 'row') {
      rows.delete(Number(key));
    } else if (kept === undefined) {
      letters.push(at);
    } else if (before === undefined || version >= before.version) {
      rows.set(Number(key), { version, doc: kept });
    }
  }
  return { rows: [...rows].map(([id, row]) => ({ id, ...row })).sort((one, other) => one.id - other.id), letters };
}

async function replicates(parameters: fc.Parameters<[SourceChange[][]]>): Promise<void> {
  const ddl = 'CREATE TABLE ?.replica (id numeric PRIMARY KEY, version int, doc text)';
  const tables = [{ table: '?.replica', key: 'id', envelope: 'debezium', version: 'version' }];
  const store = await openKeyed({ ddl, tables, partitions: 4_000, settings: { deadLetters: { maxRatio: 1 } } });
  let partition = 0;
  const outcomeOf = async (batches: readonly (readonly SourceChange[])[]) => {
    await store.run('DELETE FROM ?.replica; DELETE FROM ?.dead_letters');
    partition += 1;
    for (const batch of batches) {
      await store.write(batch.map(eventOf), partition);
    }
    const rows = await store.run('SELECT id::float8 AS id, version, doc FROM ?.replica ORDER BY id');
    return { rows, letters: (await store.letters()).map(({ at }) => at) };
  };
  const batches = fc.array(fc.array(sourceChange, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(batches, async (lists) => {
    const model = replicaOf(lists.flat());
    expect(await outcomeOf(lists)).toEqual(model);
    expect(await outcomeOf([lists.flat()])).toEqual(model);
    expect(await outcomeOf(lists.flat().map((each) => [each]))).toEqual(model);
  });
  await fc.assert(property, parameters);
}

describe('a replica with versions is what a Map of the events is, whichever large values the source did not send', () => {
  test('in any cut into batches, and one by one', () => replicates({ numRuns: 10, seed: 13 }));

  longTest('with other events each time', () => replicates({ numRuns: 300 }));
});
