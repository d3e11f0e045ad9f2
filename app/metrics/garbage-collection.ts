import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { MetricSources } from './metric-source.ts';
import { RecentSum } from './time-windows.ts';
import { Timer } from './timer.ts';

/** V8's kinds of collection in Micrometer's labels: `action` says what ended, `cause` names V8's phase, `gc` the collector. */
const PAUSES = new Map<number, { action: string; cause: string; gc: string }>([
  [constants.NODE_PERFORMANCE_GC_MINOR, { action: 'end of minor GC', cause: 'scavenge', gc: 'V8 young' }],
  [constants.NODE_PERFORMANCE_GC_MAJOR, { action: 'end of major GC', cause: 'mark sweep compact', gc: 'V8 old' }],
  [
    constants.NODE_PERFORMANCE_GC_INCREMENTAL,
    { action: 'end of major GC', cause: 'incremental marking', gc: 'V8 old' },
  ],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, { action: 'end of major GC', cause: 'weak callbacks', gc: 'V8 old' }],
]);

/** Micrometer looks back as far. */
const OVERHEAD_WINDOW_MS = 300_000;

/** Watches the pauses of V8's garbage collector; every kind of pause is there from the start, with count 0. */
export class GarbageCollection {
  readonly #timers: ReadonlyMap<number, Timer>;
  readonly #recent: RecentSum;
  readonly #observer: PerformanceObserver;

  /** @param now Clock of the decaying figures, in milliseconds. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#timers = new Map([...PAUSES.keys()].map((kind) => [kind, new Timer(now)]));
    this.#recent = new RecentSum(OVERHEAD_WINDOW_MS, now);
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        this.#count(entry);
      }
    });
  }

  /** Begins to watch. */
  start(): void {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Ends watching. */
  stop(): void {
    this.#observer.disconnect();
  }

  /** Sources of the pause summary, of its maximum, and of the share of time that pauses take. */
  get sources(): Pick<MetricSources, 'gcPause' | 'gcPauseMax' | 'gcOverhead'> {
    const series = [...PAUSES].map(([kind, labels]) => ({ labels, timer: this.#timers.get(kind) }));
    const overhead = { labels: {} };
    return {
      gcPause: () =>
        series.map(({ labels, timer }) => ({ labels, value: timer?.seconds ?? 0, count: timer?.count ?? 0 })),
      gcPauseMax: () => series.map(({ labels, timer }) => ({ labels, value: timer?.max ?? 0 })),
      gcOverhead: () => [{ ...overhead, value: Math.min(1, this.#recent.perSecond) }],
    };
  }

  #count(entry: PerformanceEntry): void {
    const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
    const timer = this.#timers.get(detail?.kind ?? 0);
    if (timer !== undefined) {
      const seconds = entry.duration / 1_000;
      timer.record(seconds);
      this.#recent.add(seconds);
    }
  }
}
