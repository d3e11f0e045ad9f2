import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules } from './rule.ts';
import { ownLabels, podLabels, series } from './series.ts';

/** How long a process and its successor count as one. */
const RESTART_MINUTES = 2;

/**
 * The registry is one for all Pods, and so is the alert. The health's root is DOWN while a batch waits, so probes that
 * ask for it restart the Pods, and each process begins its wait anew. What the one before had counts while the process
 * is young, and while there is none.
 */
export function registryAlerts(workload: CheckedWorkload): AlertRule[] {
  if (workload.settings.schemaRegistry === undefined) {
    return [];
  }
  const wait = series(workload, METRICS.schemaWait);
  const isYoung = `${series(workload, METRICS.uptime)} < ${RESTART_MINUTES * 60}`;
  return alertRules(workload, 'SchemaRegistryAway', {
    expr: (seconds) => {
      const now = `last_over_time(${wait}[${RESTART_MINUTES}m]) > ${seconds}`;
      const before = `max_over_time(${wait}[${RESTART_MINUTES}m]) > ${seconds} and on (${podLabels(workload)}) ${isYoung}`;
      return `max by (${ownLabels(workload)}) (${now} or ${before})`;
    },
    summary: 'The schema registry does not answer, and records wait for their schemas.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the oldest batch has been waiting for a schema of the registry for {{ $value | humanizeDuration }}.`,
  });
}
