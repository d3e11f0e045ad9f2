import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { MetricSources } from './metric-source.ts';
import { TimeWindowMax } from './time-window-max.ts';

/** V8's kinds of collection in Micrometer's labels: `action` says what ended, `cause` names V8's phase. */
const PAUSES = new Map<number, { action: string; cause: string }>([
  [constants.NODE_PERFORMANCE_GC_MINOR, { action: 'end of minor GC', cause: 'scavenge' }],
  [constants.NODE_PERFORMANCE_GC_MAJOR, { action: 'end of major GC', cause: 'mark sweep compact' }],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, { action: 'end of major GC', cause: 'incremental marking' }],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, { action: 'end of major GC', cause: 'weak callbacks' }],
]);

interface PauseTotals {
  count: number;
  seconds: number;
  readonly max: TimeWindowMax;
}

/** Watches V8's garbage collector; every kind of pause is there from the start, with count 0. */
export class GarbageCollection {
  readonly #totals: ReadonlyMap<number, PauseTotals>;
  readonly #observer: PerformanceObserver;

  /** @param now Clock of the decaying maximum, in milliseconds. @default performance.now() */
  constructor(now?: () => number) {
    this.#totals = new Map(
      [...PAUSES.keys()].map((kind) => [kind, { count: 0, seconds: 0, max: new TimeWindowMax(now) }]),
    );
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

  /** Sources of the pause summary and of its maximum. */
  get sources(): Pick<MetricSources, 'gcPause' | 'gcPauseMax'> {
    const series = [...PAUSES].map(([kind, labels]) => ({ labels, totals: this.#totals.get(kind) }));
    return {
      gcPause: () =>
        series.map(({ labels, totals }) => ({ labels, value: totals?.seconds ?? 0, count: totals?.count ?? 0 })),
      gcPauseMax: () => series.map(({ labels, totals }) => ({ labels, value: totals?.max.value ?? 0 })),
    };
  }

  #count(entry: PerformanceEntry): void {
    const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
    const totals = this.#totals.get(detail?.kind ?? 0);
    if (totals !== undefined) {
      const seconds = entry.duration / 1_000;
      totals.count += 1;
      totals.seconds += seconds;
      totals.max.record(seconds);
    }
  }
}
