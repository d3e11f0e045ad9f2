import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { SampleProducer } from '../orders/sample-producer.ts';
import { sampleRecord } from '../orders/sample-record.ts';
import { tableOrder } from '../orders/table-records.ts';
import { freePort } from '../run/free-port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { settingsWithTables } from '../run/settings-with-tables.ts';
import { ensureTopic } from '../stack/topic.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import { LocalConsumer } from './local-consumer.ts';
import type { StartOptions } from './options.ts';
import { prepareReplica, type ReplicaJob } from './replica-job.ts';
import { provideServers, type Servers } from './servers.ts';
import { prepareTables, type TableJob } from './table-job.ts';

const CONFIG_FILE = join(import.meta.dirname, '..', 'application.yml');
const USUAL_PORT = 8080;

/** Everything that runs before the first record is produced. */
export interface Job {
  readonly options: StartOptions;
  readonly names: Written;
  readonly partitions: number;
  readonly servers: Servers;
  readonly consumer: LocalConsumer;
  readonly producer: SampleProducer;
  readonly positions: PositionReader;
  /** The positions before the first record. */
  readonly first: Positions;
  /** Undefined without `--tables`. */
  readonly tables: TableJob | undefined;
  /** Undefined without `--cdc`. */
  readonly replica: ReplicaJob | undefined;
}

/**
 * Starts servers, topic and consumer in this order; the screen names each as it becomes ready.
 *
 * @throws ExplainedError when a server or the consumer does not become ready.
 */
export async function prepareJob(run: RunFolder, options: StartOptions, screen: Screen): Promise<Job> {
  const names = runNames(options);
  const servers = await provideServers(run, options, screen);
  const partitions = await ensureTopic(servers.kafka, names.topic, options.partitions);
  screen.line(`topic       ${names.topic}, ${partitions} partitions${stays(options.kafka)}`);
  screen.line(`schema      ${names.schema}${stays(options.database)}`);
  const positions = new PositionReader(servers.databaseUrl, servers.kafka, names);
  run.beforeClose(() => positions.disconnect());
  await positions.connect();
  // Before the consumer starts: its counters begin here, and it may have read what others produced before it is ready.
  const first = await positions.read();
  const tables = options.tables ? await prepareTables(run, { options, servers, names }, screen) : undefined;
  const replica = options.cdc ? await prepareReplica(run, { options, servers, names }, screen) : undefined;
  const consumer = await startConsumer(run, { options, servers, names, tables, replica }, screen);
  const recordAt = tables === undefined ? sampleRecord : tableOrder;
  const producer = new SampleProducer({ kafka: servers.kafka, topic: names.topic, partitions }, options.seed, recordAt);
  run.beforeClose(() => producer.disconnect().catch(() => undefined));
  await producer.connect();
  return {
    options,
    names,
    partitions,
    servers,
    consumer,
    producer,
    positions,
    first,
    tables,
    replica,
  };
}

/** Topics and schemas made in a Kafka or PostgreSQL of the user's are not removed. */
const stays = (server: string | undefined): string => (server === undefined ? '' : '; stays there after this run');

/**
 * Names that are free: plain ones where Kafka and PostgreSQL were made for this run, ones with a random part where they
 * are the user's. A position is stored by group, topic and partition, so a group is as lasting as the database.
 *
 * @param random letters and digits. @default eight random ones
 */
export function runNames(options: StartOptions, random: string = randomBytes(4).toString('hex')): Written {
  const ownKafka = options.kafka === undefined;
  const ownDatabase = options.database === undefined;
  return {
    topic: options.topic ?? (ownKafka ? 'orders' : `orders-${random}`),
    group: options.group ?? (ownKafka && ownDatabase ? PRODUCT_NAME : `${PRODUCT_NAME}-${random}`),
    schema: options.schema ?? (ownDatabase ? 'stream_consumer' : `stream_consumer_${random}`),
  };
}

/**
 * Starts the consumer with dev/application.yml as a separate process and waits until its health is UP.
 *
 * @throws ExplainedError with the end of its log when its health does not become UP.
 */
async function startConsumer(
  run: RunFolder,
  { options, servers, names, tables, replica }: Pick<Job, 'options' | 'servers' | 'names' | 'tables' | 'replica'>,
  screen: Screen,
): Promise<LocalConsumer> {
  screen.line('consumer    starting ...');
  const logFile = join(run.path, 'consumer.log');
  const entries = [...(tables?.entries ?? []), ...(replica?.entries ?? [])];
  const place = {
    ...{ run, screen, logFile, verbose: options.verbose },
    configFile: entries.length > 0 ? await settingsWithTables(run, entries) : CONFIG_FILE,
    env: {
      KAFKA_BROKERS: servers.brokers,
      KAFKA_TOPICS: names.topic,
      KAFKA_GROUP_ID: names.group,
      DATABASE_URL: servers.databaseUrl,
      DATABASE_SCHEMA: names.schema,
    },
  };
  const consumer = await LocalConsumer.start(place, options.port ?? (await freePort(USUAL_PORT)));
  screen.line(`consumer    ready, process ${consumer.current.pid}, log ${logFile}`);
  return consumer;
}
