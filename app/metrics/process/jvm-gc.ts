import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { GCProfiler, getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { type MetricSources, single } from '../exposition/metric-source.ts';
import { RecentSum, Timer } from '../exposition/time-windows.ts';

/** V8's kinds of collection in Micrometer's labels: `cause` is V8's phase, `gc` the collector. */
const COLLECTIONS = new Map<number, { action: string; cause: string; gc: string }>([
  [constants.NODE_PERFORMANCE_GC_MINOR, { action: 'end of minor GC', cause: 'scavenge', gc: 'V8 young' }],
  [constants.NODE_PERFORMANCE_GC_MAJOR, { action: 'end of major GC', cause: 'mark sweep compact', gc: 'V8 old' }],
  [
    constants.NODE_PERFORMANCE_GC_INCREMENTAL,
    { action: 'end of major GC', cause: 'incremental marking', gc: 'V8 old' },
  ],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, { action: 'end of major GC', cause: 'weak callbacks', gc: 'V8 old' }],
]);

/** As in Micrometer. */
const OVERHEAD_WINDOW_MS = 300_000;

/** Watches the pauses of V8's garbage collector; every kind of pause is there from the start, with count 0. */
export class GarbageCollection {
  readonly #timers: ReadonlyMap<number, Timer>;
  readonly #recent: RecentSum;
  readonly #observer: PerformanceObserver;

  /** @param now Clock of the decaying figures, in milliseconds. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#timers = new Map([...COLLECTIONS.keys()].map((kind) => [kind, new Timer(now)]));
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
    const series = [...COLLECTIONS].map(([kind, labels]) => ({ labels, timer: this.#timers.get(kind) }));
    return {
      gcPause: () =>
        series.map(({ labels, timer }) => ({ labels, value: timer?.seconds ?? 0, count: timer?.count ?? 0 })),
      gcPauseMax: () => series.map(({ labels, timer }) => ({ labels, value: timer?.max ?? 0 })),
      gcOverhead: single(() => Math.min(1, this.#recent.perSecond)),
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

/** V8 keeps its records of collections until they are read; read this often, they are few. */
const READ_EVERY_MS = 2_000;

const YOUNG_SPACES: ReadonlySet<string> = new Set(['new_space', 'new_large_object_space']);
const LONG_LIVED_SPACES: ReadonlySet<string> = new Set(['old_space', 'large_object_space']);

/** A heap at one moment, as V8's profiler describes it. */
export interface HeapMoment {
  readonly heapSpaceStatistics: readonly { readonly spaceName: string; readonly spaceUsedSize: number }[];
}

/** One collection, as V8's profiler describes it. */
export interface Collection {
  readonly gcType: string;
  readonly beforeGC: HeapMoment;
  readonly afterGC: HeapMoment;
}

type HeapMetrics = Pick<MetricSources, 'gcAllocated' | 'gcPromoted' | 'gcLiveData' | 'gcMaxData' | 'memoryAfterGc'>;

/** Allocated, promoted and live bytes of the heap, from V8's records of its collections. */
export class HeapActivity {
  #profiler: GCProfiler | null = null;
  #timer: NodeJS.Timeout | null = null;
  #youngBefore = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => YOUNG_SPACES.has(name))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
  #allocated = 0;
  #promoted = 0;
  #longLived = 0;
  #live = 0;

  /** Begins to watch; keeps no process alive. */
  start(): void {
    this.#profiler = new GCProfiler();
    this.#profiler.start();
    this.#timer = setInterval(() => this.#read(), READ_EVERY_MS).unref();
  }

  /** Ends watching. */
  stop(): void {
    if (this.#timer !== null) {
      clearInterval(this.#timer);
    }
    this.#drain();
    this.#profiler = null;
  }

  /** Takes one collection into account. */
  observe({ gcType, beforeGC, afterGC }: Collection): void {
    this.#allocated += Math.max(0, used(beforeGC, YOUNG_SPACES) - this.#youngBefore);
    this.#youngBefore = used(afterGC, YOUNG_SPACES);
    this.#longLived = used(afterGC, LONG_LIVED_SPACES);
    this.#promoted += Math.max(0, this.#longLived - used(beforeGC, LONG_LIVED_SPACES));
    if (gcType === 'MarkSweepCompact') {
      this.#live = this.#longLived;
    }
  }

  get sources(): HeapMetrics {
    const limit = () => getHeapStatistics().heap_size_limit;
    return {
      gcAllocated: single(() => this.#allocated),
      gcPromoted: single(() => this.#promoted),
      gcLiveData: single(() => this.#live),
      gcMaxData: single(limit),
      memoryAfterGc: single(() => this.#longLived / limit(), { area: 'heap', pool: 'long-lived' }),
    };
  }

  #drain(): void {
    for (const collection of this.#profiler?.stop()?.statistics ?? []) {
      this.observe(collection);
    }
  }

  #read(): void {
    this.#drain();
    this.#profiler = new GCProfiler();
    this.#profiler.start();
  }
}

const used = ({ heapSpaceStatistics }: HeapMoment, spaces: ReadonlySet<string>): number =>
  heapSpaceStatistics.reduce((sum, space) => sum + (spaces.has(space.spaceName) ? space.spaceUsedSize : 0), 0);
