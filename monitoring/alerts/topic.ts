import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, runbookUrl } from './rule.ts';
import { ownLabels, series } from './series.ts';

const ALERT = 'TopicGone';

/** Every Pod tells it of all subscribed topics; the consumer has waited for a second answer of Kafka already. */
export function topicAlert(workload: CheckedWorkload): AlertRule {
  const gone = `sum by (${ownLabels(workload)}, topic) (${series(workload, METRICS.topicGone)})`;
  return {
    alert: ALERT,
    expr: `${gone} > ${ALERT_THRESHOLD.topicGone}`,
    for: '0s',
    keep_firing_for: '2m',
    labels: { severity: 'critical' },
    annotations: {
      summary: 'Kafka does not have a topic of the consumer any more.',
      description: `${workload.names.workload} in {{ $labels.namespace }}: the topic {{ $labels.topic }} is gone, as {{ $value }} of its Pods say.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  };
}
