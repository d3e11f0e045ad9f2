import { OrderProducer } from '../orders/order-producer.ts';
import type { ConsumerProcess } from '../run/consumer-process.ts';
import { describeExit, type ExitStatus } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { ensureTopic } from '../stack/topic.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import { provideConsumer } from './consumer.ts';
import { type RunNames, runNames } from './names.ts';
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
