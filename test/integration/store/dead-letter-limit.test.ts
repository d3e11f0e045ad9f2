import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { WriteOutcome } from '../../../app/stream/ports/record-sink.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { aRequest, openStore, type StoreOptions } from './open-store.ts';

const MOST = 500;
const TOO_MANY = { name: 'FatalError', code: 'TOO_MANY_DEAD_LETTERS' };

const poison = (count: number): string[] => Array<string>(count).fill('{poison');
const good = (count: number): string[] => Array<string>(count).fill('{}');

/** Tables with a topic of three partitions at offset 0, and processes that write to it one after the other. */
async function ownTopic(options: StoreOptions = {}) {
  const { schema, sink } = openStore(options);
  await sink.migrate();
  return { schema, ...(await topicOf(schema, options)) };
}

/** Another topic in the same tables. */
async function topicOf(schema: string, options: StoreOptions = {}) {
  const { sink } = openStore({ ...options, schema });
  const topic = randomName('topic');
  await sink.initialize(topic, () => [0, 1, 2].map((partition) => ({ topic, partition, offset: 0n })));
  /** A separate process that writes values at the stored offset of the partition. */
  const restarted = () => {
    const { sink: own } = openStore({ ...options, schema });
    return async (values: readonly string[], partition = 0, gap = 0n): Promise<WriteOutcome> => {
      const stored = await own.positions([topic]);
      const { offset = 0n } = stored.find((position) => position.partition === partition) ?? {};
      const request = aRequest(topic, offset + gap, values, partition);
      return own.write({ ...request, expectedOffset: offset });
    };
  };
  const letters = async () =>
    (await query<{ count: number }>(`SELECT count(*)::int FROM ${schema}.dead_letters`))[0]?.count;
  return { restarted, letters };
}

describe('a restart does not begin anew to count', () => {
  test('where all is poison: what comes next stays ahead of the stored offset', async () => {
    const { schema, restarted, letters } = await ownTopic();
    await restarted()(poison(MOST));
    for (let restart = 0; restart < 3; restart += 1) {
      await expect(restarted()(poison(1))).rejects.toMatchObject(TOO_MANY);
      await expect(restarted()(poison(1), 1)).rejects.toMatchObject(TOO_MANY);
    }
    expect(await letters()).toBe(MOST);
    expect(await query(`SELECT next_offset::int AS next FROM ${schema}.offsets ORDER BY partition`)).toEqual([
      { next: MOST },
      { next: 0 },
      { next: 0 },
    ]);
  });

  test('where partitions were good before: their newest records count, whichever partition they are of', async () => {
    const { restarted } = await ownTopic();
    const write = restarted();
    for (const partition of [0, 1, 2]) {
      await write(good(1_000), partition);
    }
    await write(poison(300), 0);
    await write(good(400), 1);
    await write(poison(150), 2);
    await expect(restarted()(poison(51), 1)).rejects.toMatchObject(TOO_MANY);
    await restarted()(poison(50), 1);
    await restarted()(good(650), 1);
    await restarted()(poison(300), 0);
    await expect(restarted()(poison(201), 0)).rejects.toMatchObject(TOO_MANY);
  });

  test('where compaction or transactions leave gaps between the offsets', async () => {
    const { restarted, letters } = await ownTopic();
    for (let nth = 0; nth < MOST / 50; nth += 1) {
      await restarted()(poison(50), 0, 10_000n);
    }
    await expect(restarted()(poison(1), 0, 10_000n)).rejects.toMatchObject(TOO_MANY);
    expect(await letters()).toBe(MOST);
  });

  test('but not for ever where rows of records are moved elsewhere', async () => {
    const { schema, restarted } = await ownTopic();
    await restarted()(poison(MOST));
    await restarted()(good(5_000));
    await query(`UPDATE ${schema}.dead_letters SET failed_at = failed_at - interval '25 hours'`);
    await query(`TRUNCATE ${schema}.records`);
    await restarted()(poison(1));
  });

  test('and what other topics have counts for none: neither their letters nor their rows', async () => {
    const { schema, restarted, letters } = await ownTopic();
    const other = await topicOf(schema);
    await restarted()(poison(MOST));
    await other.restarted()(poison(MOST));
    await other.restarted()(good(2_000));
    await expect(restarted()(poison(1))).rejects.toMatchObject(TOO_MANY);
    await other.restarted()(poison(MOST));
    expect(await letters()).toBe(3 * MOST);
  });

  test('however long it takes', async () => {
    const { schema, restarted } = await ownTopic();
    await restarted()(poison(MOST));
    await query(`UPDATE ${schema}.dead_letters SET failed_at = failed_at - interval '9 days'`);
    await query(`UPDATE ${schema}.offsets SET updated_at = updated_at - interval '9 days'`);
    await expect(restarted()(poison(1))).rejects.toMatchObject(TOO_MANY);
  });
});

test('four in ten are written, in whatever order and transactions', async () => {
  const { restarted, letters } = await ownTopic();
  const write = restarted();
  for (let nth = 0; nth < 10; nth += 1) {
    await write([...poison(40), ...good(60)], nth % 3);
    await write([...good(6), ...poison(4)], nth % 3);
  }
  await write(Array.from({ length: 2_000 }, (_, nth) => (nth % 5 < 2 ? '{poison' : '{}')));
  expect(await letters()).toBe(440 + 800);
});

test('with a limit of 1 everything may be a dead letter', async () => {
  const { restarted, letters } = await ownTopic({ settings: { deadLetters: { maxRatio: 1 } } });
  await restarted()(poison(1_500));
  expect(await letters()).toBe(1_500);
});

test('tables without the times of their rows are counted from the start of the process', async () => {
  const { schema, restarted } = await ownTopic();
  await restarted()(poison(MOST));
  await query(`ALTER TABLE ${schema}.records DROP ingested_at`);
  const write = restarted();
  await write(poison(MOST));
  await expect(write(poison(1))).rejects.toMatchObject(TOO_MANY);
});

/** A constraint or a trigger that refuses every row, and its words. */
const REFUSALS = [
  ['a constraint', 'ALTER TABLE ?.records ADD CONSTRAINT closed CHECK (false) NOT VALID', 'closed'],
  ['a column that got NOT NULL', 'ALTER TABLE ?.records ALTER timestamp SET NOT NULL', 'timestamp'],
  [
    'a row trigger',
    `CREATE FUNCTION ?.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'closed: %', NEW."offset"; END $$;
     CREATE TRIGGER closed BEFORE INSERT ON ?.records FOR EACH ROW EXECUTE FUNCTION ?.refuse()`,
    'closed: 0',
  ],
] as const;

describe('what refuses every row of a COPY alike makes no dead letters', () => {
  test.each(REFUSALS)('when it is %s', async (_, sql, words) => {
    const { schema, sink } = openStore();
    const topic = randomName('topic');
    await sink.migrate();
    await sink.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
    await query(sql.replaceAll('?', schema));
    const request = aRequest(topic, 0n, good(100));
    const records = recordsOf(Array.from(request.records, (record) => ({ ...record, timestamp: -1n })));
    const writing = sink.write({ ...request, records });
    await expect(writing).rejects.toMatchObject({ name: 'FatalError', code: 'TABLE_REFUSES_ROWS' });
    await expect(writing).rejects.toThrow(words);
    expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
    expect(await sink.positions([topic])).toMatchObject([{ topic, partition: 0, offset: 0n }]);
  });

  test('and where one row is taken, the others are the fault of their records', async () => {
    const { schema, restarted, letters } = await ownTopic();
    await query(`ALTER TABLE ${schema}.records ADD CONSTRAINT small CHECK (value <> '{"big":1}')`);
    await restarted()([...Array<string>(150).fill('{"big":1}'), '{}']);
    expect(await letters()).toBe(150);
  });

  test('and where values are no JSON, that is the fault of their records', async () => {
    const { restarted, letters } = await ownTopic();
    await restarted()(poison(150));
    expect(await letters()).toBe(150);
  });

  test('unless everything may be a dead letter', async () => {
    const { schema, restarted, letters } = await ownTopic({ settings: { deadLetters: { maxRatio: 1 } } });
    await query(`ALTER TABLE ${schema}.records ADD CONSTRAINT closed CHECK (false)`);
    await restarted()(good(150));
    expect(await letters()).toBe(150);
  });
});
