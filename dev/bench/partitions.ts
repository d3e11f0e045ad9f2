import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import type { ConsumerProcess } from '../run/consumer-process.ts';
import type { Stack } from '../stack/local-stack.ts';
import { ensureTopic } from '../stack/topic.ts';
import { cpuSeconds, shareOfCore, WARM_UP_SECONDS } from './bench-consumer.ts';
import { startConsumer, untilRows } from './measured-program.ts';
import { produceRecords } from './produce-records.ts';

const TOPIC = 'partitioned';
const POLL_MS = 50;
/** Of a partition in one produce request, and so in one batch. */
const RECORDS_PER_BATCH = 5;
const LEAST_PER_REQUEST = 3_000;
const LOADS = 3;
const SCRAPES = 30;
/** How long the event loop is watched for each scrape, and as long without any. */
const STRETCH_MS = 500;
/** As Prometheus asks. */
const HEADERS = { accept: 'application/openmetrics-text;version=1.0.0', 'accept-encoding': 'gzip' };
const LOOP_DELAY = pathToFileURL(join(import.meta.dirname, 'loop-delay.mjs')).href;
/** How the lines begin that it writes. */
const LOOP_DELAY_LINE = 'loop-delay';

/** What one load took. */
interface Work {
  /** Processor time from the first produce request to the last row. */
  readonly cpuSeconds: number;
  /** Time of that. */
  readonly seconds: number;
}

interface PartitionsResult {
  /** Share of one core with nothing to read. */
  readonly idleShare: number;
  /** The same load several times: during the first one V8 compiles code, and the broker makes its files. */
  readonly loads: readonly Work[];
  /** Text of the last scrape. */
  readonly scrape: string;
  /** How long the event loop was held at most, in milliseconds, while each scrape was answered; ascending. */
  readonly held: readonly number[];
  /** The same over as many stretches without a scrape. */
  readonly heldUnscraped: readonly number[];
}

interface PartitionsPlan {
  readonly partitions: number;
  readonly records: number;
  /** How long to watch it at rest. */
  readonly seconds: number;
}

/**
 * One consumer of many partitions: at rest, with records in small batches for all of them, and scraped.
 *
 * @param env environment variables of the consumer
 */
export async function measurePartitions(
  stack: Stack,
  { partitions, records, seconds }: PartitionsPlan,
  env: Readonly<Record<string, string>>,
): Promise<PartitionsResult> {
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.NOTHING });
  await ensureTopic(kafka, TOPIC, partitions);
  const watched = { ...env, NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} --import=${LOOP_DELAY}` };
  const consumer = await startConsumer(stack, { topics: [TOPIC], schema: TOPIC }, watched);
  try {
    await shareOfCore(consumer.pid, WARM_UP_SECONDS);
    const idleShare = await shareOfCore(consumer.pid, seconds);
    const perRequest = Math.max(LEAST_PER_REQUEST, partitions * RECORDS_PER_BATCH);
    const loads: Work[] = [];
    while (loads.length < LOADS) {
      const [cpuBefore, began] = [cpuSeconds(consumer.pid), performance.now()];
      await produceRecords(kafka, { topics: [TOPIC], partitions, records, perRequest });
      const { at } = await untilRows(consumer, (loads.length + 1) * records, POLL_MS);
      loads.push({ cpuSeconds: cpuSeconds(consumer.pid) - cpuBefore, seconds: (at - began) / 1_000 });
    }
    return { loads, idleShare, ...(await measureHeld(consumer)) };
  } finally {
    await consumer.stop();
  }
}

async function measureHeld(
  consumer: ConsumerProcess,
): Promise<Pick<PartitionsResult, 'scrape' | 'held' | 'heldUnscraped'>> {
  const [held, heldUnscraped]: [number[], number[]] = [[], []];
  let scrape = '';
  while (held.length < SCRAPES) {
    heldUnscraped.push(await heldMeanwhile(consumer, async () => undefined));
    const scraped = async () => {
      scrape = await scrapeOf(consumer);
    };
    held.push(await heldMeanwhile(consumer, scraped));
  }
  const ascending = (times: readonly number[]) => [...times].sort((a, b) => a - b);
  return { scrape, held: ascending(held), heldUnscraped: ascending(heldUnscraped) };
}

async function scrapeOf({ port, endpoint }: ConsumerProcess): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${endpoint.prometheusPath}`, { headers: HEADERS });
  return answer.text();
}

/**
 * The longest time that the event loop was held while some work was done, in milliseconds; loop-delay.mjs watches it.
 */
async function heldMeanwhile({ kill, logs }: ConsumerProcess, work: () => Promise<void>): Promise<number> {
  const nth = logs.all.filter((line) => line.startsWith(LOOP_DELAY_LINE)).length / 2 + 1;
  kill('SIGUSR2');
  await logs.waitFor(new RegExp(`^${LOOP_DELAY_LINE} ${nth} begins$`));
  await Promise.all([work(), delay(STRETCH_MS)]);
  kill('SIGUSR2');
  const line = await logs.waitFor(new RegExp(`^${LOOP_DELAY_LINE} ${nth} [\\d.]+ ms$`));
  return Number(line.split(' ').at(-2));
}
