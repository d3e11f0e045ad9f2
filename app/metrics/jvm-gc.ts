import { GCProfiler, getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { type MetricSources, single } from './metric-source.ts';

/** V8 keeps what it recorded until it is asked for; asked this often, each answer is small. */
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

/** What collections tell about the objects on the heap: how fast they are made, and how many stay. */
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
