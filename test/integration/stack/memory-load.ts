import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { CompressionTypes } from 'kafkajs';
import { DEFAULT_MEMORY_LIMIT, memoryBytes as limitBytes } from '../../../deployment/sections/resources.ts';
import { memoryBytes } from '../../../dev/bench/bench-consumer.ts';
import { podEnvironment } from '../../../dev/run/pod-environment.ts';
import { query, withDatabase } from './database.ts';
import { createTopic, kafkaClient } from './kafka-client.ts';
import { memoryGroup } from './memory-group.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from './start-consumer.ts';
import { until } from './until.ts';

const MEBIBYTE = 2 ** 20;

/** What a Pod gets by a memory limit: the share of it that the manifests give to V8's heap, and the image's malloc. */
export interface PodMemory {
  readonly bytes: number;
  readonly env: Readonly<Record<string, string>>;
}

/** @param limit as in consumer.yaml. @default that of a Pod for which consumer.yaml names none */
export const podWith = (limit: string = DEFAULT_MEMORY_LIMIT): PodMemory => ({
  bytes: limitBytes(limit),
  env: podEnvironment(limit),
});

/** What a Pod gets by default. */
export const POD = podWith();

/** Records that wait in Kafka while their table is locked. */
export interface MemoryLoad {
  readonly partitions: number;
  readonly recordBytes: number;
  /** Content of all records. */
  readonly totalBytes: number;
  /** Values that gzip makes about 13 times smaller, and a producer that does. @default false */
  readonly isCompressed?: boolean;
  readonly lockMs: number;
}

/** The most that one request of the producer holds, and what of it is of one partition before it is the next one's turn. */
const REQUEST_BYTES = 4 * MEBIBYTE;
const BATCH_BYTES = 128 * 1_024;

/** The producer makes one batch of what a request holds of a partition, and brokers take batches of 1 MiB. */
const TURNS_PER_REQUEST = 6;

/** Of a value that gzip makes 13 times smaller, about this share is random; a byte of it is two hexadecimal digits. */
const RANDOM_SHARE = 0.12;

function valueNumbered({ recordBytes, isCompressed = false }: MemoryLoad, id: number): string {
  const random = isCompressed ? randomBytes(Math.round((recordBytes * RANDOM_SHARE) / 2)).toString('hex') : '';
  const head = `{"id":${id},"random":"${random}","pad":"`;
  return `${head}${'x'.repeat(Math.max(0, recordBytes - head.length - 2))}"}`;
}

/** Produces the load, the same number of records for each partition, and gives their number. */
export async function produceLoad(topic: string, load: MemoryLoad, totalBytes: number): Promise<number> {
  const perBatch = Math.max(1, Math.floor(BATCH_BYTES / load.recordBytes));
  const batches = Math.ceil(totalBytes / load.partitions / load.recordBytes / perBatch) * load.partitions;
  const mostPerRequest = Math.floor(REQUEST_BYTES / (perBatch * load.recordBytes));
  const perRequest = Math.max(1, Math.min(mostPerRequest, load.partitions * TURNS_PER_REQUEST));
  const compression = load.isCompressed ? CompressionTypes.GZIP : CompressionTypes.None;
  const producer = kafkaClient().producer({ allowAutoTopicCreation: false });
  await producer.connect();
  for (let from = 0; from < batches; from += perRequest) {
    const messages = Array.from({ length: Math.min(perRequest, batches - from) * perBatch }, (_, nth) => ({
      partition: (from + Math.floor(nth / perBatch)) % load.partitions,
      value: valueNumbered(load, from * perBatch + nth),
    }));
    await producer.send({ topic, messages, compression });
  }
  await producer.disconnect();
  return batches * perBatch;
}

/** Waits until so many rows are there, and makes sure that each offset is there once. */
export async function awaitRows(schema: string, records: number): Promise<void> {
  const [row] = await until(
    `${records} rows`,
    async () => {
      const counted = await query<{ rows: number; offsets: number }>(
        `SELECT count(*)::int AS rows, count(DISTINCT (partition, "offset"))::int AS offsets FROM ${schema}.records`,
      );
      return (counted[0]?.rows ?? 0) >= records ? counted : undefined;
    },
    300_000,
  );
  expect(row).toEqual({ rows: records, offsets: records });
}

const started: StartedConsumer[] = [];

/** Ends the consumers of this test: they take a part of the processor from the next one. */
export async function stopPods(): Promise<void> {
  const running = started.splice(0);
  for (const { kill } of running) {
    kill('SIGKILL');
  }
  await Promise.all(running.map(({ exited }) => exited));
}

/** A consumer of the topic in a group with the memory of a Pod, of a default one unless said otherwise. */
export async function startInPod(topic: string, settings: ConsumerUnderTest['settings'] = {}, pod: PodMemory = POD) {
  const group = await memoryGroup(pod.bytes);
  const consumer = await startConsumer({ topics: [topic], env: pod.env, shell: group.shell, settings });
  started.push(consumer);
  await consumer.waitForHealth();
  return { consumer, group };
}

/** What the load did to the process. */
export interface MemoryFigures {
  /** Resident bytes after a first round of records. */
  readonly before: number;
  /** The most that was resident at any time. */
  readonly peak: number;
  readonly kills: number;
  readonly consumer: StartedConsumer;
}

/** Lets the load wait behind a lock on its table, and then be written: every record once. */
export async function applyLoad(load: MemoryLoad, pod: PodMemory = POD): Promise<MemoryFigures> {
  const topic = await createTopic({ partitions: load.partitions });
  const { consumer, group } = await startInPod(topic, {}, pod);
  const work = async (): Promise<number> => {
    const first = await produceLoad(topic, load, load.totalBytes / 10);
    await awaitRows(consumer.schema, first);
    const before = memoryBytes(consumer.pid, 'VmRSS');
    const waiting = await produceBehindLock(consumer, topic, load);
    await awaitRows(consumer.schema, first + waiting);
    return before;
  };
  const ended = consumer.exited.then((exit) => {
    throw new Error(`the consumer ended: ${JSON.stringify(exit)}; processes killed for their memory: ${group.kills()}`);
  });
  const before = await Promise.race([work(), ended]);
  ended.catch(() => undefined);
  return { before, peak: memoryBytes(consumer.pid, 'VmHWM'), kills: group.kills(), consumer };
}

const produceBehindLock = ({ schema }: StartedConsumer, topic: string, load: MemoryLoad): Promise<number> =>
  withDatabase(async ({ client }) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`);
    const [produced] = await Promise.all([produceLoad(topic, load, load.totalBytes), delay(load.lockMs)]);
    await client.query('ROLLBACK');
    return produced;
  });
