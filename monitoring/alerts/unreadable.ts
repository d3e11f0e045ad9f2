import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, runbookUrl } from './rule.ts';
import { ownLabels, series } from './series.ts';

const ALERT = 'PartitionUnreadable';

/** The health stays UP for the other partitions, so this alert is the one that tells. A minute has several attempts. */
export function unreadableAlert(workload: CheckedWorkload): AlertRule {
  const partitions = `sum by (${ownLabels(workload)}, topic) (${series(workload, METRICS.unreadablePartitions)})`;
  return {
    alert: ALERT,
    expr: `${partitions} > ${ALERT_THRESHOLD.unreadablePartitions}`,
    for: '1m',
    keep_firing_for: '2m',
    labels: { severity: 'critical' },
    annotations: {
      summary: 'A partition stands still before a batch that cannot be read.',
      description: `${workload.names.workload} in {{ $labels.namespace }}: partitions of topic {{ $labels.topic }} whose next batch cannot be read: {{ $value }}.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  };
}
