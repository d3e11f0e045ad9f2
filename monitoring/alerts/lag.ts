import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, type RecordingRule, runbookUrl, type Severity } from './rule.ts';
import { ownLabels, recorded, series } from './series.ts';

const ALERT = 'ConsumerLagHigh';

/** Lag of a topic over all its partitions, as a series of its own. */
const LAG_RECORD = `namespace_job_topic:${METRICS.recordsLag.name}:sum`;

/** After a rebalance two Pods may report one partition for a while: it counts once, with the higher value. */
export function lagRecordingRule(workload: CheckedWorkload): RecordingRule {
  const lag = series(workload, METRICS.recordsLag);
  const own = ownLabels(workload);
  return {
    record: LAG_RECORD,
    expr: `sum by (${own}, topic) (max by (${own}, topic, partition) (${lag}))`,
  };
}

/** Two severities of one name; they wait five minutes, which a rolling update or a rebalance fits into. */
export function lagAlerts(workload: CheckedWorkload): AlertRule[] {
  const lagAlert = (severity: Severity): AlertRule => ({
    alert: ALERT,
    expr: `${recorded(workload, LAG_RECORD)} > ${ALERT_THRESHOLD.lagRecords[severity]}`,
    for: '5m',
    keep_firing_for: '5m',
    labels: { severity },
    annotations: {
      summary: 'The consumer is far behind its topic.',
      description: `${workload.names.workload} in {{ $labels.namespace }} is {{ $value | humanize }} records behind the end of topic {{ $labels.topic }}.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  });
  return [lagAlert('warning'), lagAlert('critical')];
}
