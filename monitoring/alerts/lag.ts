import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules, type RecordingRule } from './rule.ts';
import { lastSeen, ownLabels, recorded, series } from './series.ts';

/** Lag of a topic over all its partitions, as a separate series. */
export const LAG_RECORD = `namespace_job_topic:${METRICS.recordsLag.name}:sum`;

/**
 * A series that ended counts for so long: a scrape that failed, or a Pod that was killed, is no time without lag. Not
 * its highest value but its last one, or a peak that is over would last longer than it did.
 */
const LAST_SEEN = '3m';

/** The lag of each partition, once for each Pod that reports it. */
const lagOfPartitions = (workload: CheckedWorkload): string =>
  `last_over_time(${series(workload, METRICS.recordsLag)}[${LAST_SEEN}])`;

/** After a rebalance two Pods may report one partition for a while: it counts once, with the higher value. */
export function lagRecordingRule(workload: CheckedWorkload): RecordingRule {
  const lag = lagOfPartitions(workload);
  const own = ownLabels(workload);
  return {
    record: LAG_RECORD,
    expr: `sum by (${own}, topic) (max by (${own}, topic, partition) (${lag}))`,
  };
}

export const lagAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'ConsumerLagHigh', {
    expr: (records) => `${recorded(workload, LAG_RECORD)} > ${records}`,
    summary: 'The consumer is far behind its topic.',
    description: `${workload.names.workload} in {{ $labels.namespace }} is {{ $value | humanize }} records behind the end of topic {{ $labels.topic }}.`,
  });

/** When the brokers report no end of a log, its lag has no series: that is another alert. */
const LOG_END_KNOWN_SECONDS = 60;

/**
 * A partition without an owner is in no sum of the lag, however much waits in it. A topic that is gone has no number of
 * partitions, and one without a leader has no lag, which is another alert.
 */
export function unassignedAlerts(workload: CheckedWorkload): AlertRule[] {
  const byTopic = `by (${ownLabels(workload)}, topic)`;
  const latest = (metric: MetricDefinition) =>
    `max ${byTopic} (last_over_time(${series(workload, metric)}[${LAST_SEEN}]))`;
  const partitions = latest(METRICS.topicPartitions);
  const leaderless = latest(METRICS.leaderlessPartitions);
  const reported = `count ${byTopic} (count by (${ownLabels(workload)}, topic, partition) (${lagOfPartitions(workload)}))`;
  const blind = `max ${byTopic} (${series(workload, METRICS.logEndAge)}) > ${LOG_END_KNOWN_SECONDS}`;
  const waits = `max ${byTopic} (${series(workload, METRICS.topicsWaiting)}) > 0`;
  return alertRules(workload, 'PartitionUnassigned', {
    expr: (limit) =>
      `(${partitions} - (${reported} or ${partitions} * 0) - (${leaderless} or ${partitions} * 0) unless ${blind} unless ${waits}) > ${limit}`,
    summary: 'No Pod reads some partitions of a topic.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: partitions of topic {{ $labels.topic }} without a lag from any Pod: {{ $value }}.`,
  });
}

/** A backlog that is worked off has old records, too; but the oldest one that waits is ever younger. */
export function lagTimeAlerts(workload: CheckedWorkload): AlertRule[] {
  const seconds = series(workload, METRICS.lagSeconds);
  return alertRules(workload, 'ConsumerLagTime', {
    expr: (limit) =>
      `max by (${ownLabels(workload)}, topic) (${lastSeen(workload, METRICS.lagSeconds)} > ${limit} and delta(${seconds}[10m]) > 0)`,
    summary: 'Records wait ever longer for PostgreSQL.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the oldest record of topic {{ $labels.topic }} has been waiting for {{ $value | humanizeDuration }}.`,
  });
}
