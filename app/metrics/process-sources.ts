import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { type MetricSources, single } from './metric-source.ts';

/** Readings closer together than this repeat the one before: a share of a moment says nothing. */
const SHORTEST_CPU_WINDOW_MS = 1_000;

/** Figures of the process as a whole. */
export function processSources(): Pick<MetricSources, 'cpuUsage' | 'cpuCount' | 'uptime' | 'startTime'> {
  return {
    cpuUsage: single(cpuUsage()),
    cpuCount: single(availableParallelism),
    uptime: single(() => process.uptime()),
    startTime: single(() => performance.timeOrigin / 1_000),
  };
}

/** Share of all processors since the reading before; at first, since the process started. */
function cpuUsage(): () => number {
  let last = { atMs: 0, usedMs: 0, share: 0 };
  return () => {
    const atMs = process.uptime() * 1_000;
    if (last.atMs === 0 || atMs - last.atMs >= SHORTEST_CPU_WINDOW_MS) {
      const { user, system } = process.cpuUsage();
      const usedMs = (user + system) / 1_000;
      const share = (usedMs - last.usedMs) / ((atMs - last.atMs) * availableParallelism());
      last = { atMs, usedMs, share: Math.min(1, Math.max(0, share)) };
    }
    return last.share;
  };
}
