import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { OrderProducer } from '../orders/order-producer.ts';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import { freePort } from '../run/free-port.ts';
import { describeExit, type ExitStatus } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { terminate } from '../stack/local-server.ts';
import { ensureTopic } from '../stack/topic.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import type { StartOptions } from './options.ts';
import { type Parts, provideParts } from './servers.ts';

/** Everything that runs before the first record is produced. */
export interface Job {
  readonly options: StartOptions;
  readonly names: RunNames;
  readonly partitions: number;
  readonly parts: Parts;
  readonly consumer: ConsumerProcess;
  /** Set when the consumer has ended, which it does not do unasked. */
  readonly consumerExit: () => ExitStatus | undefined;
  readonly producer: OrderProducer;
  readonly positions: PositionReader;
  /** The positions before the first record. */
  readonly first: Positions;
}

/** Topics and schemas made in a Kafka or PostgreSQL of the user's are not removed. */
const stays = (part: string | undefined): string => (part === undefined ? '' : '; stays there after this run');

/**
 * Starts parts, topic and consumer in this order, each told of as it becomes ready.
 *
 * @throws ExplainedError when one of them does not get there.
 */
export async function prepareJob(run: RunFolder, options: StartOptions, screen: Screen): Promise<Job> {
  const names = runNames(options);
  const parts = await provideParts(run, options, screen);
  const partitions = await ensureTopic(parts.kafka, names.topic, options.partitions);
  screen.line(`topic       ${names.topic}, ${partitions} partitions${stays(options.kafka)}`);
  screen.line(`schema      ${names.schema}${stays(options.database)}`);
  const positions = new PositionReader(parts.databaseUrl, parts.kafka, names);
  run.beforeClose(() => positions.disconnect());
  await positions.connect();
  // Before the consumer starts: its counters begin here, and it may have read what others produced before it is ready.
  const first = await positions.read();
  const consumer = await provideConsumer(run, options, parts, names, screen);
  let exit: ExitStatus | undefined;
  void consumer.exited.then((status) => {
    exit = status;
    if (!run.isClosed) {
      screen.line(`consumer    ended by itself: ${describeExit(status)}`);
    }
  });
  const producer = new OrderProducer({ kafka: parts.kafka, topic: names.topic, partitions }, options.seed);
  run.beforeClose(() => producer.disconnect().catch(() => undefined));
  await producer.connect();
  return { options, names, partitions, parts, consumer, consumerExit: () => exit, producer, positions, first };
}

/** Topic, group and schema of one run. */
interface RunNames {
  readonly topic: string;
  readonly group: string;
  readonly schema: string;
}

/**
 * Names that are free: plain ones where Kafka and PostgreSQL were made for this run, ones with a random part where they
 * are the user's. A position is stored by group, topic and partition, so a group is as lasting as the database.
 *
 * @param random letters and digits. @default eight random ones
 */
export function runNames(options: StartOptions, random: string = randomBytes(4).toString('hex')): RunNames {
  const ownKafka = options.kafka === undefined;
  const ownDatabase = options.database === undefined;
  return {
    topic: options.topic ?? (ownKafka ? 'orders' : `orders-${random}`),
    group: options.group ?? (ownKafka && ownDatabase ? PRODUCT_NAME : `${PRODUCT_NAME}-${random}`),
    schema: options.schema ?? (ownDatabase ? 'stream_consumer' : `stream_consumer_${random}`),
  };
}

const CONFIG_FILE = join(import.meta.dirname, '..', 'application.yml');
const USUAL_PORT = 8080;
/** Above the consumer's own `shutdown.timeout`, so that it is never killed while it drains. */
const DRAIN_TIMEOUT_MS = 30_000;
/** Warnings are no news here: poison is produced on purpose. */
const WORTH_SHOWING = ['error', 'fatal'];

/**
 * Starts the consumer with dev/application.yml as a separate process and waits until its health is UP.
 *
 * @throws ExplainedError with the end of its log when it does not get there.
 */
async function provideConsumer(
  run: RunFolder,
  options: StartOptions,
  parts: Parts,
  names: RunNames,
  screen: Screen,
): Promise<ConsumerProcess> {
  screen.line('consumer    starting ...');
  const consumer = await startConsumerProcess(run, {
    configFile: CONFIG_FILE,
    port: options.port ?? (await freePort(USUAL_PORT)),
    env: {
      KAFKA_BROKERS: parts.brokers,
      KAFKA_TOPICS: names.topic,
      KAFKA_GROUP_ID: names.group,
      DATABASE_URL: parts.databaseUrl,
      DATABASE_SCHEMA: names.schema,
    },
  });
  run.beforeClose(async () => {
    await terminate(consumer, 'SIGTERM', DRAIN_TIMEOUT_MS);
  });
  const logFile = join(run.path, 'consumer.log');
  const log = createWriteStream(logFile, { mode: 0o600 });
  consumer.logs.follow((line) => {
    log.write(`${line}\n`);
    if (options.verbose || isWorthShowing(line)) {
      screen.line(`consumer    ${line}`);
    }
  });
  await consumer.waitForHealth();
  screen.line(`consumer    ready, process ${consumer.pid}, log ${logFile}`);
  return consumer;
}

/** Whatever is no JSON did not come from the logger: that is worth seeing, too. */
function isWorthShowing(line: string): boolean {
  try {
    const { level } = JSON.parse(line) as { level?: unknown };
    return WORTH_SHOWING.includes(String(level));
  } catch {
    return true;
  }
}
