import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { METRICS } from '../../contract/metrics.ts';
import type { ConsumerProcess } from '../run/consumer-process.ts';
import type { Stack } from '../stack/local-stack.ts';
import { startBenchConsumer } from './bench-consumer.ts';
import { cpuSeconds, shareOfCore } from './processor-time.ts';
import { Scraper, type Scrapes } from './scraper.ts';
import { type SteadyLoad, startSteadyLoad } from './steady-load.ts';

/** Pauses between two scrapes: ten scrapes a second at most, as many as Prometheus would hardly ask for. */
const PAUSES_MS = 100;
const SCRAPES_AT_REST = 300;
const SCRAPES_OF_STEADY_LOAD = 300;

/** How often it is asked how far the consumer is: seldom, since that is work for it, too. */
const ASK_EVERY_MS = 1_000;

/** Records a second of the steady load. */
export const STEADY_RATE = 5_000;

const SECONDS_AT_REST = 5;

/** What scrapes of a consumer cost; times in milliseconds. */
export interface ScrapeResult {
  readonly series: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** Scrapes while a backlog was consumed as fast as could be. */
  readonly ofBacklog: Scrapes;
  /** Scrapes while {@link STEADY_RATE} records a second were produced and consumed. */
  readonly ofSteadyLoad: Scrapes;
  /** Scrapes when there was nothing else to do. */
  readonly atRest: Scrapes;
  /** Processor time of the consumer for one scrape. */
  readonly cpuPerScrape: number;
}

async function consumed({ get: ask, endpoint }: ConsumerProcess): Promise<number> {
  const answer = await ask(`${endpoint.metricsPath}/${METRICS.rowsWritten.name}`);
  const { measurements } = (await answer.json()) as { measurements: readonly { value: number }[] };
  return measurements[0]?.value ?? 0;
}

/** Scrapes until so many records are consumed. */
async function scrapesOfBacklog(scraper: Scraper, consumer: ConsumerProcess, records: number): Promise<Scrapes> {
  const scrapes = scraper.scrape({ pausesMs: PAUSES_MS, count: Number.POSITIVE_INFINITY });
  await untilConsumed(consumer, records);
  scraper.over();
  return scrapes;
}

async function scrapesOfSteadyLoad(scraper: Scraper, consumer: ConsumerProcess, load: SteadyLoad): Promise<Scrapes> {
  const stop = await startSteadyLoad(load);
  const scrapes = await scraper.scrape({ pausesMs: PAUSES_MS, count: SCRAPES_OF_STEADY_LOAD });
  await untilConsumed(consumer, await stop());
  return scrapes;
}

async function untilConsumed(consumer: ConsumerProcess, records: number): Promise<void> {
  while ((await consumed(consumer)) < records) {
    await delay(ASK_EVERY_MS);
  }
}

async function scrapesAtRest(scraper: Scraper, consumer: ConsumerProcess) {
  const idleShare = await shareOfCore(consumer.pid, SECONDS_AT_REST);
  const [cpuBefore, began] = [cpuSeconds(consumer.pid), performance.now()];
  const scrapes = await scraper.scrape({ pausesMs: PAUSES_MS, count: SCRAPES_AT_REST });
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
  const scraper = new Scraper({ port: consumer.port, path: consumer.endpoint.prometheusPath });
  try {
    await consumer.logs.waitFor(/"msg":"assigned"/);
    const ofBacklog = await scrapesOfBacklog(scraper, consumer, load.from);
    const ofSteadyLoad = await scrapesOfSteadyLoad(scraper, consumer, { ...load, recordsPerSecond: STEADY_RATE });
    const { scrapes: atRest, cpu } = await scrapesAtRest(scraper, consumer);
    const cpuPerScrape = (cpu * 1_000) / SCRAPES_AT_REST;
    return { ...sizesOf(atRest), ofBacklog, ofSteadyLoad, atRest, cpuPerScrape };
  } finally {
    scraper.close();
    consumer.kill('SIGTERM');
    await consumer.exited;
  }
}

function sizesOf({ body }: Scrapes): Pick<ScrapeResult, 'series' | 'bytes' | 'compressedBytes'> {
  const text = gunzipSync(body);
  const series = text.toString().match(/^[^#]/gm)?.length ?? 0;
  return { series, bytes: text.length, compressedBytes: body.length };
}
