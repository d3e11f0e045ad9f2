import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commit, timeoutsOf } from '../../../app/store/connection/transaction.ts';
import { beginMovingOffset } from '../../../app/store/transaction/compare-and-set.ts';
import type { WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore } from './open-store.ts';

const TIMEOUTS = timeoutsOf({ statementTimeout: '30s' });

const { schema, sink, pool } = openStore();
let topic: string;

beforeAll(async () => {
  await sink.migrate();
});

beforeEach(async () => {
  topic = randomName('topic');
  await sink.initialize(topic, () => [
    { topic, partition: 0, offset: 5n },
    { topic, partition: 1, offset: 5n },
  ]);
});

const GOOD = ['{"a":1}', '{"a":2}', '{"a":3}'];
const POISONED = ['{"a":1}', '{poison', '{"a":3}'];

const nextOffset = async (partition = 0) =>
  (await sink.positions([topic])).find((position) => position.partition === partition)?.offset;

/** The rows of each table of the topic. */
async function stored() {
  const [found] = await query(
    `SELECT ARRAY(SELECT "offset"::int FROM ${schema}.records WHERE topic = $1 ORDER BY 1) AS rows,
            ARRAY(SELECT "offset"::int FROM ${schema}.dead_letters WHERE topic = $1 ORDER BY 1) AS letters,
            ARRAY(SELECT from_offset::int FROM ${schema}.gaps WHERE topic = $1 ORDER BY 1) AS gaps,
            ARRAY(SELECT next_offset::int FROM ${schema}.offsets WHERE topic = $1 ORDER BY partition) AS offsets`,
    [topic],
  );
  return found;
}

const NOTHING = { rows: [], letters: [], gaps: [], offsets: [5, 5] };

/** Each way in which an offset is moved. */
const WAYS: readonly [string, (from: bigint) => Promise<{ readonly kind: string }>][] = [
  ['rows at once', (from) => sink.write(aRequest(topic, from, GOOD))],
  ['rows with a dead letter', (from) => sink.write(aRequest(topic, from, POISONED))],
  ['no row at all', (from) => sink.write({ ...aRequest(topic, from, []), nextOffset: from + 3n })],
  ['a gap', (from) => sink.skip({ topic, partition: 0, expectedOffset: from, nextOffset: from + 3n })],
];

describe.each(WAYS)('%s', (_, write) => {
  test('move the offset of their partition and no other', async () => {
    const other = openStore({ schema, groupId: 'other' }).sink;
    await other.initialize(topic, () => [{ topic, partition: 0, offset: 5n }]);
    expect(await write(5n)).toMatchObject({ kind: 'committed' });
    expect([await nextOffset(0), await nextOffset(1)]).toEqual([8n, 5n]);
    expect(await other.positions([topic])).toMatchObject([{ topic, partition: 0, offset: 5n }]);
  });

  test.each([
    ['lower', 4n],
    ['higher', 6n],
  ])('write nothing where the expected offset is %s', async (_how, from) => {
    expect(await write(from)).toEqual({ kind: 'fenced' });
    expect(await stored()).toEqual(NOTHING);
  });

  test('write nothing where no offset is stored', async () => {
    await query(`DELETE FROM ${schema}.offsets WHERE topic = $1 AND partition = 0`, [topic]);
    expect(await write(5n)).toEqual({ kind: 'fenced' });
    expect(await stored()).toEqual({ ...NOTHING, offsets: [5] });
  });

  test('are written by one of several writers with the same expectation', async () => {
    // A writer that waits for the lock longer than it may is no less refused than one that was fenced.
    const lockedOut = (error: Error) => ({ kind: error.message.includes('55P03') ? 'fenced' : error.message });
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => write(5n).catch(lockedOut)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['committed', 'fenced', 'fenced', 'fenced']);
    expect(await nextOffset()).toBe(8n);
  });

  test('fail while another transaction holds the offset, and write nothing', async () => {
    const other = await connect();
    await other.query('BEGIN');
    await other.query(`SELECT FROM ${schema}.offsets WHERE topic = $1 FOR UPDATE`, [topic]);
    await expect(write(5n)).rejects.toMatchObject({ name: 'OutageError', message: expect.stringContaining('55P03') });
    await other.query('ROLLBACK');
    expect(await stored()).toEqual(NOTHING);
    expect(await write(5n)).toMatchObject({ kind: 'committed' });
  });

  test('leave no transaction open where they are fenced', async () => {
    expect(await write(4n)).toEqual({ kind: 'fenced' });
    const { rows } = await pool.withClient((client) => client.query('SELECT pg_backend_pid() AS pid'));
    const [session] = await query('SELECT state FROM pg_stat_activity WHERE pid = $1', [rows[0].pid]);
    expect(session).toEqual({ state: 'idle' });
  });
});

test.each<[string, (request: WriteRequest) => Promise<unknown>]>([
  ['rows', (request) => sink.write(request)],
  ['a gap', (request) => sink.skip(request)],
])('an offset that would not move forward is a mistake of the program, and %s write nothing', async (_, write) => {
  for (const nextOffset of [5n, 4n]) {
    const request = { ...aRequest(topic, 5n, GOOD), nextOffset };
    await expect(write(request)).rejects.toMatchObject({ name: 'FatalError', code: 'UNEXPECTED' });
  }
  expect(await stored()).toEqual(NOTHING);
});

test('of a group of partitions no offset may stay where it is either', async () => {
  const requests = [aRequest(topic, 5n, GOOD), { ...aRequest(topic, 5n, GOOD, 1), nextOffset: 5n }];
  const outcomes = await Promise.allSettled(requests.map((request) => sink.write(request)));
  expect(outcomes).toMatchObject([{ status: 'rejected' }, { status: 'rejected', reason: { code: 'UNEXPECTED' } }]);
  expect(await stored()).toEqual(NOTHING);
});

test('partitions of topics of any name share a transaction, whatever is known of where their offsets are from', async () => {
  const origins = [
    { topic: randomName('topic'), topicId: 'sMvX-AGxRVepYlgm5yHnUg', leaderEpoch: 3 },
    { topic: 'NULL', topicId: 'NULL', leaderEpoch: 0 },
    { topic: `it's {"a", b\\}`, topicId: null, leaderEpoch: null },
  ];
  for (const { topic: name } of origins) {
    await sink.initialize(name, () => [{ topic: name, partition: 0, offset: 5n }]);
  }
  const requests = origins.map((origin) => ({ ...aRequest(origin.topic, 5n, GOOD), ...origin }));
  const outcomes = await Promise.all(requests.map((request) => sink.write(request)));
  expect(outcomes).toMatchObject(origins.map(() => ({ kind: 'committed' })));
  const moved = await query(
    `SELECT topic, topic_id AS "topicId", leader_epoch AS "leaderEpoch", next_offset::int AS "nextOffset"
       FROM ${schema}.offsets WHERE topic = ANY ($1) ORDER BY array_position($1, topic)`,
    [origins.map(({ topic: name }) => name)],
  );
  expect(moved).toEqual(origins.map((origin) => ({ ...origin, nextOffset: 8 })));
  const transactions = `SELECT count(DISTINCT xmin::text)::int AS count FROM ${schema}.offsets WHERE topic = ANY ($1)`;
  expect(await query(transactions, [origins.map(({ topic: name }) => name)])).toEqual([{ count: 1 }]);
});

test('a COMMIT that PostgreSQL answers with ROLLBACK has committed nothing, and the outcome is read from the stored offset', async () => {
  const committing = pool.withClient(async (client) => {
    await beginMovingOffset(client, { schema, groupId: 'group', timeouts: TIMEOUTS }, { ...aRequest(topic, 5n, GOOD) });
    await client.query('SELECT 1 / 0').catch(() => undefined);
    await commit(client);
  });
  const message = expect.stringContaining('ROLLBACK');
  await expect(committing).rejects.toMatchObject({ name: 'OutageError', reason: 'database_busy', message });
  expect(await stored()).toEqual(NOTHING);
});

describe('while rows are written', () => {
  /** Settings of the transaction as a trigger of the table sees them. */
  async function seenByTrigger(setting: string, write: () => Promise<unknown>): Promise<readonly unknown[]> {
    await query(`CREATE TABLE ${schema}.seen (value text);
      CREATE FUNCTION ${schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.seen VALUES (current_setting('${setting}')); RETURN NEW; END $$;
      CREATE TRIGGER see BEFORE INSERT ON ${schema}.records FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.see()`);
    try {
      await write();
      return (await query<{ value: string }>(`SELECT DISTINCT value FROM ${schema}.seen`)).map(({ value }) => value);
    } finally {
      await query(`DROP FUNCTION ${schema}.see CASCADE; DROP TABLE ${schema}.seen`);
    }
  }

  test.each([
    ['good', GOOD],
    ['poisoned', POISONED],
  ])('a lock of the table is waited for by each writer for some seconds (%s rows)', async (_, values) => {
    const seen = await seenByTrigger('lock_timeout', () => sink.write(aRequest(topic, 5n, values)));
    expect(seen).toEqual(['3s']);
  });

  test('a lock of the table that lasts is waited for by one writer, as long as any other', async () => {
    const shown = await pool.withClient((client) =>
      client.query("SELECT setting FROM pg_settings WHERE name = 'lock_timeout'"),
    );
    const patient = `%${schema}%lock_timeout = ${shown.rows[0].setting}%`;
    const holder = await connect();
    const seen = await seenByTrigger('lock_timeout', async () => {
      await holder.query(`BEGIN; LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`);
      const writing = sink.write(aRequest(topic, 5n, GOOD));
      await until('a patient writer', async () => {
        const waiting = await query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1", [
          patient,
        ]);
        return waiting.length > 0 ? true : undefined;
      });
      await holder.query('ROLLBACK');
      await writing;
    });
    expect(seen).toEqual([`${Number(shown.rows[0].setting) / 1_000}s`]);
    expect(seen).not.toEqual(['3s']);
  });

  test.each([
    ['good', GOOD],
    ['poisoned', POISONED],
  ])('the isolation level is read committed, whatever the default (%s rows)', async (_, values) => {
    const strict = openStore({ schema, isolation: 'serializable' }).sink;
    const seen = await seenByTrigger('transaction_isolation', () => strict.write(aRequest(topic, 5n, values)));
    expect(seen).toEqual(['read committed']);
  });
});

test('an offset of the last bigint but one can still be moved, and none beyond 2^53 loses a digit', async () => {
  const last = 9_223_372_036_854_775_806n;
  await query(`UPDATE ${schema}.offsets SET next_offset = $2 WHERE topic = $1`, [topic, last.toString()]);
  expect(await nextOffset()).toBe(last);
  expect(await sink.write(aRequest(topic, last, ['{}']))).toMatchObject({ kind: 'committed' });
  expect(await nextOffset()).toBe(last + 1n);
  expect(await query(`SELECT "offset" FROM ${schema}.records WHERE topic = $1`, [topic])).toEqual([
    { offset: `${last}` },
  ]);
});
