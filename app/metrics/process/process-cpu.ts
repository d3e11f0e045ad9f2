import { availableParallelism, cpus, loadavg } from 'node:os';
import { type MetricSources, single } from '../exposition/metric-source.ts';

type ProcessorMetrics = Pick<MetricSources, 'cpuUsage' | 'cpuTime' | 'systemCpuUsage' | 'cpuCount' | 'loadAverage'>;

/** Readings closer together than this repeat the one before: a share of a moment says nothing. */
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
