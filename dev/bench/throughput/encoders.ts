import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Message } from 'kafkajs';
import { orderMessage, type TOPICS } from './order-topics.ts';
import { recordSetOf, serveRecordSet } from './record-set-server.ts';
import { median } from './throughput.ts';

const BUNDLES = join('build', 'bench');

/** Records of a set: as many as fit into a batch that brokers take by default, with a schema in each, too. */
const RECORDS_IN_A_SET = 150;

/** Topics, each of the same orders in another form. */
const MEASURED = {
  orders: 'JSON',
  avro: 'Avro',
  protobuf: 'Protobuf',
  events: 'change events',
  eventsKept: 'change events, half without large values',
  eventsWithSchema: 'change events with a schema',
  avroEvents: 'change events in Avro',
} as const satisfies Partial<Record<keyof typeof TOPICS, string>>;

/** Microseconds of processor time a record. */
interface RecordTime {
  /** Median of the medians of all repeats. */
  readonly median: number;
  /** The least time of all. */
  readonly least: number;
}

/** What a record of a topic takes. */
interface TopicTimes {
  readonly title: string;
  /** Key and value of a record, in bytes. */
  readonly bytes: number;
  /** From the socket to an index of the records: two copies and the checksum. */
  readonly reading: RecordTime;
  readonly encoding: RecordTime;
}

/**
 * Measures what it takes to read the same orders in each of their formats from a socket, and to encode them, without
 * Kafka and PostgreSQL: each in a separate process, bundled as the image is, one after the other.
 */
export async function measureEncoders(repeats: number): Promise<readonly TopicTimes[]> {
  await build({
    entryPoints: ['encoder-process', 'reading-process'].map((name) => join(import.meta.dirname, `${name}.ts`)),
    ...{ outdir: BUNDLES, outExtension: { '.js': '.mjs' }, bundle: true, format: 'esm', platform: 'node' },
    ...{ target: 'node20.19', packages: 'external', keepNames: false, logLevel: 'warning' },
  });
  const topics = Object.keys(MEASURED) as readonly (keyof typeof MEASURED)[];
  const times = new Map(topics.map((topic) => [topic, { reading: [] as RecordTime[], encoding: [] as RecordTime[] }]));
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const [topic, { reading, encoding }] of times) {
      reading.push(await timeOfReading(topic));
      encoding.push(await timeOf('encoder-process', topic));
    }
  }
  return [...times].map(([topic, { reading, encoding }]) => ({
    title: MEASURED[topic],
    bytes: Math.round(setOf(topic).reduce((sum, message) => sum + bytesOf(message), 0) / RECORDS_IN_A_SET),
    reading: inAll(reading),
    encoding: inAll(encoding),
  }));
}

const setOf = (topic: keyof typeof TOPICS): readonly Message[] =>
  Array.from({ length: RECORDS_IN_A_SET }, (_, index) => orderMessage(topic, index));

const bytesOf = ({ key, value }: Message): number => Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '');

async function timeOfReading(topic: keyof typeof TOPICS): Promise<RecordTime> {
  const set = await recordSetOf(setOf(topic));
  const server = await serveRecordSet(set);
  try {
    return await timeOf('reading-process', server.port, RECORDS_IN_A_SET, set.length);
  } finally {
    server.close();
  }
}

async function timeOf(program: string, ...args: readonly (string | number)[]): Promise<RecordTime> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(BUNDLES, `${program}.mjs`),
    ...args.map(String),
  ]);
  return JSON.parse(stdout);
}

const inAll = (times: readonly RecordTime[]): RecordTime => ({
  median: median(times.map((time) => time.median)),
  least: Math.min(...times.map((time) => time.least)),
});
