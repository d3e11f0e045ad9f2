import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type pg from 'pg';
import { ExplainedError } from '../../run/explained-error.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { ensureTopic } from '../../stack/topic.ts';
import { childrenCpuSeconds, cpuSeconds, memoryBytes, WARM_UP_SECONDS } from '../bench-consumer.ts';
import { forkSource, message } from '../forked-source.ts';
import { connectTo, type StartedProgram, startConsumer, untilRows } from '../measured-program.ts';
import { produceRecords } from '../produce-records.ts';
import { committedTransactions } from '../throughput/everyday.ts';
import { orderMessage } from '../throughput/order-topics.ts';
import { orderTable } from '../throughput/tables.ts';
import { type ConsumeResult, consumeBacklog } from '../throughput/throughput.ts';
import { type CatalogGrowth, catalogGrowth, readCatalogs } from './catalog-growth.ts';

/** A whole database has many topics: one partition each keeps the number of partitions that of the tables. */
const PARTITIONS = 1;
const POLL_MS = 200;

interface ManyTablesPlan {
  /** Records of the backlog. */
  readonly records: number;
  /** Of the steady load, over all tables. */
  readonly recordsPerSecond: number;
  /** How long to watch the steady load. */
  readonly seconds: number;
}

/** One consumer of some tables that one template names. */
export interface ManyTablesResult {
  readonly backlog: ConsumeResult;
  readonly steady: SteadyResult;
}

interface SteadyResult {
  /** Processor time as a share of one core. */
  readonly consumerShare: number;
  /** The same of all of PostgreSQL's processes. */
  readonly postgresShare: number;
  readonly rowsPerSecond: number;
  /** Transactions that PostgreSQL committed, of whatever client. */
  readonly transactionsPerSecond: number;
  /** Resident memory of the consumer at its peak. */
  readonly peakMemoryBytes: number;
  readonly catalogs: readonly CatalogGrowth[];
}

/**
 * Measures a consumer whose tables with keys one template names: with a backlog, and under a steady load. Each has
 * topics, tables and a schema that nothing else has.
 *
 * @param env environment variables of the consumer
 * @throws ExplainedError when not each record is a row of its table in the end
 */
export async function measureManyTables(
  stack: Stack,
  count: number,
  { records, ...load }: ManyTablesPlan,
  env: Readonly<Record<string, string>>,
): Promise<ManyTablesResult> {
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  try {
    const backlog = await withTables(client, `backlog_${count}`, count, (tables) =>
      measureBacklog(stack, tables, records, env),
    );
    const steady = await withTables(client, `steady_${count}`, count, (tables) =>
      measureSteadyLoad(stack, client, { ...tables, ...load }, env),
    );
    return { backlog, steady };
  } finally {
    await client.end();
  }
}

/** Topics and tables, and the consumer's settings for them. */
interface Tables {
  readonly topics: readonly string[];
  /** What the consumer reads, and the schema that has `offsets`. */
  readonly target: Parameters<typeof startConsumer>[1];
}

/** What was measured, and how many records were to become rows. */
interface Measured<Result> {
  readonly result: Result;
  readonly records: number;
}

const kafkaOf = ({ kafka }: Stack) =>
  new Kafka({ clientId: 'bench', brokers: [kafka?.broker ?? ''], logLevel: logLevel.NOTHING });

async function withTables<Result>(
  client: pg.Client,
  name: string,
  count: number,
  measure: (tables: Tables) => Promise<Measured<Result>>,
): Promise<Result> {
  const schema = `tables_${name}`;
  const names = Array.from({ length: count }, (_, nth) => `orders_${nth}`);
  const topics = names.map((table) => `${name}.${table}`);
  await client.query([`CREATE SCHEMA ${schema}`, ...names.map((table) => orderTable(`${schema}.${table}`))].join(';'));
  await client.query('CHECKPOINT');
  const template = { topic: `${name}.{table}`, table: `${schema}.{table}`, key: 'primary', fields: 'camelCase' };
  const { result, records } = await measure({ topics, target: { schema: name, topics: [], tables: [template] } });
  const counts = names.map((table) => `(SELECT count(*) FROM ${schema}.${table})`).join(' + ');
  const { rows } = await client.query<{ rows: string }>(`SELECT ${counts} AS rows`);
  if (Number(rows[0]?.rows) !== records) {
    throw new ExplainedError(`${rows[0]?.rows} rows of ${records} records are in ${count} tables.`);
  }
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  return result;
}

async function measureBacklog(
  stack: Stack,
  { topics, target }: Tables,
  records: number,
  env: Readonly<Record<string, string>>,
): Promise<Measured<ConsumeResult>> {
  const messageAt = (index: number) => orderMessage('orders', index);
  await produceRecords(kafkaOf(stack), { topics, partitions: PARTITIONS, records, messageAt });
  return { records, result: await consumeBacklog(stack, () => startConsumer(stack, target, env), records) };
}

interface SteadyTables extends Tables, Omit<ManyTablesPlan, 'records'> {}

async function measureSteadyLoad(
  stack: Stack,
  client: pg.Client,
  { topics, target, recordsPerSecond, seconds }: SteadyTables,
  env: Readonly<Record<string, string>>,
): Promise<Measured<SteadyResult>> {
  for (const topic of topics) {
    await ensureTopic(kafkaOf(stack), topic, PARTITIONS);
  }
  const consumer = await startConsumer(stack, target, env);
  const where = [stack.kafka?.broker ?? '', topics.join(','), String(PARTITIONS)];
  const producer = forkSource('load-process.ts', [...where, String(recordsPerSecond), 'orders']);
  try {
    await message(producer);
    await untilRows(consumer, 1, POLL_MS);
    await delay(WARM_UP_SECONDS * 1_000);
    const watched = await watch(stack, client, consumer, seconds);
    const total = message<number>(producer);
    producer.send('over');
    const records = await total;
    await untilRows(consumer, records, POLL_MS);
    return { records, result: { ...watched, peakMemoryBytes: memoryBytes(consumer.pid, 'VmHWM') } };
  } finally {
    producer.disconnect();
    await consumer.stop();
  }
}

/** What a consumer and PostgreSQL do over some seconds. */
async function watch(
  stack: Stack,
  client: pg.Client,
  consumer: StartedProgram,
  seconds: number,
): Promise<Omit<SteadyResult, 'peakMemoryBytes'>> {
  const look = async () => ({
    catalogs: await readCatalogs(client),
    committed: await committedTransactions(client),
    rows: await consumer.rows(),
    consumerCpu: cpuSeconds(consumer.pid),
    postgresCpu: childrenCpuSeconds(stack.postgres?.pid ?? 0),
    at: performance.now(),
  });
  const before = await look();
  await delay(seconds * 1_000);
  const after = await look();
  const passed = (after.at - before.at) / 1_000;
  const perSecond = (of: 'committed' | 'rows' | 'consumerCpu' | 'postgresCpu') => (after[of] - before[of]) / passed;
  return {
    consumerShare: perSecond('consumerCpu'),
    postgresShare: perSecond('postgresCpu'),
    rowsPerSecond: perSecond('rows'),
    transactionsPerSecond: perSecond('committed'),
    catalogs: catalogGrowth(before.catalogs, after.catalogs, passed),
  };
}
