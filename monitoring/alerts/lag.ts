import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules, type RecordingRule } from './rule.ts';
import { ownLabels, recorded, series } from './series.ts';

/** Lag of a topic over all its partitions, as a series of its own. */
const LAG_RECORD = `namespace_job_topic:${METRICS.recordsLag.name}:sum`;

/**
 * A series that ended counts for so long: a scrape that failed, or a Pod that was killed, is no time without lag. Not
 * its highest value but its last one, or a peak that is over would last longer than it did.
 */
const LAST_SEEN = '3m';

/** After a rebalance two Pods may report one partition for a while: it counts once, with the higher value. */
export function lagRecordingRule(workload: CheckedWorkload): RecordingRule {
  const lag = `last_over_time(${series(workload, METRICS.recordsLag)}[${LAST_SEEN}])`;
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

/** A backlog that is worked off has old records, too; but the oldest one that waits is ever younger. */
export function lagTimeAlerts(workload: CheckedWorkload): AlertRule[] {
  const seconds = series(workload, METRICS.lagSeconds);
  return alertRules(workload, 'ConsumerLagTime', {
    expr: (limit) => `max by (${ownLabels(workload)}, topic) (${seconds} > ${limit} and delta(${seconds}[10m]) > 0)`,
    summary: 'Records wait ever longer for PostgreSQL.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the oldest record of topic {{ $labels.topic }} has been waiting for {{ $value | humanizeDuration }}.`,
  });
}
