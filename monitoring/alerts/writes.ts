import { BACKLOG_RECORDS, DEAD_LETTERS_OF_AN_HOUR, FRESH_SHARE, FRESH_WITHIN_SECONDS } from '../../contract/alerts.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { LAG_RECORD } from './lag.ts';
import { type AlertRule, alertRules, levelsOf, type RecordingRule } from './rule.ts';
import { bucket, grown, increased, lastSeen, observations, ownLabels, recorded, series } from './series.ts';

/** Fewer dead letters of ten minutes are no share of anything: one broken record of two is no emergency. */
const LEAST_DEAD_LETTERS = 10;

/** The table and the column with most letters, and nothing where no table of the user's own has made one. */
function worstColumn(workload: CheckedWorkload): string {
  const worst = `topk(1, sum by (table, column) ${grown(workload, METRICS.tableDeadLetters, 10)} > 0)`;
  const column = '{{ with .Labels.column }}, column {{ . }}{{ end }}';
  const words = `Of the letters of 10m that a table of yours made, of whatever topic, most are of {{ .Labels.table }}${column}: {{ .Value }}.`;
  return `{{ with query \`${worst}\` }}{{ with first . }} ${words}{{ end }}{{ end }}`;
}

/** Share of the dead letters among the records of each topic, above a limit. */
function deadShare(workload: CheckedWorkload, minutes: number, least: number, share: number): string {
  const byTopic = `sum by (${ownLabels(workload)}, topic)`;
  const letters = `${byTopic} ${increased(workload, METRICS.deadLetters, minutes)}`;
  const records = `${byTopic} ${increased(workload, { name: `${METRICS.batchRecords.name}_sum` }, minutes)}`;
  return `(${letters} >= ${least}) / ${records} > ${share}`;
}

/** By topic: beside a large one that is well, a small one that is all dead is no share of anything. */
export function deadLetterAlerts(workload: CheckedWorkload): AlertRule[] {
  const { letters, share: least } = DEAD_LETTERS_OF_AN_HOUR;
  const within = { warning: 'within 10m, or within 1h where 10m have few', critical: 'within 10m' };
  return alertRules(workload, 'DeadLettersHigh', {
    expr: (share, level) => {
      const recent = deadShare(workload, 10, LEAST_DEAD_LETTERS, share);
      // Whoever raises the limit expects that share, in an hour as well.
      return level === 'critical' ? recent : `${recent} or ${deadShare(workload, 60, letters, Math.max(share, least))}`;
    },
    summary: 'Many records become dead letters.',
    description: (level) =>
      `${workload.names.workload} in {{ $labels.namespace }}: {{ $value | humanizePercentage }} of the records of topic {{ $labels.topic }} became dead letters (${within[level]}).${worstColumn(workload)}`,
  });
}

/** Each process counts the same table. */
export const waitingLetterAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'DeadLettersWaiting', {
    expr: (seconds) =>
      `max by (${ownLabels(workload)}, topic) (${lastSeen(workload, METRICS.deadLettersOldest)}) > ${seconds}`,
    summary: 'Nobody has looked after the dead letters of a topic.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: the oldest dead letter of topic {{ $labels.topic }} has waited for {{ $value | humanizeDuration }}.`,
  });

export function fencedAlerts(workload: CheckedWorkload): AlertRule[] {
  const own = ownLabels(workload);
  const fenced = `increase(${series(workload, METRICS.transactions, 'outcome="fenced"')}[15m])`;
  const partitions = `count by (${own}, topic, partition) (${series(workload, METRICS.recordsConsumed)})`;
  return alertRules(workload, 'WriterFenced', {
    expr: (times) => `sum by (${own}) (${fenced}) / count by (${own}) (${partitions}) > ${times}`,
    summary: 'Another writer keeps moving the stored offsets.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: fenced writes for each partition within 15m: {{ $value | printf "%.1f" }}.`,
  });
}

/**
 * The long window says that it matters, the short one that it goes on (Google's Site Reliability Workbook, chapter 5).
 */
const WINDOWS = { warning: ['6h', '30m'], critical: ['1h', '5m'] } as const;

const lateRatio = (window: string): string => `namespace_job_topic:${METRICS.endToEnd.name}:late_ratio_rate${window}`;

/**
 * Share of the records of a topic that came into the table later than the objective says, in the windows of each level.
 */
export function lateRecordingRules(workload: CheckedWorkload): RecordingRule[] {
  const byTopic = `by (${ownLabels(workload)}, topic)`;
  const rate = (selector: string, window: string) => `sum ${byTopic} (rate(${selector}[${window}]))`;
  const fresh = bucket(workload, METRICS.endToEnd, FRESH_WITHIN_SECONDS);
  const all = observations(workload, METRICS.endToEnd);
  return levelsOf(workload, 'RecordsLate')
    .flatMap(({ level }) => WINDOWS[level])
    .map((window) => ({
      record: lateRatio(window),
      expr: `1 - ${rate(fresh, window)} / ${rate(all, window)}`,
    }));
}

/**
 * Records of a backlog are late whoever reads them: as long as it is within the long window, it says nothing of this
 * consumer.
 */
export function lateAlerts(workload: CheckedWorkload): AlertRule[] {
  const budget = Math.round((1 - FRESH_SHARE) * 1_000) / 1_000;
  const burns = (window: string, rate: number) => `${recorded(workload, lateRatio(window))} / ${budget} > ${rate}`;
  return alertRules(workload, 'RecordsLate', {
    expr: (rate, level) => {
      const [long, short] = WINDOWS[level];
      const backlog = `max_over_time(${recorded(workload, LAG_RECORD)}[${long}]) > ${BACKLOG_RECORDS}`;
      return `${burns(long, rate)} and ${burns(short, rate)} unless ${backlog}`;
    },
    summary: `Too many records come into the table later than ${FRESH_WITHIN_SECONDS} s.`,
    description: `${workload.names.workload} in {{ $labels.namespace }}: topic {{ $labels.topic }} uses up its error budget (${budget * 100} % of the records later than ${FRESH_WITHIN_SECONDS} s) {{ $value | printf "%.1f" }} times as fast as it may.`,
  });
}
