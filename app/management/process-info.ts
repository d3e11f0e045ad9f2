import { availableParallelism, userInfo } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { METRICS } from '../../contract/metrics.ts';
import type { MetricReader } from '../metrics/metric-reading.ts';

const PAUSES = METRICS.gcPause.name;

/** A kind of memory in bytes, as Java's management tells it: -1 for what is not known or has no limit. */
interface MemoryInfo {
  readonly max: number;
  readonly init: number;
  readonly committed: number;
  readonly used: number;
}

/** What the process is, as Spring Boot's process info tells it; V8's heap is the heap, the rest of the process is not. */
export function processInfo(metrics: MetricReader) {
  const heap = getHeapStatistics();
  const { rss } = process.memoryUsage();
  const rest = Math.max(0, rss - heap.total_physical_size);
  return {
    pid: process.pid,
    parentPid: process.ppid,
    owner: owner(),
    cpus: availableParallelism(),
    memory: {
      heap: memory(heap.heap_size_limit, heap.total_heap_size, heap.used_heap_size),
      nonHeap: memory(-1, rest, rest),
      garbageCollectors: garbageCollectors(metrics),
    },
  };
}

const memory = (max: number, committed: number, used: number): MemoryInfo => ({ max, init: -1, committed, used });

function garbageCollectors(metrics: MetricReader): readonly { name: string; collectionCount: number }[] {
  const tags = metrics.read(PAUSES, [])?.availableTags ?? [];
  const names = tags.find(({ tag }) => tag === 'gc')?.values ?? [];
  return names.map((name) => {
    const count = metrics.read(PAUSES, [['gc', name]])?.measurements.find(({ statistic }) => statistic === 'COUNT');
    return { name, collectionCount: count?.value ?? 0 };
  });
}

/** A container's user has a number, but not always a name. */
function owner(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}
