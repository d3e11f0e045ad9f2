import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { replayNext } from '../../../app/commands/dead-letters/dead-letters-replay.ts';
import { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { FilledTables } from '../../../app/store/tables/filled-tables.ts';
import { migrate } from '../../../app/store/tables/migrations.ts';
import { initializePositions } from '../../../app/store/tables/offsets-table.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';

/** As many processes at once. */
const STARTERS = 4;

const role = randomName('serializable');
let schema: string;
let pool: DatabasePool;

function openPool(): DatabasePool {
  const url = new URL(sharedDatabaseUrl());
  url.username = role;
  const { database } = checkedSettings({ database: { url: url.href, poolSize: STARTERS } });
  return new DatabasePool(database, () => undefined);
}

/** Begins the work so many times at once and lets none go on before all of them wait for what `gate` locks. */
async function allAtOnce<T>(count: number, gate: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T[]> {
  const holder = new pg.Client({ connectionString: sharedDatabaseUrl() });
  await holder.connect();
  try {
    await holder.query(`BEGIN; ${gate}`);
    const works = Promise.all(Array.from({ length: count }, () => pool.withClient(work)));
    works.catch(() => undefined);
    const waiting = `SELECT FROM pg_stat_activity WHERE usename = '${role}' AND wait_event_type = 'Lock'`;
    await until(`${count} sessions that wait`, async () =>
      (await query(waiting)).length === count ? true : undefined,
    );
    await holder.query('ROLLBACK');
    return await works;
  } finally {
    await holder.end();
  }
}

beforeAll(async () => {
  const { password } = new URL(sharedDatabaseUrl());
  await query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  await query(`ALTER ROLE ${role} SET default_transaction_isolation = 'serializable'`);
  pool = openPool();
});

beforeEach(async () => {
  schema = randomName('schema');
  await query(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
});

afterAll(async () => {
  await pool.close();
  await query(`DROP OWNED BY ${role}`);
  await query(`DROP ROLE ${role}`);
});

test('the sessions of this test are serializable unless a transaction says otherwise', async () => {
  const shown = await pool.withClient((client) => client.query('SHOW transaction_isolation'));
  expect(shown.rows).toEqual([{ transaction_isolation: 'serializable' }]);
});

test('of several consumers that start at once one makes the tables, and the others find them', async () => {
  const lock = `SELECT pg_advisory_xact_lock(${0x73747265})`;
  const applied = await allAtOnce(STARTERS, lock, (client) => migrate(client, schema));
  expect(applied.filter((versions) => versions.length > 0)).toEqual([[1, 2, 3, 4, 5, 6, 7]]);
});

test('of several consumers that choose first positions at once one does, and the others find them', async () => {
  await pool.withClient((client) => migrate(client, schema));
  const lock = `SELECT pg_advisory_xact_lock(hashtextextended('${schema}/group/orders', 0))`;
  const targets = () => ({ all: [], shared: new Set<string>() });
  const filled = new FilledTables({ schema, groupId: 'group', targets, onShared: () => undefined });
  const owner = { schema, groupId: 'group', filled };
  const position = { topic: 'orders', partition: 0, offset: 7n, topicId: 'MAY9gLLuRv6PPlUO7yaqbw', leaderEpoch: 2 };
  const found = await allAtOnce(STARTERS, lock, (client) =>
    initializePositions(client, owner, 'orders', (stored) => (stored.has(0) ? [] : [position])),
  );
  expect(found).toEqual(Array.from({ length: STARTERS }, () => [position]));
});

test('several replays at once share the dead letters', async () => {
  await pool.withClient((client) => migrate(client, schema));
  await query(
    `INSERT INTO ${schema}.dead_letters (group_id, topic, partition, "offset", timestamp, headers, value, reason, error)
     SELECT 'group', 'orders', 0, number, now(), '[]', '1', 'value_too_large', '' FROM generate_series(1, $1::int) AS number`,
    [STARTERS],
  );
  const where = {
    isInRecords: () => true,
    decoderOf: () => null,
    tablesOf: () => [],
    overwrite: false,
    prepare: () => undefined,
  };
  const target = { schema, dryRun: false, maxValueBytes: 100, keyEncoding: 'text', ...where } as const;
  const outcomes = await allAtOnce(STARTERS, `LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`, (client) =>
    replayNext(client, target, { reasons: [], topics: [] }, { after: null, prepared: null }),
  );
  expect(outcomes.map((outcome) => outcome && 'kind' in outcome && outcome.kind)).toEqual(
    Array.from({ length: STARTERS }, () => 'moved'),
  );
  expect(await query(`SELECT FROM ${schema}.records`)).toHaveLength(STARTERS);
  expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
});
