import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChangeSource } from '../../../dev/change-events/change-source.ts';
import { shopChange } from '../../../dev/change-events/source-changes.ts';
import { SHOP } from '../../../dev/change-events/source-tables.ts';
import { slotOf, startDebezium } from '../../../dev/stack/connect/debezium-source.ts';
import { startApicurio } from '../stack/apicurio.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';
import { EVERY_TYPE, typedChange } from './every-type.ts';
import { Replica } from './replica.ts';
import { inAvro, ownTopics, startSource, WITH_SCHEMA, WITHOUT_SCHEMA } from './source.ts';
import { testSourceLosses } from './source-losses.ts';
import { testStoppedConnectors } from './stopped-connectors.ts';

const TABLES = [...SHOP, EVERY_TYPE];
/** Where Debezium is asked for a snapshot beside the stream, and writes where it begins and ends. */
const SIGNALS = 'CREATE TABLE signals (id text PRIMARY KEY, type text NOT NULL, data text)';
const signalled = <Kind extends { properties: object }>(kind: Kind) => ({
  ...kind,
  properties: { ...kind.properties, 'signal.data.collection': 'public.signals' },
});
/** The same events twice: in one partition with their schema, and in six without; in Avro, too. */
const topics = [ownTopics(signalled(WITH_SCHEMA), 1), ownTopics(signalled(WITHOUT_SCHEMA), 6)];
/** What comes for NULL by Apicurio's converter, which sends the default of a column in its place. */
const DEFAULTS = {
  orders: { state: 'new', placed_at: '1970-01-01 00:00:00+00', note: 'none' },
  order_lines: { quantity: '1' },
};
/** Changes that Debezium reads as its snapshot, and those of each of the steps that follow. */
const CHANGES = 1_000;
/** One of so many changes is of the table with every type. */
const TYPED_EVERY = 5;
/** Events that a replica may be behind before the source waits, and for how long. */
const MOST_AHEAD = 3_000n;
const PAUSE_MS = 100;
/** More changes than a crash leaves the time for. */
const MOST_BEFORE_CRASH = 100_000;
/** Java programs are downloaded within it, where they are not here yet. */
const SET_UP_TIMEOUT_MS = 600_000;
const SNAPSHOT_TIMEOUT_MS = 180_000;
const LONG_TIMEOUT_MS = 1_200_000;

const seed = randomInt(2 ** 32);
let changes = 0;
let source: ChangeSource;
const replicas: Replica[] = [];

/** Makes the next changes of the source, each in a transaction of its own. */
async function change(client: ChangeSource['client'], count: number): Promise<void> {
  for (const end = changes + count; changes < end; changes += 1) {
    const isTyped = changes % TYPED_EVERY === 0;
    await client.query(isTyped ? typedChange(seed, changes) : shopChange(seed, changes));
  }
}

/** Makes changes for as long as the faults of both replicas last; neither falls far behind meanwhile. */
async function changeDuring(faults: readonly Promise<void>[]): Promise<void> {
  const end = changes + CHANGES;
  let areOver = false;
  const all = Promise.all(faults).finally(() => {
    areOver = true;
  });
  while (!areOver) {
    const ahead = await Promise.all(replicas.map((replica) => replica.ahead()));
    await (ahead.every((events) => events < MOST_AHEAD) ? change(source.client, 10) : delay(PAUSE_MS));
  }
  await all;
  await change(source.client, Math.max(0, end - changes));
}

const eachReplica = (fault: (replica: Replica) => Promise<void>) => changeDuring(replicas.map(fault));

/**
 * Ends Debezium's worker and then the source's PostgreSQL, each as a crash does and in the middle of changes. Debezium
 * sends again what it had stored no position of: an update that keeps a column may come behind the delete of its row.
 */
async function crashSource(): Promise<void> {
  for (const replica of replicas) {
    expect(await replica.deadLetters()).toEqual([]);
  }
  const worker = source.debezium.stop('SIGKILL').then(() => source.debezium.start());
  await change(source.client, CHANGES);
  await worker;
  await change(source.client, CHANGES);
  const interrupted = change(source.client, MOST_BEFORE_CRASH);
  await Promise.all([expect(interrupted).rejects.toThrow(/terminat|ECONNRESET/), source.crash()]);
  // The change that was interrupted may have been made.
  changes += 1;
  await change(source.client, CHANGES);
}

/** Reads all tables again in the middle of changes: a row comes from the stream and from the snapshot, in any order. */
async function snapshotBesideStream(): Promise<void> {
  const collections = TABLES.map(({ name }) => `public.${name}`);
  const data = JSON.stringify({ 'data-collections': collections, type: 'incremental' });
  await source.client.query(`INSERT INTO signals VALUES ('again', 'execute-snapshot', $1)`, [data]);
  const chunks = `SELECT FROM signals WHERE type = 'snapshot-window-close'`;
  await until(
    'each connector to read each table again',
    async () => {
      const { rowCount } = await source.client.query(chunks);
      return (rowCount ?? 0) >= topics.length * TABLES.length ? true : undefined;
    },
    SNAPSHOT_TIMEOUT_MS,
  );
}

/** What a new snapshot, by a connector that knows nothing of the one before, makes of replicas that are right. */
async function snapshotAgain(meanwhile: string): Promise<void> {
  await source.debezium.stop();
  await until('the slots to be free', async () => {
    const { rows } = await source.client.query('SELECT FROM pg_replication_slots WHERE active');
    return rows.length === 0 ? true : undefined;
  });
  const slots = topics.map(({ prefix }) => `pg_drop_replication_slot('${slotOf(prefix)}')`);
  await source.client.query(`SELECT ${slots.join(', ')}; DROP PUBLICATION all_tables`);
  await source.client.query(meanwhile);
  await startDebezium(await testRun(), { source: source.postgres, broker: sharedBroker(), topics });
}

/** Columns of a replica that have no NULL. */
const nullsOf = (nth: number) => (topics[nth]?.registry === undefined ? {} : DEFAULTS);

/** No row differs. Dead letters are only updates that came behind the delete of their row, after a crash. */
async function expectNoDifference(): Promise<void> {
  for (const [nth, replica] of replicas.entries()) {
    await replica.finish(source);
    const letters = await replica.deadLetters();
    const found = {
      differences: await replica.differences(source, nullsOf(nth)),
      deadLetters: letters.filter(({ reason }) => reason !== 'missing_value'),
    };
    expect({ seed, nth, ...found }).toEqual({ seed, nth, differences: [], deadLetters: [] });
  }
}

/** The replicas get a column first, with the default of the source: its rows there send no events. */
async function alterBothSides(): Promise<void> {
  const alterReplicas = (sql: string) =>
    Promise.all(replicas.map((replica) => replica.query(sql.replaceAll('orders', `${replica.schema}.orders`))));
  const add = `ALTER TABLE orders ADD COLUMN seen integer NOT NULL DEFAULT 7, ADD COLUMN channel text DEFAULT 'shop'`;
  await alterReplicas(add);
  await source.client.query(add);
  await source.client.query(`UPDATE orders SET seen = id % 5, channel = NULL WHERE id % 3 = 0`);
  await change(source.client, CHANGES);
  await source.client.query('ALTER TABLE orders DROP COLUMN channel, ALTER COLUMN amount TYPE numeric(20,4)');
  await alterReplicas('ALTER TABLE orders ALTER COLUMN amount TYPE numeric(20,4)');
  await source.client.query(`UPDATE orders SET seen = 8, amount = amount / 3 WHERE id % 4 = 0`);
  await change(source.client, CHANGES);
}

describe('a replica', () => {
  beforeAll(async () => {
    topics.push(ownTopics(signalled(inAvro((await startApicurio()).url)), 6));
    source = await startSource(TABLES, topics, async (client) => {
      await client.query(SIGNALS);
      await change(client, CHANGES);
    });
    for (const each of topics) {
      replicas.push(await Replica.start(TABLES, each));
    }
  }, SET_UP_TIMEOUT_MS);
  afterAll(() => Promise.all(replicas.map((replica) => replica.remove())));

  test(
    'is its source, row by row, through kills, cuts, snapshots, changes of tables, a registry that is away and crashes',
    async () => {
      await eachReplica((replica) => replica.kill());
      await eachReplica((replica) => replica.cut());
      await changeDuring([snapshotBesideStream()]);
      await alterBothSides();
      await eachReplica((replica) => replica.loseRegistry());
      await crashSource();
      await eachReplica((replica) => replica.fence());
      await eachReplica((replica) => replica.kill());
      await expectNoDifference();
    },
    LONG_TIMEOUT_MS,
  );

  test(
    'keeps the rows that were deleted at the source while no connector ran, and is right again but for them',
    async () => {
      const { rows } = await source.client.query<{ id: number }>('SELECT id FROM orders ORDER BY id LIMIT 3');
      const deleted = rows.map(({ id }) => id);
      await snapshotAgain(`DELETE FROM orders WHERE id IN (${deleted}); UPDATE orders SET customer = 'other'`);
      for (const replica of replicas) {
        await replica.resume();
      }
      for (const [nth, replica] of replicas.entries()) {
        await replica.finish(source);
        const kept = await replica.query(`DELETE FROM ${replica.schema}.orders WHERE id IN (${deleted}) RETURNING id`);
        expect(kept.map((row) => row['id']).sort()).toEqual([...deleted].sort());
        expect(await replica.differences(source, nullsOf(nth))).toEqual([]);
      }
    },
    LONG_TIMEOUT_MS,
  );
});

describe('Debezium', testSourceLosses);

describe('a connector', testStoppedConnectors);
