import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { MOST_FEW_ROWS } from '../../../app/tables/table/few-rows.ts';
import { type CommitProxy, type CutMoment, startCommitProxy } from '../stack/commit-proxy.ts';
import { longTest } from '../stack/long-test.ts';
import { until } from '../stack/until.ts';
import { type KeyedRecord, keyedRequest, openKeyed } from './open-keyed.ts';

/** What a record does, or why it does nothing. */
type Kind = 'put' | 'delete' | 'tombstone' | 'misfit' | 'violation' | 'keyless';

interface Operation {
  readonly kind: Kind;
  /** As JSON writes it: several numbers are one key. */
  readonly key: string;
  readonly amount: number;
}

/** What happens to a transaction: two write it at once, or its connection is cut before, in or after COMMIT. */
type Fate = 'written' | 'by two' | CutMoment;

interface Batch {
  readonly operations: readonly Operation[];
  readonly fate: Fate;
  /** Whether another program counts a visit of each row afterwards, in a column that records do not have. */
  readonly isVisited: boolean;
}

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom<Kind>('put', 'put', 'put', 'put', 'delete', 'tombstone', 'misfit', 'violation', 'keyless'),
  key: fc.constantFrom('1', '1.0', '10e-1', '2', '2.00', '3', '4', '5'),
  amount: fc.integer({ min: 0, max: 3 }),
});

/** Mostly few rows, and some on either side of the bound behind which the stage takes them. */
const operations = fc.oneof(
  { weight: 4, arbitrary: fc.array(operation, { minLength: 1, maxLength: 7 }) },
  { weight: 1, arbitrary: fc.array(operation, { minLength: MOST_FEW_ROWS - 2, maxLength: MOST_FEW_ROWS + 4 }) },
);

const batch: fc.Arbitrary<Batch> = fc.record({
  operations,
  fate: fc.constantFrom<Fate>('written', 'written', 'by two', 'before', 'while', 'after'),
  isVisited: fc.boolean(),
});

/** The records, with all that they carry; a key that nothing puts is in the record key alone. */
function recordOf({ kind, key, amount }: Operation): KeyedRecord {
  switch (kind) {
    case 'put':
      return { value: `{"id":${key},"amount":${amount}}` };
    case 'delete':
      return { key, value: '{"amount":7,"gone":true}' };
    case 'tombstone':
      return { key: `{"id":${key}}`, value: null };
    case 'misfit':
      return { key, value: '{"amount":"many"}' };
    case 'violation':
      return { key, value: '{"amount":1000}' };
    case 'keyless':
      return { value: '{"amount":1}' };
  }
}

/** The table as it is after the records one after the other. */
class Model {
  readonly rows = new Map<number, { amount: number; visits: number }>();
  readonly #keeps: boolean;

  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  apply({ kind, key, amount }: Operation): void {
    const before = this.rows.get(Number(key));
    if (kind === 'put' && !(this.#keeps && before)) {
      this.rows.set(Number(key), { amount, visits: before?.visits ?? 0 });
    } else if (kind === 'delete' || kind === 'tombstone') {
      this.rows.delete(Number(key));
    }
  }

  visit(): void {
    for (const row of this.rows.values()) {
      row.visits += 1;
    }
  }

  get sorted() {
    return [...this.rows].sort(([one], [other]) => one - other).map(([id, row]) => ({ id, ...row }));
  }
}

const DDL = `CREATE TABLE ?.sums (id numeric PRIMARY KEY, amount int CHECK (amount < 100), visits int NOT NULL DEFAULT 0)`;
/** Rows of a table that refers to another one go by the stage however few they are. */
const REFERS =
  'CREATE TABLE ?.others (visits int PRIMARY KEY); INSERT INTO ?.others SELECT generate_series(0, 40); ALTER TABLE ?.sums ADD FOREIGN KEY (visits) REFERENCES ?.others';

type Existing = 'replace' | 'keep';
type Way = 'as they come' | 'by the stage';
const CASES = (['replace', 'keep'] as const).flatMap((existing) =>
  (['as they come', 'by the stage'] as const).map((way) => ({ existing, way })),
);

/** Letters whatever the batches are; a violation of a constraint may be replaced before it is looked at. */
const isAlwaysLetter = (kind: Kind | undefined): boolean => kind === 'misfit' || kind === 'keyless';

async function agrees(
  { existing, way }: { existing: Existing; way: Way },
  parameters: fc.Parameters<[Batch[]]>,
): Promise<void> {
  const tables = [{ table: '?.sums', key: 'id', existing, delete: 'gone', columns: { visits: false } }];
  const proxy = await startCommitProxy();
  const settings = { deadLetters: { maxRatio: 1 } };
  const ddl = way === 'by the stage' ? `${DDL}; ${REFERS}` : DDL;
  const store = await openKeyed({ ddl, tables, partitions: 2_000, settings, url: proxy.url });
  const writers = { store, other: await store.another(), proxy };
  let partition = -1;
  const property = fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 6 }), async (batches) => {
    partition += 1;
    await store.run('DELETE FROM ?.sums; DELETE FROM ?.dead_letters');
    const model = new Model(existing === 'keep');
    for (const { operations, fate, isVisited } of batches) {
      await writeOnce(writers, partition, operations.map(recordOf), fate);
      for (const each of operations) {
        model.apply(each);
      }
      if (isVisited) {
        await store.run('UPDATE ?.sums SET visits = visits + 1');
        model.visit();
      }
    }
    const found = await store.run('SELECT id::float8 AS id, amount, visits FROM ?.sums ORDER BY id');
    expect(found).toEqual(model.sorted);
    const kinds = batches.flatMap(({ operations }) => operations.map(({ kind }) => kind));
    expect((await store.letters()).map(({ at }) => at).filter((at) => kinds[at] !== 'violation')).toEqual(
      [...kinds.keys()].filter((at) => isAlwaysLetter(kinds[at])),
    );
  });
  await fc.assert(property, parameters);
}

interface Writers {
  readonly store: Awaited<ReturnType<typeof openKeyed>>;
  readonly other: Pick<Writers['store'], 'sink'>;
  readonly proxy: CommitProxy;
}

/** Writes records until their offset is stored, as the consumer does after an outage: each time as if for the first. */
async function writeOnce(
  { store, other, proxy }: Writers,
  partition: number,
  records: readonly KeyedRecord[],
  fate: Fate,
) {
  const storedOffset = async () => {
    const rows = await store.run(`SELECT next_offset AS next FROM ?.offsets WHERE partition = ${partition}`);
    return BigInt(String(rows[0]?.['next']));
  };
  const request = keyedRequest(store.topic, await storedOffset(), records, partition);
  if (fate === 'by two') {
    const outcomes = await Promise.allSettled([store, other].map(({ sink }) => sink.write(request)));
    const committed = outcomes.filter(
      (outcome) => outcome.status === 'fulfilled' && outcome.value.kind === 'committed',
    );
    expect(committed.length).toBeLessThanOrEqual(1);
  } else if (fate !== 'written') {
    void proxy.cutNextCommit(fate, 'rows');
    await store.sink.write(request).catch(requireOutage);
  }
  await until('the offset', async () => {
    await other.sink.write(request).catch(requireOutage);
    return (await storedOffset()) === request.nextOffset || undefined;
  });
}

function requireOutage(error: unknown): void {
  if (!(error instanceof OutageError)) {
    throw error;
  }
}

describe('the table is what a Map fed in the order of offsets is, however batches are cut and whatever ends transactions', () => {
  test.each(CASES)('with existing: $existing, rows $way', (each) => agrees(each, { numRuns: 6, seed: 1 }));

  for (const each of CASES) {
    const { existing, way } = each;
    longTest(`with existing: ${existing}, rows ${way}, other records each time`, () => agrees(each, { numRuns: 250 }));
  }
});
