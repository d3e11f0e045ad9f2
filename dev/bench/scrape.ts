import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { METRICS } from '../../contract/metrics.ts';
import type { ConsumerProcess } from '../consumer-process.ts';
import type { Stack } from '../stack.ts';
import { startBenchConsumer } from './bench-consumer.ts';
import { cpuSeconds, shareOfCore } from './processor-time.ts';
import { type SteadyLoad, startSteadyLoad } from './steady-load.ts';

/** While records are consumed, a scrape begins this often: ten times as often as Prometheus would at most. */
const EVERY_MS = 100;
const SCRAPES_AT_REST = 500;
const SCRAPES_OF_STEADY_LOAD = 300;

/** Records a second of the steady load. */
export const STEADY_RATE = 5_000;

const SECONDS_AT_REST = 5;

/** What Prometheus sends. */
const HEADERS = { accept: 'application/openmetrics-text;version=1.0.0', 'accept-encoding': 'gzip' };

/** What scrapes of a consumer cost; times in milliseconds. */
export interface ScrapeResult {
  readonly series: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** How long each scrape took while a backlog was consumed as fast as could be, ascending. */
  readonly ofBacklog: readonly number[];
  /** How long each scrape took while {@link STEADY_RATE} records a second were produced and consumed, ascending. */
  readonly ofSteadyLoad: readonly number[];
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

const ascending = (times: readonly number[]): number[] => [...times].sort((a, b) => a - b);

async function scrapesOfBacklog(agent: Agent, consumer: ConsumerProcess, records: number): Promise<number[]> {
  const times: number[] = [];
  while ((await consumed(consumer)) < records) {
    times.push((await scrape(agent, consumer)).milliseconds);
    await delay(EVERY_MS);
  }
  return ascending(times);
}

async function scrapesOfSteadyLoad(agent: Agent, consumer: ConsumerProcess, load: SteadyLoad): Promise<number[]> {
  const stop = await startSteadyLoad(load);
  const times: number[] = [];
  while (times.length < SCRAPES_OF_STEADY_LOAD) {
    await delay(EVERY_MS);
    times.push((await scrape(agent, consumer)).milliseconds);
  }
  const records = await stop();
  while ((await consumed(consumer)) < records) {
    await delay(EVERY_MS);
  }
  return ascending(times);
}

async function scrapesAtRest(agent: Agent, consumer: ConsumerProcess) {
  const idleShare = await shareOfCore(consumer.pid, SECONDS_AT_REST);
  const [cpuBefore, began] = [cpuSeconds(consumer.pid), performance.now()];
  const scrapes: Scrape[] = [];
  while (scrapes.length < SCRAPES_AT_REST) {
    scrapes.push(await scrape(agent, consumer));
  }
  const idleSeconds = (idleShare * (performance.now() - began)) / 1_000;
  return { scrapes, cpu: cpuSeconds(consumer.pid) - cpuBefore - idleSeconds };
}

/**
 * Scrapes a consumer while it works its way through a topic, while it keeps up with what is produced, and with nothing to do;
 * the topic is full when this is called.
 *
 * The cost is measured as processor time, not as a difference of two throughputs: one of them alone varies by more.
 */
export async function measureScrapes(stack: Stack, load: Omit<SteadyLoad, 'recordsPerSecond'>): Promise<ScrapeResult> {
  const consumer = await startBenchConsumer(stack, load.topic, {});
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await consumer.logs.waitFor(/"msg":"assigned"/);
  const ofBacklog = await scrapesOfBacklog(agent, consumer, load.from);
  const ofSteadyLoad = await scrapesOfSteadyLoad(agent, consumer, { ...load, recordsPerSecond: STEADY_RATE });
  const { scrapes, cpu } = await scrapesAtRest(agent, consumer);
  agent.destroy();
  consumer.kill('SIGTERM');
  await consumer.exited;
  const compressed = scrapes.at(-1)?.body ?? Buffer.alloc(0);
  const text = gunzipSync(compressed);
  return {
    series: text.toString().match(/^[^#]/gm)?.length ?? 0,
    bytes: text.length,
    compressedBytes: compressed.length,
    ofBacklog,
    ofSteadyLoad,
    atRest: ascending(scrapes.map(({ milliseconds }) => milliseconds)),
    cpuPerScrape: (cpu * 1_000) / SCRAPES_AT_REST,
  };
}
