import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore, type StoreOptions } from './open-store.ts';

const OFFSETS = "SELECT next_offset::int AS next FROM ?.offsets WHERE group_id = 'group' ORDER BY partition";

/** New tables, a topic with two partitions at offset 0, and what is stored of it. */
async function ownStore(options: StoreOptions = {}) {
  const store = openStore(options);
  const { schema, sink } = store;
  const topic = randomName('topic');
  await sink.migrate();
  await sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 0n })));
  const inSchema = (sql: string) => query(`SET search_path TO ${schema}; ${sql}`);
  const write = (values: readonly string[], partition = 0) => sink.write(aRequest(topic, 0n, values, partition));
  const count = async (table: string) => {
    const [row] = await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${schema}.${table}`);
    return row?.rows;
  };
  const stored = async () => ({
    records: await count('records'),
    letters: await count('dead_letters'),
    offsets: (await query<{ next: number }>(OFFSETS.replace('?', schema))).map(({ next }) => next),
  });
  return { ...store, topic, inSchema, write, stored };
}

const NOTHING = { records: 0, letters: 0 };

const mismatch = (message: string) => ({
  name: 'FatalError',
  code: 'TABLE_MISMATCH',
  message: expect.stringContaining(message),
});

const ALTERED = [
  ['value is text', 'ALTER TABLE records ALTER value TYPE text', 'records."value" is text, and has to be jsonb'],
  ['value is json', 'ALTER TABLE records ALTER value TYPE json', 'records."value" is json, and has to be jsonb'],
  [
    'value is bigint',
    'ALTER TABLE records ALTER value TYPE bigint USING NULL',
    'records."value" is bigint, and has to be jsonb',
  ],
  ['key is bytea', `ALTER TABLE records ALTER key TYPE bytea USING NULL`, 'records."key" is bytea, and has to be text'],
  ['a column has another name', 'ALTER TABLE records RENAME headers TO h', 'records has no column "headers" (jsonb)'],
  [
    'a further column needs a value',
    'ALTER TABLE records ADD tenant int NOT NULL',
    'records."tenant" is NOT NULL, has no default and is not written',
  ],
  [
    'a dead letter could not be written',
    'ALTER TABLE dead_letters ALTER value TYPE text USING NULL',
    'dead_letters."value" is text, and has to be bytea',
  ],
  [
    'an offset is no bigint',
    'ALTER TABLE offsets ALTER next_offset TYPE text',
    'offsets."next_offset" is text, and has to be bigint',
  ],
  ['a topic has no id', 'ALTER TABLE offsets DROP topic_id', 'offsets has no column "topic_id" (text)'],
  [
    'nothing would find a record that is written twice',
    'ALTER TABLE records DROP CONSTRAINT records_pkey; ALTER TABLE records ADD PRIMARY KEY (topic, partition, "offset", ingested_at)',
    'records has no primary key or unique index of exactly (topic, partition, offset)',
  ],
  ['a table is gone', 'DROP TABLE gaps', 'gaps is missing'],
] as const;

describe('nothing is written, and the reason is reported', () => {
  test.each(ALTERED)('at the start and on each new connection, when %s', async (_, sql, message) => {
    const { schema, inSchema, sink, topic } = await ownStore();
    await inSchema(sql);
    const { sink: later } = openStore({ schema });
    await expect(later.write(aRequest(topic, 0n, ['{}']))).rejects.toMatchObject(mismatch(message));
    await expect(sink.migrate()).rejects.toMatchObject(mismatch(message));
    expect(await query(`SELECT FROM ${schema}.records`)).toEqual([]);
    expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
  });

  test('with all differences at once', async () => {
    const { inSchema, sink } = await ownStore();
    await inSchema('ALTER TABLE records ALTER value TYPE json, ALTER key TYPE bytea USING NULL');
    await expect(sink.migrate()).rejects.toMatchObject(
      mismatch('"key" is bytea, and has to be text; records."value" is'),
    );
  });

  test.each([
    ['text would take a byte 01', 'ALTER TABLE records ALTER value TYPE text', 'records."value" is text'],
    ['bigint would take seven characters', 'ALTER TABLE records ALTER value TYPE bigint USING NULL', 'is bigint'],
    ['json refuses every value', 'ALTER TABLE records ALTER value TYPE json', 'records."value" is json'],
    [
      'a column that needs a value refuses every row',
      'ALTER TABLE records ADD tenant int NOT NULL',
      'records."tenant" is NOT NULL',
    ],
  ])('on a connection that was there before, when %s', async (_, sql, message) => {
    const { inSchema, write, stored } = await ownStore();
    await inSchema(sql);
    for (const values of [
      ['{"a":1}', '{"b":2}'],
      ['{"a":1}', '"\0"'],
    ]) {
      await expect(write(values)).rejects.toMatchObject(mismatch(message));
    }
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });

  test('when the table is altered while a write waits for it', async () => {
    const { schema, write, stored } = await ownStore();
    const other = await connect();
    await other.query(`BEGIN; ALTER TABLE ${schema}.records ALTER value TYPE text`);
    const writing = write(['{"a":1}']).catch((error: unknown) => error);
    await until('a write that waits', async () => {
      const waiting = await query(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = '${schema}.records'::regclass AND mode = 'RowExclusiveLock'`,
      );
      return waiting.length === 1 ? true : undefined;
    });
    await other.query('COMMIT');
    expect(await writing).toMatchObject(mismatch('records."value" is text'));
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });
});

test.each([
  ['a domain', 'CREATE DOMAIN document AS jsonb; ALTER TABLE records ALTER value TYPE document'],
  ['a varchar', 'ALTER TABLE records ALTER topic TYPE varchar(255)'],
  ['a further column with a default', "ALTER TABLE records ADD tenant text NOT NULL DEFAULT 'one'"],
  [
    'a generated column',
    "ALTER TABLE records ADD id text NOT NULL GENERATED ALWAYS AS (coalesce(value->>'id', '')) STORED",
  ],
  ['an identity column', 'ALTER TABLE records ADD number bigint NOT NULL GENERATED ALWAYS AS IDENTITY'],
  ['a key with another name', 'ALTER TABLE records RENAME CONSTRAINT records_pkey TO records_key'],
  [
    'a unique index in place of the key',
    'ALTER TABLE records DROP CONSTRAINT records_pkey; CREATE UNIQUE INDEX own ON records ("offset", partition, topic) INCLUDE (timestamp)',
  ],
])('%s is taken', async (_, sql) => {
  const { schema, inSchema, topic, stored } = await ownStore();
  await inSchema(sql);
  const { sink } = openStore({ schema });
  expect(await sink.write(aRequest(topic, 0n, ['{"id":"1"}', '{}']))).toMatchObject({ kind: 'committed' });
  expect(await stored()).toEqual({ records: 2, letters: 0, offsets: [2, 0] });
  const second = openStore({ schema, groupId: 'second' }).sink;
  await second.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
  await expect(second.write(aRequest(topic, 0n, ['{}']))).rejects.toMatchObject({ code: 'RECORD_ALREADY_WRITTEN' });
  expect(await stored()).toEqual({ records: 2, letters: 0, offsets: [2, 0] });
});

test('a statement trigger that refuses every COPY makes no dead letters, and records are written when it is gone', async () => {
  const { inSchema, write, stored } = await ownStore();
  await inSchema(`CREATE FUNCTION freeze() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'frozen for maintenance'; END $$;
    CREATE TRIGGER frozen BEFORE INSERT ON records FOR EACH STATEMENT EXECUTE FUNCTION freeze()`);
  const frozen = { name: 'OutageError', message: expect.stringContaining('frozen for maintenance') };
  for (const values of [
    ['{}', '{}'],
    ['{}', '{poison'],
  ]) {
    await expect(write(values)).rejects.toMatchObject(frozen);
  }
  expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  await inSchema('DROP TRIGGER frozen ON records');
  await write(['{}', '{poison']);
  expect(await stored()).toEqual({ records: 1, letters: 1, offsets: [2, 0] });
});

test('a statement trigger that looks at the rows refuses the one, not the table', async () => {
  const { inSchema, write, stored } = await ownStore();
  await inSchema(`CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF EXISTS (SELECT FROM added WHERE value = '7') THEN RAISE EXCEPTION 'no seven'; END IF; RETURN NULL; END $$;
    CREATE TRIGGER looks AFTER INSERT ON records REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION look()`);
  await write(['1', '7', '3']);
  expect(await stored()).toEqual({ records: 2, letters: 1, offsets: [3, 0] });
});

/** A row trigger that drops the value 0, and makes the others one larger. */
const FILTER = `CREATE FUNCTION filter() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.value = '0' THEN RETURN NULL; END IF; NEW.value := to_jsonb(NEW.value::int + 1); RETURN NEW; END $$;
  CREATE TRIGGER filters BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION filter()`;

const PARTITIONED = `ALTER TABLE records RENAME TO before;
  CREATE TABLE records (LIKE before INCLUDING DEFAULTS, PRIMARY KEY (topic, partition, "offset")) PARTITION BY HASH (topic);
  CREATE TABLE only_one PARTITION OF records FOR VALUES WITH (MODULUS 1, REMAINDER 0)`;

describe('a trigger that drops rows', () => {
  const dropped = (message: string) => ({
    name: 'FatalError',
    code: 'ROWS_DROPPED',
    message: expect.stringContaining(message),
  });

  test('stops the consumer before COMMIT, which names it and the offsets', async () => {
    const { schema, inSchema, stored, topic } = await ownStore();
    await inSchema(FILTER);
    const { sink } = openStore({ schema });
    const writing = sink.write(aRequest(topic, 0n, ['1', '0', '3']));
    const message = `took 2 of 3 rows of ${topic}/0 from offset 0 up to 2, without an error: a row trigger before INSERT (filters)`;
    await expect(writing).rejects.toMatchObject(dropped(message));
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });

  test('of one partition stops the consumer, and the others are written', async () => {
    const { schema, inSchema, stored, topic } = await ownStore();
    await inSchema(FILTER);
    const { sink } = openStore({ schema });
    const writing = [sink.write(aRequest(topic, 0n, ['1', '2'], 0)), sink.write(aRequest(topic, 0n, ['0', '2'], 1))];
    const [first, second] = await Promise.allSettled(writing);
    expect(first).toMatchObject({ status: 'fulfilled', value: { kind: 'committed' } });
    expect(second).toMatchObject({ reason: dropped(`1 of 2 rows of ${topic}/1 from offset 0 up to 1`) });
    expect(await stored()).toEqual({ records: 2, letters: 0, offsets: [2, 0] });
  });

  test('of one partition of the table does, too', async () => {
    const { schema, inSchema, stored, topic } = await ownStore();
    await inSchema(`${PARTITIONED}; ${FILTER.replace('ON records', 'ON only_one')}`);
    const { sink } = openStore({ schema });
    await expect(sink.write(aRequest(topic, 0n, ['1', '0']))).rejects.toMatchObject(dropped('1 of 2 rows'));
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });

  test('and was created under the consumer is known before COMMIT', async () => {
    const { inSchema, write, stored } = await ownStore();
    await inSchema(FILTER);
    await expect(write(['1', '0', '3'])).rejects.toMatchObject(
      dropped('(filters) returned NULL. Nothing was committed'),
    );
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });

  test('and was created under the consumer on a partition of the table stops it after COMMIT, with topic, partition and offsets', async () => {
    const { schema, inSchema, topic, stored } = await ownStore();
    await inSchema(PARTITIONED);
    const { sink } = openStore({ schema });
    await sink.positions([topic]);
    await inSchema(FILTER.replace('ON records', 'ON only_one'));
    const writing = sink.write(aRequest(topic, 0n, ['1', '0', '3']));
    await expect(writing).rejects.toMatchObject(dropped(`2 of 3 rows of ${topic}/0 from offset 0 up to 2`));
    await expect(writing).rejects.toMatchObject(dropped('the transaction is COMMITTED'));
    expect(await stored()).toEqual({ records: 2, letters: 0, offsets: [3, 0] });
  });

  test('and was created under the consumer is known before COMMIT where a record is poison', async () => {
    const { inSchema, write, stored } = await ownStore();
    await inSchema(FILTER);
    await expect(write(['1', '0', '{poison'])).rejects.toMatchObject(dropped('Nothing was committed'));
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });

  test('and is allowed to is counted, and what is left is committed', async () => {
    const settings = { records: { onDroppedRows: 'allow' } };
    const { inSchema, write, stored } = await ownStore({ settings });
    await inSchema(FILTER);
    const outcomes = await Promise.all([write(['1', '0', '{poison', '3'], 0), write(['0', '5'], 1)]);
    expect(outcomes).toEqual([
      { kind: 'committed', deadLetters: new Map([['invalid_json', 1]]), rows: new Map([['copy', 2]]) },
      { kind: 'committed', deadLetters: new Map(), rows: new Map([['copy', 1]]) },
    ]);
    expect(await stored()).toEqual({ records: 3, letters: 1, offsets: [4, 2] });
  });

  test('of dead letters is never allowed to', async () => {
    const { inSchema, write, stored } = await ownStore({ settings: { records: { onDroppedRows: 'allow' } } });
    await inSchema(FILTER.replace('ON records', 'ON dead_letters').replace("NEW.value = '0'", 'true'));
    await expect(write(['1', '{poison'])).rejects.toMatchObject(dropped('the table dead_letters took 0 of 1 rows'));
    expect(await stored()).toEqual({ ...NOTHING, offsets: [0, 0] });
  });
});

test('a trigger that changes rows and drops none lets them be written', async () => {
  const { schema, inSchema, stored, topic } = await ownStore();
  await inSchema(FILTER);
  const { sink } = openStore({ schema });
  expect(await sink.write(aRequest(topic, 0n, ['1', '2']))).toMatchObject({ rows: new Map([['copy', 2]]) });
  expect(await query(`SELECT value FROM ${schema}.records ORDER BY "offset"`)).toEqual([{ value: 2 }, { value: 3 }]);
  expect(await stored()).toMatchObject({ letters: 0, offsets: [2, 0] });
});
