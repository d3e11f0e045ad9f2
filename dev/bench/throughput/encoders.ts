import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { TOPICS } from './order-topics.ts';
import { median } from './throughput.ts';

const BUNDLE = join('build', 'bench', 'encoder-process.mjs');

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
interface EncoderTime {
  readonly title: string;
  /** Median of the medians of all repeats, and the least time of all. */
  readonly median: number;
  readonly least: number;
}

/**
 * Measures what the encoder takes for the same orders in each of their formats, without Kafka and PostgreSQL: each in a
 * separate process, bundled as the image is, one after the other.
 */
export async function measureEncoders(repeats: number): Promise<readonly EncoderTime[]> {
  await build({
    entryPoints: [join(import.meta.dirname, 'encoder-process.ts')],
    ...{ outfile: BUNDLE, bundle: true, format: 'esm', platform: 'node', target: 'node20.19' },
    ...{ packages: 'external', keepNames: false, logLevel: 'warning' },
  });
  const times = new Map<string, Pick<EncoderTime, 'median' | 'least'>[]>();
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const [topic, title] of Object.entries(MEASURED)) {
      const { stdout } = await promisify(execFile)(process.execPath, [BUNDLE, topic]);
      times.set(title, [...(times.get(title) ?? []), JSON.parse(stdout)]);
    }
  }
  return [...times].map(([title, each]) => ({
    title,
    median: median(each.map((time) => time.median)),
    least: Math.min(...each.map((time) => time.least)),
  }));
}
