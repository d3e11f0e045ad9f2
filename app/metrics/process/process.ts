import { statfs } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { shortCommit } from '../../../contract/build-info.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { LOG_LEVELS, type LogLevel } from '../../../contract/metrics/definition.ts';
import { LabelledCounts, type MetricSources, optional, single } from '../exposition/metric-source.ts';
import type { ProductBuild } from './product-build.ts';

type StartMetrics = Pick<
  MetricSources,
  'startTime' | 'uptime' | 'runtimeInfo' | 'buildInfo' | 'applicationStarted' | 'applicationReady'
>;

const RUNTIME = { runtime: 'Node.js', vendor: 'OpenJS Foundation', version: process.version };
const APPLICATION = { main_application_class: PRODUCT_NAME };

/**
 * Start of the process, its runtime and build, and the seconds that the start took; these have no series before its
 * end.
 */
export class ProcessStart {
  readonly #build: Pick<ProductBuild, 'version' | 'commit'>;
  #started: number | null = null;
  #ready: number | null = null;

  constructor(build: Pick<ProductBuild, 'version' | 'commit'>) {
    this.#build = build;
  }

  /** The HTTP interface listens. */
  started(): void {
    this.#started ??= process.uptime();
  }

  /** The consumer does its work from now on. */
  ready(): void {
    this.#ready ??= process.uptime();
  }

  get sources(): StartMetrics {
    const { version, commit } = this.#build;
    return {
      startTime: single(() => performance.timeOrigin / 1_000),
      uptime: single(() => process.uptime()),
      runtimeInfo: single(() => 1, RUNTIME),
      buildInfo: single(() => 1, { version, ...(commit !== undefined && { commit: shortCommit(commit) }) }),
      applicationStarted: optional(() => this.#started, APPLICATION),
      applicationReady: optional(() => this.#ready, APPLICATION),
    };
  }
}

type ProcessorMetrics = Pick<MetricSources, 'cpuUsage' | 'cpuTime' | 'systemCpuUsage' | 'cpuCount' | 'loadAverage'>;

/** Readings closer together than this repeat the one before: a share of a moment is worth nothing. */
const SHORTEST_CPU_WINDOW_MS = 1_000;

/** Processor time of the process and the machine. */
export function processCpuSources(): ProcessorMetrics {
  return {
    cpuUsage: single(shareSince(processTimes)),
    cpuTime: single(() => usedMs() * 1_000_000),
    systemCpuUsage: single(shareSince(systemTimes)),
    cpuCount: single(availableParallelism),
    loadAverage: single(() => loadavg()[0] ?? 0),
  };
}

/** Processor time, in milliseconds, that was used and that could have been used, both since some moment in the past. */
interface ProcessorTimes {
  readonly usedMs: number;
  readonly availableMs: number;
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function processTimes(): ProcessorTimes {
  return { usedMs: usedMs(), availableMs: process.uptime() * 1_000 * availableParallelism() };
}

function systemTimes(): ProcessorTimes {
  let [usedMs, availableMs] = [0, 0];
  for (const { times } of cpus()) {
    const busy = times.user + times.nice + times.sys + times.irq;
    usedMs += busy;
    availableMs += busy + times.idle;
  }
  return { usedMs, availableMs };
}

/** Share of the time that was used since the reading before; at first, since the moment that the times count from. */
function shareSince(read: () => ProcessorTimes): () => number {
  let last = { atMs: Number.NEGATIVE_INFINITY, usedMs: 0, availableMs: 0, share: 0 };
  return () => {
    const atMs = performance.now();
    if (atMs - last.atMs >= SHORTEST_CPU_WINDOW_MS) {
      const { usedMs, availableMs } = read();
      const available = availableMs - last.availableMs;
      const share = available > 0 ? (usedMs - last.usedMs) / available : last.share;
      last = { atMs, usedMs, availableMs, share: Math.min(1, Math.max(0, share)) };
    }
    return last.share;
  };
}

/**
 * Free and total bytes of a file system. A file system that hangs may hang for ever, so a scrape shows the last reading
 * and starts the next one; there is no series before the first answer.
 */
export class DiskSpace {
  readonly #path: string;
  #space: { readonly free: number; readonly total: number } | null = null;
  #reading: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  /** Reads anew; calls during a reading join it. Never rejects. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  get sources(): Pick<MetricSources, 'diskFree' | 'diskTotal'> {
    const labels = { path: this.#path };
    return {
      diskFree: () => {
        void this.refresh();
        return this.#space === null ? [] : [{ labels, value: this.#space.free }];
      },
      diskTotal: () => (this.#space === null ? [] : [{ labels, value: this.#space.total }]),
    };
  }

  async #read(): Promise<void> {
    try {
      const { blocks, bavail, bsize } = await statfs(this.#path);
      this.#space = { free: bavail * bsize, total: blocks * bsize };
    } catch {
      this.#space = null;
    }
  }
}

/** Pino's levels as numbers; a number between two of them counts as the lower one. */
const LEVELS: readonly (readonly [number, LogLevel])[] = [
  [50, 'error'],
  [40, 'warn'],
  [30, 'info'],
  [20, 'debug'],
  [0, 'trace'],
];

/** Counts the lines of the log by Logback's levels, and those that did not get out. */
export class LogEvents {
  readonly #counts = new LabelledCounts('level', LOG_LEVELS);
  #dropped = 0;

  /** @param level pino's number of the line's level */
  count(level: number): void {
    const [, name = 'trace'] = LEVELS.find(([least]) => level >= least) ?? [];
    this.#counts.add(name);
  }

  /** A line was lost. */
  dropped(): void {
    this.#dropped += 1;
  }

  get sources(): Pick<MetricSources, 'logEvents' | 'logLinesDropped'> {
    return { logEvents: this.#counts.source, logLinesDropped: single(() => this.#dropped) };
  }
}
