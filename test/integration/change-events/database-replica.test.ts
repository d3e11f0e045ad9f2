import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import type { ChangeSource } from '../../../dev/change-events/change-source.ts';
import { sourceTableSql } from '../../../dev/change-events/source-tables.ts';
import { values } from '../stack/told-health.ts';
import { deleteTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';
import { DatabaseReplica } from './database-replica.ts';
import type { Offsets } from './delays.ts';
import { ManyChanges, smallTable } from './many-tables.ts';
import { ownTopics, startSource, WITHOUT_SCHEMA } from './source.ts';

const TABLES = Array.from({ length: 60 }, (_, nth) => smallTable(`table_${nth}`));
const [DROPPED, UNKEYED, WIDENED, LOCKED] = ['table_3', 'table_20', 'table_41', 'table_50'] as const;
/** The first is there at the replica before its topic is, the second has no table for a while. */
const [EARLY, LATE, TOGETHER] = ['early', 'late', 'together'].map(smallTable) as [Table, Table, Table];
type Table = ReturnType<typeof smallTable>;

const LOCKED_MS = 60_000;
/** How long records of the other tables wait meanwhile at most. */
const MOST_DELAY_MS = 5_000;
/** With the usual `kafka.topicRefresh`. */
const NEW_TOPIC_MS = 60_000;
/** Java programs are downloaded within it, where they are not here yet. */
const SET_UP_TIMEOUT_MS = 600_000;
const TIMEOUT_MS = 900_000;

const seed = randomInt(2 ** 32);
const topics = ownTopics(WITHOUT_SCHEMA, 2);
let source: ChangeSource;
let replica: DatabaseReplica;
let changes: ManyChanges;

const isOf = (partition: string, table: string): boolean => partition.startsWith(`${replica.topicOf(table)}/`);

/** The offsets of a table's topic, in the order of its partitions. */
const ofTable = (offsets: Offsets, table: string): readonly bigint[] =>
  [...offsets.keys()]
    .filter((each) => isOf(each, table))
    .toSorted()
    .map((each) => offsets.get(each) ?? 0n);

/** Resolves when a table has rows at the replica; what a topic had before the consumer knew of it is among them. */
async function awaitFirstRows(table: string): Promise<void> {
  const count = `SELECT count(*)::int AS rows FROM ${table} WHERE id < 0`;
  await until(
    `the first rows of ${table}`,
    async () => ((await replica.query<{ rows: number }>(count))[0]?.rows ? true : undefined),
    NEW_TOPIC_MS,
  );
}

/** Tables that no longer fit, each in another way, under load. */
async function breakTables(): Promise<void> {
  await replica.query(`DROP TABLE ${DROPPED}`);
  await replica.query(`ALTER TABLE ${UNKEYED} DROP CONSTRAINT ${UNKEYED}_pkey`);
  await source.client.query(`ALTER TABLE ${WIDENED} ADD COLUMN note text; UPDATE ${WIDENED} SET note = id::text`);
  await replica.awaitWaiting(...BROKEN);
}

const DROPPED_WAITS = `${DROPPED} TABLES_DO_NOT_FIT`;
const BROKEN = [DROPPED_WAITS, `${UNKEYED} TABLES_DO_NOT_FIT`, `${WIDENED} FIELD_UNMAPPED`];

async function createTables(): Promise<void> {
  const sqlOf = (table: Table) => sourceTableSql('public', table);
  await replica.query(sqlOf(EARLY));
  await changes.create(sqlOf(EARLY), EARLY.name);
  await changes.create(sqlOf(LATE), LATE.name);
  await Promise.all([replica.query(sqlOf(TOGETHER)), changes.create(sqlOf(TOGETHER), TOGETHER.name)]);
  await Promise.all([awaitFirstRows(EARLY.name), awaitFirstRows(TOGETHER.name)]);
  await replica.awaitWaiting(...BROKEN, `${LATE.name} TABLES_DO_NOT_FIT`);
  await replica.query(sqlOf(LATE));
  await awaitFirstRows(LATE.name);
  for (const { name } of [EARLY, LATE, TOGETHER]) {
    replica.expects(name);
  }
}

async function mendTables(): Promise<void> {
  await replica.query(`ALTER TABLE ${UNKEYED} ADD PRIMARY KEY (id)`);
  await replica.query(`ALTER TABLE ${WIDENED} ADD COLUMN note text`);
  await replica.awaitWaiting(DROPPED_WAITS);
}

interface LongestDelays {
  readonly looks: number;
  /** Of {@link LOCKED}, in milliseconds. */
  readonly locked: number;
  /** Of all others that are written. */
  readonly others: number;
}

/** Measures delays while something is so. */
async function longestDelays(whileSo: () => Promise<unknown>): Promise<LongestDelays> {
  const delays = replica.measureDelays();
  await whileSo();
  const { longest, looks } = await delays.stop();
  const written = [...longest].filter(([partition]) => !isOf(partition, DROPPED));
  const longestWhere = (isLocked: boolean) =>
    Math.max(...written.filter(([partition]) => isOf(partition, LOCKED) === isLocked).map(([, ms]) => ms));
  return { looks, locked: longestWhere(true), others: longestWhere(false) };
}

/** Locks a table for a minute, and measures how long the records of all others wait. */
async function expectOthersFlowWhileLocked(): Promise<void> {
  await replica.allStored(DROPPED);
  const holder = await replica.session();
  const locked = await longestDelays(async () => {
    await holder.query(`BEGIN; LOCK TABLE ${LOCKED} IN ACCESS EXCLUSIVE MODE`);
    await Promise.all([replica.awaitWaiting(DROPPED_WAITS, `${LOCKED} database_busy`), delay(LOCKED_MS)]);
  });
  await holder.end();
  expect(locked.looks).toBeGreaterThan(60);
  expect(locked.locked).toBeGreaterThan(LOCKED_MS - MOST_DELAY_MS);
  expect(locked.others).toBeLessThan(MOST_DELAY_MS);
}

/** The topic whose table is dropped at both ends: nothing of it is lost, and nothing of it goes elsewhere. */
async function expectDroppedWaits(before: readonly bigint[]): Promise<void> {
  expect(ofTable(await replica.stored(), DROPPED)).toEqual(before);
  const ends = ofTable(await replica.ends(), DROPPED);
  expect(ends.some((end, nth) => end > (before[nth] ?? 0n))).toBe(true);
  await deleteTopic(replica.topicOf(DROPPED));
  await replica.awaitWaiting();
  expect(await values(replica.consumer, METRICS.topicsWaiting)).toEqual([]);
}

describe('a replica of 60 tables by one rule', () => {
  beforeAll(async () => {
    source = await startSource(TABLES, [topics], async (client) => {
      changes = new ManyChanges(
        client,
        seed,
        TABLES.map(({ name }) => name),
      );
      await changes.fill();
    });
    replica = await DatabaseReplica.start({ prefix: topics.prefix, tables: TABLES });
    await replica.allStored();
    changes.start();
  }, SET_UP_TIMEOUT_MS);
  afterAll(async () => {
    await changes.stop();
    await replica.remove();
  });

  test(
    'is its source, where tables are created, dropped, altered and locked, the consumer is killed and PostgreSQL is cut',
    async () => {
      await breakTables();
      await changes.drop(DROPPED);
      const dropped = ofTable(await replica.stored(), DROPPED);
      await replica.kill();
      await replica.awaitWaiting(...BROKEN);
      await createTables();
      await mendTables();

      await expectOthersFlowWhileLocked();
      await replica.cut();
      await replica.kill();
      await changes.stop();
      await source.flushed();
      await replica.allStored(DROPPED);
      await expectDroppedWaits(dropped);
      await replica.consumer.waitForHealth();
      replica.consumer.kill('SIGTERM');
      expect(await replica.consumer.exited).toMatchObject({ code: 0 });
      const all = [...TABLES, EARLY, LATE, TOGETHER].filter(({ name }) => name !== DROPPED);
      const differences = await replica.differences(source.client, all);
      const found = { seed, differences, letters: await replica.deadLetters(), records: await replica.recordRows() };
      expect(found).toEqual({ seed, differences: [], letters: [], records: 0 });
    },
    TIMEOUT_MS,
  );
});
