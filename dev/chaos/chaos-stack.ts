import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { BEGIN } from '../../app/store/transaction.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type LocalKafka, startLocalKafka } from '../stack/local-kafka.ts';
import { type LocalPostgres, startLocalPostgres } from '../stack/local-postgres.ts';
import { ensureTopic } from '../stack/topic.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { PositionReader } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { ConsumerFleet } from './consumer-fleet.ts';
import { type Fault, PARTITIONS, SESSION_TIMEOUT_MS } from './schedule.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Topic, group and schema of the rows that the run writes. */
export const WRITTEN: Written = { topic: 'orders', group: 'chaos', schema: 'stream_consumer' };

const RECORDS_PER_SECOND = 1_000;

/** Lines of the consumers' logs that show effects of the faults; the report counts them. */
export const COUNTED_LOG_LINES = {
  'stale writers turned away': /another writer moved the offset/,
  'writes tried again': /the write failed and is tried again/,
} as const;

/**
 * Small transactions, so that a fault meets one; time-outs that are shorter than the faults; the smallest queues, so
 * that partitions are paused and resumed, too.
 */
const CONSUMER_SETTINGS = {
  KAFKA_TOPICS: WRITTEN.topic,
  KAFKA_GROUP_ID: WRITTEN.group,
  KAFKA_SESSION_TIMEOUT: `${SESSION_TIMEOUT_MS}ms`,
  DATABASE_SCHEMA: WRITTEN.schema,
  DATABASE_STATEMENT_TIMEOUT: '3s',
  CONSUMER_MAX_BATCH_RECORDS: '50',
  CONSUMER_MAX_QUEUED_BYTES: '65536',
  // A burst of poison is a fault to go on from, not the end of the consumer.
  DEAD_LETTERS_MAX_RATIO: '1',
} as const;

/** The servers, the consumers and the producer of a chaos run. */
export interface ChaosStack {
  readonly kafka: LocalKafka;
  readonly postgres: LocalPostgres;
  /** In front of Kafka, for consumers, producer and verdict. */
  readonly kafkaProxy: TcpProxy;
  /** Between the consumers and PostgreSQL. */
  readonly postgresProxy: TcpProxy;
  readonly client: Kafka;
  readonly producer: ChaosProducer;
  readonly positions: PositionReader;
  readonly fleet: ConsumerFleet;
}

/**
 * Starts Kafka and PostgreSQL behind proxies and creates the topic. Producer and consumers are not started yet.
 *
 * @throws ExplainedError when a server does not start.
 */
export async function startChaosStack(run: RunFolder, seed: number, onProgress: (text: string) => void) {
  const [kafkaProxy, postgresProxy] = await Promise.all([TcpProxy.listen(), TcpProxy.listen()]);
  run.beforeClose(async () => {
    await Promise.all([kafkaProxy.close(), postgresProxy.close()]);
  });
  const starts = [
    startLocalKafka(run, { advertisedPort: kafkaProxy.port, onProgress }),
    startLocalPostgres(run),
  ] as const;
  // A failure waits for the other start, too: a server that is still starting could not be stopped.
  await Promise.allSettled(starts);
  const [kafka, postgres] = await Promise.all(starts);
  kafkaProxy.forwardTo(portOf(`tcp://${kafka.broker}`));
  postgresProxy.forwardTo(portOf(postgres.url));
  const brokers = `127.0.0.1:${kafkaProxy.port}`;
  const client = quietClient(brokers);
  await ensureTopic(client, WRITTEN.topic, PARTITIONS);
  const positions = new PositionReader(postgres.urlWithPassword, client, WRITTEN);
  await positions.connect();
  run.beforeClose(() => positions.disconnect());
  const plan = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed, rate: RECORDS_PER_SECOND };
  const database = new URL(postgres.urlWithPassword);
  database.port = String(postgresProxy.port);
  const env = { ...CONSUMER_SETTINGS, KAFKA_BROKERS: brokers, DATABASE_URL: database.href };
  const fleet = new ConsumerFleet(run, env, Object.values(COUNTED_LOG_LINES));
  const producer = new ChaosProducer(plan);
  return { kafka, postgres, kafkaProxy, postgresProxy, client, producer, positions, fleet } satisfies ChaosStack;
}

/** Time-outs far below a fault's length, so that the client notices its end soon. */
function quietClient(broker: string): Kafka {
  return new Kafka({
    clientId: 'chaos',
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 10 },
  });
}

const portOf = (url: string): number => Number(new URL(url).port);

/** Makes a fault; resolves when it is over and everything that it took away is there again. */
export async function makeFault(stack: ChaosStack, fault: Fault): Promise<void> {
  const { kafka, postgres, kafkaProxy, postgresProxy, fleet, producer } = stack;
  switch (fault.kind) {
    case 'kill consumer':
      return fleet.kill(fault.slot);
    case 'freeze consumer':
      return fleet.freeze(fault.slot, fault.ms);
    case 'add consumer':
      // Its rebalance is the fault, which is over once the new consumer has partitions.
      return (await fleet.add(fault.slot)).waitForHealth();
    case 'remove consumer':
      return fleet.remove(fault.slot);
    case 'restart PostgreSQL':
      await postgres.stop('immediate');
      await delay(fault.ms);
      return postgres.start();
    case 'restart Kafka':
      await kafka[fault.way]();
      await delay(fault.ms);
      return kafka.start();
    case 'cut PostgreSQL':
      return cut(postgresProxy, fault.ms);
    case 'cut Kafka':
      return cut(kafkaProxy, fault.ms);
    case 'delay PostgreSQL':
      return slowDown(postgresProxy, fault);
    case 'delay Kafka':
      return slowDown(kafkaProxy, fault);
    case 'lock table':
      return lockTable(postgres.urlWithPassword, fault.ms);
    case 'poison burst':
      return producer.burst(fault.partition, fault.records);
  }
}

async function cut(proxy: TcpProxy, ms: number): Promise<void> {
  proxy.cut();
  await delay(ms);
  proxy.restore();
}

async function slowDown(proxy: TcpProxy, { latencyMs, ms }: { latencyMs: number; ms: number }): Promise<void> {
  proxy.delayBy(latencyMs);
  await delay(ms);
  proxy.delayBy(0);
}

/** A lock ends with its connection: where PostgreSQL is restarted meanwhile, it ends sooner. */
async function lockTable(url: string, ms: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`${BEGIN}; LOCK TABLE "${WRITTEN.schema}".records IN ACCESS EXCLUSIVE MODE`);
    await delay(ms);
  } catch (error) {
    if (!isConnectionLost(error)) {
      throw error;
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** SQLSTATE classes 08 and 57: connection exception, operator intervention; a broken socket has no SQLSTATE. */
const isConnectionLost = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || /^(08|57)/.test(error.code ?? '');
