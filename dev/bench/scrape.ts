import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { METRICS } from '../../contract/metrics.ts';
import type { ConsumerProcess } from '../consumer-process.ts';
import type { Stack } from '../stack.ts';
import { startBenchConsumer } from './bench-consumer.ts';
import { cpuSeconds, shareOfCore } from './processor-time.ts';

/** While records are consumed, a scrape begins this often: ten times as often as Prometheus would at most. */
const EVERY_MS = 100;
const SCRAPES_AT_REST = 500;
const SECONDS_AT_REST = 5;

/** What Prometheus sends. */
const HEADERS = { accept: 'application/openmetrics-text;version=1.0.0', 'accept-encoding': 'gzip' };

/** What scrapes of a consumer cost; times in milliseconds. */
export interface ScrapeResult {
  readonly series: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** How long each scrape took while records were consumed, ascending. */
  readonly underLoad: readonly number[];
  /** How long each scrape took when there was nothing else to do, ascending. */
  readonly atRest: readonly number[];
  /** Processor time of the consumer for one scrape. */
  readonly cpuPerScrape: number;
}

interface Scrape {
  readonly milliseconds: number;
  readonly body: Buffer;
}

/** One scrape over a connection that stays open, as Prometheus does it, until its last byte. */
function scrape(agent: Agent, { port, endpoint }: ConsumerProcess): Promise<Scrape> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    get({ agent, port, host: '127.0.0.1', path: endpoint.prometheusPath, headers: HEADERS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ milliseconds: performance.now() - began, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

async function consumed({ get: ask, endpoint }: ConsumerProcess): Promise<number> {
  const answer = await ask(`${endpoint.metricsPath}/${METRICS.rowsWritten.name}`);
  const { measurements } = (await answer.json()) as { measurements: readonly { value: number }[] };
  return measurements[0]?.value ?? 0;
}

async function scrapeWhileConsuming(agent: Agent, consumer: ConsumerProcess, records: number): Promise<number[]> {
  const times: number[] = [];
  while ((await consumed(consumer)) < records) {
    times.push((await scrape(agent, consumer)).milliseconds);
    await delay(EVERY_MS);
  }
  return times.sort((a, b) => a - b);
}

/**
 * Scrapes a consumer while it works its way through a topic, and after that; the topic is full when this is called.
 *
 * The cost is measured as processor time, not as a difference of two throughputs: one of them alone varies by more.
 */
export async function measureScrapes(stack: Stack, topic: string, records: number): Promise<ScrapeResult> {
  const consumer = await startBenchConsumer(stack, topic, {});
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await consumer.logs.waitFor(/"msg":"assigned"/);
  const underLoad = await scrapeWhileConsuming(agent, consumer, records);
  const idleShare = await shareOfCore(consumer.pid, SECONDS_AT_REST);
  const [cpuBefore, began] = [cpuSeconds(consumer.pid), performance.now()];
  const scrapes: Scrape[] = [];
  while (scrapes.length < SCRAPES_AT_REST) {
    scrapes.push(await scrape(agent, consumer));
  }
  const idleSeconds = (idleShare * (performance.now() - began)) / 1_000;
  const cpu = cpuSeconds(consumer.pid) - cpuBefore - idleSeconds;
  agent.destroy();
  consumer.kill('SIGTERM');
  await consumer.exited;
  const compressed = scrapes.at(-1)?.body ?? Buffer.alloc(0);
  const text = gunzipSync(compressed);
  return {
    series: text.toString().match(/^[^#]/gm)?.length ?? 0,
    bytes: text.length,
    compressedBytes: compressed.length,
    underLoad,
    atRest: scrapes.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b),
    cpuPerScrape: (cpu * 1_000) / SCRAPES_AT_REST,
  };
}
