import { FRESH_SHARE, FRESH_WITHIN_SECONDS } from '../../contract/alerts.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules, isOn, type RecordingRule } from './rule.ts';
import { bucket, grown, increased, observations, ownLabels, recorded, series } from './series.ts';

/** Fewer dead letters are no share of anything: one broken record of two is no emergency. */
const LEAST_DEAD_LETTERS = 10;

/** The table and the column with most letters, and nothing where no table of the user's own has made one. */
function worstColumn(workload: CheckedWorkload): string {
  const worst = `topk(1, sum by (table, column) ${grown(workload, METRICS.tableDeadLetters, 10)} > 0)`;
  const column = '{{ with .Labels.column }}, column {{ . }}{{ end }}';
  const words = `Of those that a table of yours made, most are of {{ .Labels.table }}${column}: {{ .Value }}.`;
  return `{{ with query \`${worst}\` }}{{ with first . }} ${words}{{ end }}{{ end }}`;
}

export function deadLetterAlerts(workload: CheckedWorkload): AlertRule[] {
  const own = ownLabels(workload);
  const letters = `sum by (${own}) ${increased(workload, METRICS.deadLetters, 10)}`;
  const records = `sum by (${own}) ${increased(workload, { name: `${METRICS.batchRecords.name}_sum` }, 10)}`;
  return alertRules(workload, 'DeadLettersHigh', {
    expr: (share) => `(${letters} >= ${LEAST_DEAD_LETTERS}) / ${records} > ${share}`,
    summary: 'Many records become dead letters.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: {{ $value | humanizePercentage }} of the records of 10m became dead letters.${worstColumn(workload)}`,
  });
}

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

/** The long window says that it matters, the short one that it goes on (Google's Site Reliability Workbook, chapter 5). */
const WINDOWS = { warning: ['6h', '30m'], critical: ['1h', '5m'] } as const;

const lateRatio = (window: string): string => `namespace_job:${METRICS.endToEnd.name}:late_ratio_rate${window}`;

/** Share of the records of a window that came into the table later than the objective says. */
export function lateRecordingRules(workload: CheckedWorkload): RecordingRule[] {
  const rate = (selector: string, window: string) => `sum by (${ownLabels(workload)}) (rate(${selector}[${window}]))`;
  const fresh = bucket(workload, METRICS.endToEnd, FRESH_WITHIN_SECONDS);
  const all = observations(workload, METRICS.endToEnd);
  return isOn(workload, 'RecordsLate')
    ? [...WINDOWS.critical, ...WINDOWS.warning].map((window) => ({
        record: lateRatio(window),
        expr: `1 - ${rate(fresh, window)} / ${rate(all, window)}`,
      }))
    : [];
}

export function lateAlerts(workload: CheckedWorkload): AlertRule[] {
  const budget = Math.round((1 - FRESH_SHARE) * 1_000) / 1_000;
  return alertRules(workload, 'RecordsLate', {
    expr: (rate, level) =>
      WINDOWS[level].map((window) => `${recorded(workload, lateRatio(window))} / ${budget} > ${rate}`).join(' and '),
    summary: `Too many records come into the table later than ${FRESH_WITHIN_SECONDS} s.`,
    description: `${workload.names.workload} in {{ $labels.namespace }} uses up its error budget (${budget * 100} % of the records later than ${FRESH_WITHIN_SECONDS} s) {{ $value | printf "%.1f" }} times as fast as it may.`,
  });
}
