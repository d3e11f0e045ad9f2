import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type ChangeSource, startChangeSource } from '../change-events/change-source.ts';
import { shopChange } from '../change-events/source-changes.ts';
import { replicaEntry, SHOP, sourceTableSql, topicOf } from '../change-events/source-tables.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { deathOf } from '../stack/connect/local-connect.ts';
import { compareReplica } from '../verdict/compare-replica.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { countFinding, type Finding } from '../verdict/finding.ts';
import { awaitAccounted, PositionReader, sumOfNext } from '../verdict/positions.ts';
import type { StartOptions } from './options.ts';
import type { Servers } from './servers.ts';
import { showEntries } from './table-job.ts';

/** A change of the shop for so many orders. */
const ORDERS_PER_CHANGE = 10;
/** Changes that are there before Debezium is, and come as its snapshot. */
const CHANGES_BEFORE = 200;
/** Records without a schema, whose times are text: what docs/debezium.md recommends. */
const ISO = { 'time.precision.mode': 'isostring', 'decimal.handling.mode': 'string' };

/** What `--cdc` adds: a source database with a shop, Debezium, and the replica of its tables. */
export interface ReplicaJob {
  readonly source: ChangeSource;
  readonly seed: number;
  /** Schema of the replica. */
  readonly schema: string;
  /** The replica's entries of the setting `tables`. */
  readonly entries: readonly object[];
  /** The positions of each topic, by its name. */
  readonly positions: ReadonlyMap<string, PositionReader>;
  /** Changes made at the source so far. */
  changes: number;
}

/** How far the replica is. */
export interface ReplicaLook {
  readonly changes: number;
  /** Events in Kafka that are not in PostgreSQL yet. */
  readonly ahead: bigint;
}

/**
 * Names of the replica's schema and the topics' prefix that are free.
 *
 * @param random letters and digits. @default eight random ones
 */
export function replicaNames(options: StartOptions, random: string = randomBytes(4).toString('hex')) {
  return {
    schema: options.database === undefined ? 'replica' : `replica_${random}`,
    prefix: options.kafka === undefined ? 'shop' : `shop-${random}`,
  };
}

/**
 * Starts the source, makes its tables and those of the replica, and starts Debezium, before the consumer starts.
 *
 * @throws ExplainedError when the source or Debezium does not start
 */
export async function prepareReplica(
  run: RunFolder,
  { options, servers, names }: { options: StartOptions; servers: Servers; names: Written },
  screen: Screen,
): Promise<ReplicaJob> {
  const { schema, prefix } = replicaNames(options);
  await makeReplica(servers.databaseUrl, schema);
  screen.line('source      a second PostgreSQL, and Debezium in Kafka Connect, starting ...');
  const job = { seed: options.seed, changes: 0 };
  const source = await startChangeSource(run, {
    kafka: servers.kafka,
    brokers: servers.brokers,
    tables: SHOP,
    topics: [{ prefix, hasSchemas: false, partitions: options.partitions, properties: ISO }],
    fill: (client) => changeUpTo(client, job, CHANGES_BEFORE),
    onProgress: (message) => screen.line(`Debezium    ${message}`),
  });
  screen.line(
    `source      ready at ${new URL(source.postgres.url).host}, followed by Debezium, process ${source.debezium.pid}`,
  );
  source.debezium.taskDied.addEventListener('abort', () => {
    screen.line(`Debezium    does not go on: ${deathOf(source.debezium).join(' ')}`);
  });
  const readers = SHOP.map(({ name }) => {
    const topic = topicOf(prefix, name);
    return [topic, new PositionReader(servers.databaseUrl, servers.kafka, { ...names, topic })] as const;
  });
  const positions = new Map(readers);
  run.beforeClose(async () => {
    await Promise.allSettled([...positions.values()].map((reader) => reader.disconnect()));
  });
  await Promise.all([...positions.values()].map((reader) => reader.connect()));
  const entries = SHOP.map((table) => replicaEntry({ prefix, schema, hasSchemas: false }, table));
  showEntries(screen, 'replica     its tables are made, and the consumer has these settings for them:', entries);
  return { ...job, source, schema, entries, positions };
}

async function makeReplica(databaseUrl: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      [`CREATE SCHEMA IF NOT EXISTS ${schema};`, ...SHOP.map((table) => sourceTableSql(schema, table))].join('\n'),
    );
  } finally {
    await client.end();
  }
}

/** Makes the changes of the source that belong to the orders so far. */
export const changeShop = (job: ReplicaJob, orders: number): Promise<void> =>
  changeUpTo(job.source.client, job, CHANGES_BEFORE + Math.floor(orders / ORDERS_PER_CHANGE));

async function changeUpTo(client: pg.Client, job: Pick<ReplicaJob, 'seed'> & { changes: number }, due: number) {
  while (job.changes < due) {
    await client.query(shopChange(job.seed, job.changes));
    job.changes += 1;
  }
}

/** Where both sides are, for the screen. */
export const whereToLookAtReplica = ({ source, schema }: ReplicaJob, { psqlUrl }: Servers): readonly string[] => [
  `  source      psql '${source.postgres.url}?sslmode=disable&passfile=${source.postgres.passwordFile}' -c 'TABLE orders LIMIT 5'`,
  `  replica     psql '${psqlUrl}' -c 'TABLE ${schema}.orders LIMIT 5'`,
];

/** How far the replica is now. */
export async function lookAtReplica({ positions, changes }: ReplicaJob): Promise<ReplicaLook> {
  const looks = await Promise.all([...positions.values()].map((reader) => reader.read()));
  const ahead = looks.map((look) => [...look.end.values()].reduce((sum, end) => sum + end, 0n) - sumOfNext(look));
  return { changes, ahead: ahead.reduce((sum, each) => sum + each, 0n) };
}

/**
 * Waits until all events of the source are in PostgreSQL.
 *
 * @throws ExplainedError when Debezium has ended
 */
export async function waitForEvents(
  { source, positions }: ReplicaJob,
  isAlive: () => boolean,
): Promise<readonly Finding[]> {
  await source.flushed();
  const findings: Finding[] = [];
  for (const [topic, reader] of positions) {
    const { end } = await reader.read();
    const finding = await awaitAccounted(end, () => reader.read(), isAlive);
    findings.push({ ...finding, check: `${finding.check}, ${topic}` });
  }
  return findings;
}

/**
 * Compares each table of the replica with the source, row by row, and counts the events that became dead letters: none
 * may.
 */
export async function compareReplicas(
  client: pg.Client,
  { source, schema, positions }: ReplicaJob,
): Promise<readonly Finding[]> {
  const looks = await Promise.all([...positions.values()].map((reader) => reader.read()));
  const letters = looks.reduce((sum, { deadLetters }) => sum + deadLetters, 0n);
  const findings = [countFinding('dead letters of the replica', 0n, letters, [])];
  for (const table of SHOP) {
    findings.push(await compareReplica({ source: source.client, replica: client, schema, table }));
  }
  return findings;
}
