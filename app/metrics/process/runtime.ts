import { totalmem } from 'node:os';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { memoryLimit } from '../../memory/memory-limit.ts';
import {
  type Labels,
  type MetricSources,
  oncePerScrape,
  optional,
  type Sample,
  single,
} from '../exposition/metric-source.ts';
import { TimeWindowMax } from '../exposition/time-windows.ts';

/** What matters lasts for a second or more. Ten looks a second were a fifth of what a consumer at rest takes. */
const LOOK_EVERY_MS = 250;

/** Watches how late the event loop is: while JavaScript runs in one go, no probe, heartbeat or record has its turn. */
export class EventLoopLag {
  readonly #max: TimeWindowMax;
  #lastLook: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param now Clock of the decaying maximum, in milliseconds. @default performance.now() */
  constructor(now?: () => number) {
    this.#max = new TimeWindowMax(now);
  }

  /** Begins to watch; keeps no process alive. */
  start(): void {
    this.#lastLook = performance.now();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Ends watching. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Source of the longest delay of the last minutes; left out before the start. */
  get sources(): Pick<MetricSources, 'eventLoopLagMax'> {
    return { eventLoopLagMax: optional(() => this.#read()) };
  }

  /**
   * The time since the look before is a delay only beyond the time between two looks. No time is missed: each stretch
   * begins where the one before it ended, which `monitorEventLoopDelay` of Node does not do after its `reset()`.
   */
  #look(): void {
    const now = performance.now();
    this.#recordSince(this.#lastLook ?? now, now);
    this.#lastLook = now;
  }

  /**
   * A block that has just ended has had no look after it yet: a reading records it, and leaves the stretch as it is.
   */
  #read(): number | null {
    if (this.#lastLook === null) {
      return null;
    }
    this.#recordSince(this.#lastLook, performance.now());
    return this.#max.value;
  }

  #recordSince(begin: number, end: number): void {
    this.#max.record(Math.max(0, end - begin - LOOK_EVERY_MS) / 1_000);
  }
}

/** V8 has one limit for the whole heap. As in the JVM's G1, the space that grows up to it carries it: sums fit. */
const SPACE_WITH_THE_LIMIT = 'old_space';
const NO_LIMIT = -1;

/** Carries the limit of the container or the machine: memory outside the heap has no other one. */
const REST_WITH_THE_LIMIT = 'native';

type MemoryMetrics = Pick<
  MetricSources,
  'memoryUsed' | 'memoryCommitted' | 'memoryMax' | 'bufferMemory' | 'bufferCapacity' | 'residentMemory'
>;

/**
 * Memory of the process by Micrometer's `area` and `id`.
 *
 * Area `heap` has V8's heap spaces under V8's names. Area `nonheap` is the rest of the resident memory: `array_buffers`
 * (record contents, sockets), `external` (other memory that JavaScript objects hold outside the heap) and `native` (the
 * program itself, stacks, V8's and the libraries' own memory).
 */
export const memorySources: MemoryMetrics = {
  memoryUsed: () => [...heapSpaces().map((space) => heap(space.space_name, space.space_used_size)), ...nonheapBytes()],
  memoryCommitted: () => [...heapSpaces().map((space) => heap(space.space_name, space.space_size)), ...nonheapBytes()],
  memoryMax: () => [
    ...heapSpaces().map(({ space_name: name }) => heap(name, limitOf(name))),
    ...nonheapBytes().map(({ labels }) => nonheapLimit(labels)),
  ],
  bufferMemory: () => bufferBytes(),
  bufferCapacity: () => bufferBytes(),
  residentMemory: single(() => memoryUsage().rss),
};

const heapSpaces = oncePerScrape(getHeapSpaceStatistics);
const memoryUsage = oncePerScrape(() => process.memoryUsage());

const limitOf = (space: string): number =>
  space === SPACE_WITH_THE_LIMIT ? getHeapStatistics().heap_size_limit : NO_LIMIT;

const heap = (id: string, value: number): Sample => ({ labels: { area: 'heap', id }, value });

const nonheap = (id: string, value: number): Sample => ({ labels: { area: 'nonheap', id }, value });

function nonheapLimit(labels: Labels): Sample {
  return { labels, value: labels['id'] === REST_WITH_THE_LIMIT ? (memoryLimit() ?? totalmem()) : NO_LIMIT };
}

function nonheapBytes(): Sample[] {
  const { rss, external, arrayBuffers } = memoryUsage();
  const residentHeap = getHeapStatistics().total_physical_size;
  return [
    nonheap('array_buffers', arrayBuffers),
    nonheap('external', Math.max(0, external - arrayBuffers)),
    nonheap(REST_WITH_THE_LIMIT, Math.max(0, rss - residentHeap - external)),
  ];
}

function bufferBytes(): Sample[] {
  const { external, arrayBuffers } = memoryUsage();
  return [
    { labels: { id: 'array_buffers' }, value: arrayBuffers },
    { labels: { id: 'external' }, value: Math.max(0, external - arrayBuffers) },
  ];
}
