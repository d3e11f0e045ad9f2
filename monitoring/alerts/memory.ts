import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { memoryBytes } from '../../deployment/sections/resources.ts';
import { type AlertRule, alertRules } from './rule.ts';
import { lastSeen, podLabels, series } from './series.ts';

/** Per Pod; the limit is a number in the expression, so that no exporter besides the consumer is needed. */
export function memoryAlerts(workload: CheckedWorkload): AlertRule[] {
  const limit = workload.file.resources.limits.memory;
  const { residentMemory } = METRICS;
  // A minute of a Pod that was killed would be the whole wait of critical.
  const used = { warning: lastSeen(workload, residentMemory), critical: series(workload, residentMemory) };
  return alertRules(workload, 'MemoryHigh', {
    expr: (ratio, level) => `${used[level]} / ${memoryBytes(limit)} > ${ratio}`,
    summary: 'The consumer is close to its memory limit.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}) uses {{ $value | humanizePercentage }} of its memory limit of ${limit} (resident memory of the process).`,
  });
}

export const heapAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'HeapNearItsLimit', {
    expr: (share) => `max by (${podLabels(workload)}) (${lastSeen(workload, METRICS.memoryAfterGc)}) > ${share}`,
    summary: "V8's heap is close to its limit.",
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): {{ $value | humanizePercentage }} of the heap is in use after garbage collection.`,
  });

/** A blocked Pod answers no scrape either: its last value counts for a minute. */
export const eventLoopAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'EventLoopBlocked', {
    expr: (seconds) => `max by (${podLabels(workload)}) (${lastSeen(workload, METRICS.eventLoopLagMax)}) > ${seconds}`,
    summary: "The consumer's event loop is blocked again and again.",
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): for up to {{ $value | humanizeDuration }} nothing but one task ran.`,
  });
