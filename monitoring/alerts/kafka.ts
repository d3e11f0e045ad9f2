import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules } from './rule.ts';
import { increased, lastSeen, ownLabels, podLabels, series } from './series.ts';

/**
 * Critical where no Pod hears of the topic's end, a warning by Pod where another Pod does: never both. A topic that is
 * gone has no end that a broker could report: that is another alert.
 */
export function kafkaAlerts(workload: CheckedWorkload): AlertRule[] {
  const own = ownLabels(workload);
  const age = series(workload, METRICS.logEndAge);
  const gone = `max by (${own}, topic) (${series(workload, METRICS.topicGone)}) > 0`;
  const ofTopic = `min by (${own}, topic) (${age})`;
  const ofPod = (seconds: number) =>
    `max by (${podLabels(workload)}, topic) (${age}) > ${seconds} and on (${own}, topic) ${ofTopic} <= ${seconds}`;
  const what = 'no broker has reported the end of topic {{ $labels.topic }}';
  return alertRules(workload, 'KafkaUnreachable', {
    expr: (seconds, level) =>
      level === 'critical'
        ? `(${ofTopic} unless ${gone}) > ${seconds}`
        : `${ofPod(seconds)} unless on (${own}, topic) (${gone})`,
    summary: (level) =>
      level === 'critical'
        ? 'The consumer hears nothing from Kafka, and its lag is not known.'
        : 'A Pod of the consumer hears nothing from Kafka, and other Pods do.',
    description: (level) =>
      level === 'critical'
        ? `${workload.names.workload} in {{ $labels.namespace }}: for {{ $value | humanizeDuration }} ${what} to any Pod.`
        : `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): for {{ $value | humanizeDuration }} ${what} to this Pod, but to another one.`,
  });
}

/** Every Pod reports it of all subscribed topics. */
export const topicAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'TopicGone', {
    expr: (pods) => `sum by (${ownLabels(workload)}, topic) (${series(workload, METRICS.topicGone)}) > ${pods}`,
    summary: 'Kafka does not have a topic of the consumer any more.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the topic {{ $labels.topic }} is gone, as {{ $value }} of its Pods report.`,
  });

/** How long Kafka keeps what is unread of the topic, as a template of Prometheus; nothing where that is not known. */
function leftOfRetention(workload: CheckedWorkload): string {
  const left = `min(${series(workload, METRICS.topicWaitingRetention, 'topic=%q')})`;
  const words = ', and unread records of it in {{ .Value | humanizeDuration }} at the earliest';
  return `{{ with printf \`${left}\` $labels.topic | query }}{{ with first . }}${words}{{ end }}{{ end }}`;
}

/** The health stays UP while another topic flows, and the lag leaves the topic out, so this alert alone reports it. */
export const waitingAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'TopicWaits', {
    expr: (pods) =>
      `count by (${ownLabels(workload)}, topic) (${series(workload, METRICS.topicsWaiting)} == 1) > ${pods}`,
    summary: 'A topic of the consumer waits, and its records stay in Kafka.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the topic {{ $labels.topic }} waits, as {{ $value }} of its Pods report; Kafka deletes what is older than the retention of the topic${leftOfRetention(workload)}.`,
  });

/** The health stays UP for the other partitions, so this alert alone reports it. */
export const unreadableAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'PartitionUnreadable', {
    expr: (partitions) =>
      `sum by (${ownLabels(workload)}, topic) (${series(workload, METRICS.unreadablePartitions)}) > ${partitions}`,
    summary: 'A batch that cannot be read stops a partition.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: partitions of topic {{ $labels.topic }} whose next batch cannot be read: {{ $value }}.`,
  });

/** Each Pod that owns a partition of the topic reports all of them; the health stays as it is. */
export const leaderlessAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'PartitionLeaderless', {
    expr: (partitions) =>
      `max by (${ownLabels(workload)}, topic) (${lastSeen(workload, METRICS.leaderlessPartitions)}) > ${partitions}`,
    summary: 'No broker leads some partitions of a topic, and they are not read.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: partitions of topic {{ $labels.topic }} without a leader: {{ $value }}.`,
  });

/** Only `consumer.onGap` and `consumer.onBrokenBatch: skip` go on over them; otherwise other alerts report it. */
export const skippedAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'RecordsSkipped', {
    expr: (offsets) =>
      `sum by (${ownLabels(workload)}, topic) ${increased(workload, METRICS.skippedOffsets, 15)} > ${offsets}`,
    summary: 'The consumer skipped records that Kafka deleted before, or that cannot be read.',
    description: `${workload.names.workload} in {{ $labels.namespace }} skipped {{ $value | humanize }} offsets of topic {{ $labels.topic }} within 15m: their records are in no table.`,
  });

export const rebalanceAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'RebalanceStorm', {
    expr: (rebalances) =>
      `max by (${podLabels(workload)}) (increase(${series(workload, METRICS.clientRebalances)}[15m])) > ${rebalances}`,
    summary: 'The group of the consumer keeps rebalancing.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): rebalances within 15m: {{ $value | printf "%.0f" }}.`,
  });
