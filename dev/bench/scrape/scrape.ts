import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { METRICS } from '../../../contract/metrics.ts';
import type { ConsumerProcess } from '../../run/consumer-process.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { cpuSeconds, shareOfCore, startBenchConsumer } from '../bench-consumer.ts';
import { forkSource, message } from '../forked-source.ts';
import { type SteadyLoad, startSteadyLoad } from '../produce-records.ts';

/** At most ten scrapes a second, far more than Prometheus makes. */
const PAUSES_MS = 100;
const SCRAPES_AT_REST = 300;
const SCRAPES_OF_STEADY_LOAD = 300;
const SECONDS_AT_REST = 5;

/** Seldom: each request for the number of rows is work for the consumer, too. */
const POLL_MS = 1_000;

/** Records a second of the steady load. */
export const STEADY_RATE = 5_000;

/** A series of scrapes. */
export interface Scrapes {
  /** Duration of each scrape, ascending. */
  readonly milliseconds: readonly number[];
  /** Durations of requests to an idle server, made in between: what the machine and the client take by themselves. */
  readonly ofEmptyServer: readonly number[];
  /** Compressed body of the last scrape. */
  readonly body: Uint8Array;
}

/** What scrapes of a consumer cost; times in milliseconds. */
interface ScrapeResult {
  readonly series: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** Scrapes while a backlog was consumed as fast as possible. */
  readonly ofBacklog: Scrapes;
  /** Scrapes while {@link STEADY_RATE} records a second were produced and consumed. */
  readonly ofSteadyLoad: Scrapes;
  /** Scrapes while nothing was produced. */
  readonly atRest: Scrapes;
  /** Processor time of the consumer for one scrape. */
  readonly cpuPerScrape: number;
}

/**
 * Scrapes a consumer while it works off the topic's backlog, keeps up with a steady load, and is idle.
 *
 * The cost is measured as processor time, not as a difference of two throughputs: one of them alone varies by more.
 *
 * @param env environment variables of the consumer
 */
export async function measureScrapes(
  stack: Stack,
  load: Omit<SteadyLoad, 'recordsPerSecond'>,
  env: Readonly<Record<string, string>>,
): Promise<ScrapeResult> {
  const consumer = await startBenchConsumer(stack, { topics: load.topics }, env);
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

async function scrapesAtRest(scraper: Scraper, consumer: ConsumerProcess) {
  const idleShare = await shareOfCore(consumer.pid, SECONDS_AT_REST);
  const [cpuBefore, began] = [cpuSeconds(consumer.pid), performance.now()];
  const scrapes = await scraper.scrape({ pausesMs: PAUSES_MS, count: SCRAPES_AT_REST });
  const idleSeconds = (idleShare * (performance.now() - began)) / 1_000;
  return { scrapes, cpu: cpuSeconds(consumer.pid) - cpuBefore - idleSeconds };
}

async function untilConsumed(consumer: ConsumerProcess, records: number): Promise<void> {
  while ((await rowsWritten(consumer)) < records) {
    await delay(POLL_MS);
  }
}

async function rowsWritten({ get, endpoint }: ConsumerProcess): Promise<number> {
  const answer = await get(`${endpoint.metricsPath}/${METRICS.rowsWritten.name}`);
  const { measurements } = (await answer.json()) as { measurements: readonly { value: number }[] };
  return measurements[0]?.value ?? 0;
}

function sizesOf({ body }: Scrapes): Pick<ScrapeResult, 'series' | 'bytes' | 'compressedBytes'> {
  const text = gunzipSync(body);
  const series = text.toString().match(/^[^#]/gm)?.length ?? 0;
  return { series, bytes: text.length, compressedBytes: body.length };
}

interface ScrapePlan {
  /** Sum of the pauses between two scrapes. */
  readonly pausesMs: number;
  /** Most scrapes to make. */
  readonly count: number;
}

/** A path on a port of this machine. */
export interface ScrapeTarget {
  readonly port: number;
  readonly path: string;
}

/** Message to scrape-process.ts, which answers with {@link Scrapes}. */
export interface ScrapeOrder extends ScrapePlan {
  readonly target: ScrapeTarget;
  readonly empty: ScrapeTarget;
}

/**
 * Scrapes from another process, which ends with this one: here a scrape would also wait for the load that is
 * produced. Between two scrapes it makes a request to an idle server, in a third process.
 */
class Scraper {
  readonly #target: ScrapeTarget;
  readonly #process = forkSource('scrape/scrape-process.ts');
  readonly #emptyServer = forkSource('scrape/empty-server.ts');
  readonly #emptyPort: Promise<number>;

  constructor(target: ScrapeTarget) {
    this.#target = target;
    this.#emptyPort = message<number>(this.#emptyServer);
  }

  /** Scrapes as planned, or until {@link over}. */
  async scrape(plan: ScrapePlan): Promise<Scrapes> {
    const order: ScrapeOrder = {
      ...plan,
      target: this.#target,
      empty: { port: await this.#emptyPort, path: '/' },
    };
    const done = message<Scrapes>(this.#process);
    this.#process.send(order);
    return done;
  }

  /** Makes the scrape under way the last one. */
  over(): void {
    this.#process.send('over');
  }

  close(): void {
    for (const child of [this.#process, this.#emptyServer].filter(({ connected }) => connected)) {
      child.disconnect();
    }
  }
}
