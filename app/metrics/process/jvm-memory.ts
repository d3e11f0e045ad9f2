import { totalmem } from 'node:os';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { memoryLimit } from '../../memory/memory-limit.ts';
import { type Labels, type MetricSources, oncePerScrape, type Sample, single } from '../exposition/metric-source.ts';

/** V8 has one limit for the whole heap. As in the JVM's G1, the space that grows up to it carries it: sums fit. */
const SPACE_WITH_THE_LIMIT = 'old_space';
const NO_LIMIT = -1;

/** Carries the limit of the container or the machine: memory outside the heap has none of its own. */
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
