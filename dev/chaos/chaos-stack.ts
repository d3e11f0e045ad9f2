import type { Kafka } from 'kafkajs';
import { loadQuietKafkajs } from '../../app/kafka/kafkajs/patches.ts';
import { paymentSchema } from '../orders/payment-records.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { faketimeLibrary } from '../run/set-clock.ts';
import { type LocalKafka, startLocalKafka } from '../stack/local-kafka.ts';
import { type LocalPostgres, startLocalPostgres } from '../stack/local-postgres.ts';
import { SchemaServer } from '../stack/schema-server.ts';
import { ensureTopic } from '../stack/topic.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { PositionReader } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { ConsumerFleet } from './consumer-fleet.ts';
import { DatabaseFaults, ROLE } from './database-faults.ts';
import { CUSTOMER_CHANGES, KEYED_SETTINGS, KeyedTopic, PAYMENT_CHANGES, PROFILE_EVENTS } from './keyed-topic.ts';
import type { ChaosOptions } from './options.ts';
import { MAIN_TOPIC, NAMED_TOPICS, PARTITIONS, SESSION_TIMEOUT_MS, SIDE_TOPIC, TEMPLATE } from './schedule.ts';
import { SideTopic } from './side-topic.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { TemplatedTopics } from './templated-topics.ts';

const kafkajs = loadQuietKafkajs();

/** Main topic, group and schema of the rows that the run writes. */
export const WRITTEN: Written = { topic: MAIN_TOPIC, group: 'chaos', schema: 'stream_consumer' };

const RECORDS_PER_SECOND = 1_000;

/** The consumers' name for the brokers, whose quota is theirs alone. */
export const CLIENT_ID = 'chaos-consumer';

/** Lines of the consumers' logs that show effects of the faults; the report counts them. */
export const COUNTED_LOG_LINES = {
  'stale writers turned away': /another writer moved the offset/,
  'writes tried again': /the write failed and is tried again/,
  'topics that waited for their tables': /"code":"TABLES_DO_NOT_FIT".*the topic waits alone/,
} as const;

/**
 * Small transactions, so that a fault meets one; time-outs that are shorter than the faults; the smallest queues, so
 * that partitions are paused and resumed, too.
 */
const CONSUMER_SETTINGS = {
  KAFKA_TOPICS: [...NAMED_TOPICS, TEMPLATE].join(),
  // Sooner than usual, so that a run has more faults.
  KAFKA_TOPIC_REFRESH: '10s',
  KAFKA_CLIENT_ID: CLIENT_ID,
  KAFKA_GROUP_ID: WRITTEN.group,
  KAFKA_SESSION_TIMEOUT: `${SESSION_TIMEOUT_MS}ms`,
  DATABASE_SCHEMA: WRITTEN.schema,
  DATABASE_STATEMENT_TIMEOUT: '3s',
  SCHEMA_REGISTRY_TIMEOUT: '1s',
  CONSUMER_MAX_BATCH_RECORDS: '50',
  CONSUMER_MAX_QUEUED_BYTES: '65536',
  // A burst of poison is a fault to go on from, not the end of the consumer.
  DEAD_LETTERS_MAX_RATIO: '1',
  // A line for each request and transaction, so that the log can be filled.
  LOGGING_LEVEL: 'debug',
  ...KEYED_SETTINGS,
} as const;

/**
 * With `kafka.groupProtocol: consumer` the brokers decide after which silence a member is gone, never sooner than the
 * least.
 */
const BROKER_SETTINGS = {
  'group.consumer.session.timeout.ms': SESSION_TIMEOUT_MS,
  'group.consumer.min.session.timeout.ms': SESSION_TIMEOUT_MS,
} as const;

/** The servers, the consumers and the producer of a chaos run. */
export interface ChaosStack {
  readonly kafka: LocalKafka;
  readonly postgres: LocalPostgres;
  readonly database: DatabaseFaults;
  /** In front of Kafka, for consumers, producer and verdict. */
  readonly kafkaProxy: TcpProxy;
  /** Between the consumers and PostgreSQL. */
  readonly postgresProxy: TcpProxy;
  /** Of the payments' schemas, and the way of the consumers to it. */
  readonly registry: SchemaServer;
  readonly registryProxy: TcpProxy;
  readonly client: Kafka;
  readonly producer: ChaosProducer;
  readonly positions: PositionReader;
  readonly side: SideTopic;
  readonly templated: TemplatedTopics;
  /** Of rows and tombstones in JSON, of change events, and of rows and tombstones in Avro. */
  readonly keyed: readonly KeyedTopic[];
  readonly fleet: ConsumerFleet;
}

/**
 * Starts Kafka and PostgreSQL behind proxies and creates the topic. Producer and consumers are not started yet.
 *
 * @throws ExplainedError when libfaketime is not there or a server does not start.
 */
export async function startChaosStack(
  run: RunFolder,
  { seed, groupProtocol }: ChaosOptions,
  onProgress: (text: string) => void,
): Promise<ChaosStack> {
  const servers = await startServers(run, onProgress);
  const { postgres, kafkaProxy, postgresProxy, registryProxy } = servers;
  const client = quietClient(`127.0.0.1:${kafkaProxy.port}`);
  await ensureTopic(client, WRITTEN.topic, PARTITIONS);
  const url = postgres.urlWithPassword;
  const positions = new PositionReader(url, client, WRITTEN);
  const side = new SideTopic(client, url, { ...WRITTEN, topic: SIDE_TOPIC }, seed);
  const templated = new TemplatedTopics(client, url, WRITTEN, seed);
  const keyed = [CUSTOMER_CHANGES, PROFILE_EVENTS, PAYMENT_CHANGES].map(
    (each) => new KeyedTopic(each, client, url, WRITTEN, seed),
  );
  run.beforeClose(async () => {
    await Promise.all([positions, side, templated, ...keyed].map((each) => each.disconnect()));
  });
  const database = new DatabaseFaults(url, WRITTEN.schema);
  const consumerUrl = new URL(await database.createRole(url));
  await Promise.all([positions.connect(), side.start(), templated.start(), ...keyed.map((each) => each.start(ROLE))]);
  const env = {
    ...CONSUMER_SETTINGS,
    KAFKA_GROUP_PROTOCOL: groupProtocol,
    KAFKA_BROKERS: `127.0.0.1:${kafkaProxy.port}`,
    SCHEMA_REGISTRY_URL: `http://127.0.0.1:${registryProxy.port}`,
    DATABASE_URL: Object.assign(consumerUrl, { port: String(postgresProxy.port) }).href,
  };
  const fleet = new ConsumerFleet(run, env, Object.values(COUNTED_LOG_LINES));
  const plan = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed, rate: RECORDS_PER_SECOND };
  const producer = new ChaosProducer(plan);
  return { ...servers, database, client, producer, positions, side, templated, keyed, fleet };
}

/** Starts the servers, each behind a proxy. */
async function startServers(run: RunFolder, onProgress: (text: string) => void) {
  faketimeLibrary();
  const listening = [
    TcpProxy.listen(),
    TcpProxy.listen(),
    TcpProxy.listen(),
    SchemaServer.listen(paymentSchema),
  ] as const;
  const [kafkaProxy, postgresProxy, registryProxy, registry] = await Promise.all(listening);
  run.beforeClose(async () => {
    await Promise.all([kafkaProxy, postgresProxy, registryProxy, registry].map((each) => each.close()));
  });
  registryProxy.forwardTo(registry.port);
  const starts = [
    startLocalKafka(run, { advertisedPort: kafkaProxy.port, onProgress, properties: BROKER_SETTINGS }),
    startLocalPostgres(run),
  ] as const;
  // A failure waits for the other start, too: a server that is still starting could not be stopped.
  await Promise.allSettled(starts);
  const [kafka, postgres] = await Promise.all(starts);
  kafkaProxy.forwardTo(portOf(`tcp://${kafka.broker}`));
  postgresProxy.forwardTo(portOf(postgres.url));
  return { kafka, postgres, kafkaProxy, postgresProxy, registry, registryProxy };
}

/** Time-outs far below a fault's length, so that the client notices its end soon. */
function quietClient(broker: string): Kafka {
  return new kafkajs.Kafka({
    clientId: 'chaos',
    brokers: [broker],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 10 },
  });
}

const portOf = (url: string): number => Number(new URL(url).port);
