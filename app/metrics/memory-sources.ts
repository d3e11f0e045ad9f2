import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { MetricSources, Sample } from './metric-source.ts';

/** V8 knows one limit for the whole heap; the space that grows up to it carries it, as the JVM's G1 does it, so that a sum is right. */
const SPACE_WITH_THE_LIMIT = 'old_space';
const NO_LIMIT = -1;

/**
 * Memory of the process by Micrometer's `area` and `id`.
 *
 * Area `heap` has V8's heap spaces under V8's names. Area `nonheap` is the rest of the resident memory: `array_buffers`
 * (record contents, sockets), `external` (other memory that JavaScript objects hold outside the heap) and `native` (the
 * program itself, stacks, V8's and the libraries' own memory).
 */
export const memorySources: Pick<MetricSources, 'memoryUsed' | 'memoryCommitted' | 'memoryMax' | 'residentMemory'> = {
  memoryUsed: () => [
    ...getHeapSpaceStatistics().map((space) => heap(space.space_name, space.space_used_size)),
    ...nonheapBytes(),
  ],
  memoryCommitted: () => [
    ...getHeapSpaceStatistics().map((space) => heap(space.space_name, space.space_size)),
    ...nonheapBytes(),
  ],
  memoryMax: () => [
    ...getHeapSpaceStatistics().map(({ space_name: name }) => heap(name, limitOf(name))),
    ...nonheapBytes().map((sample) => ({ ...sample, value: NO_LIMIT })),
  ],
  residentMemory: () => [{ labels: {}, value: process.memoryUsage.rss() }],
};

const limitOf = (space: string): number =>
  space === SPACE_WITH_THE_LIMIT ? getHeapStatistics().heap_size_limit : NO_LIMIT;

const heap = (id: string, value: number): Sample => ({ labels: { area: 'heap', id }, value });

const nonheap = (id: string, value: number): Sample => ({ labels: { area: 'nonheap', id }, value });

function nonheapBytes(): Sample[] {
  const { rss, external, arrayBuffers } = process.memoryUsage();
  const residentHeap = getHeapStatistics().total_physical_size;
  return [
    nonheap('array_buffers', arrayBuffers),
    nonheap('external', Math.max(0, external - arrayBuffers)),
    nonheap('native', Math.max(0, rss - residentHeap - external)),
  ];
}
