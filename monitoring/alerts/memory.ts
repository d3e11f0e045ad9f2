import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { memoryBytes } from '../../deployment/resources.ts';
import { type AlertRule, runbookUrl, type Severity } from './rule.ts';
import { series } from './series.ts';

const ALERT = 'MemoryHigh';

/** Short enough to fire before the kernel kills the container, long enough for a full garbage collection. */
const HOLDS_FOR: Record<Severity, string> = { warning: '5m', critical: '1m' };

/** Per Pod; the limit is a number in the expression, so that no exporter besides the consumer is needed. */
export function memoryAlerts(workload: CheckedWorkload): AlertRule[] {
  const limit = workload.file.resources.limits.memory;
  const ratio = `${series(workload, METRICS.residentMemory)} / ${memoryBytes(limit)}`;
  const memoryAlert = (severity: Severity): AlertRule => ({
    alert: ALERT,
    expr: `${ratio} > ${ALERT_THRESHOLD.memoryRatio[severity]}`,
    for: HOLDS_FOR[severity],
    keep_firing_for: '2m',
    labels: { severity },
    annotations: {
      summary: 'The consumer is close to its memory limit.',
      description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}) uses {{ $value | humanizePercentage }} of its memory limit of ${limit}.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  });
  return [memoryAlert('warning'), memoryAlert('critical')];
}
