import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, runbookUrl } from './rule.ts';
import { ownLabels, series } from './series.ts';

const ALERT = 'DatabaseConnectionFailures';

const WINDOW = '5m';

/**
 * Any failure within five minutes. `increase` can't see failures that happened before a series' first scrape, so a
 * series that was not there five minutes ago counts with its whole value.
 */
export function databaseAlert(workload: CheckedWorkload): AlertRule {
  const failures = series(workload, METRICS.databaseConnectionFailures);
  const isNew = `(${failures} unless ${failures} offset ${WINDOW})`;
  const limit = ALERT_THRESHOLD.databaseConnectionFailures;
  return {
    alert: ALERT,
    expr: `sum by (${ownLabels(workload)}) (${isNew} or increase(${failures}[${WINDOW}])) > ${limit}`,
    for: '0s',
    keep_firing_for: WINDOW,
    labels: { severity: 'critical' },
    annotations: {
      summary: 'The consumer cannot connect to PostgreSQL.',
      description: `${workload.names.workload} in {{ $labels.namespace }}: failed connections to PostgreSQL within ${WINDOW}: {{ $value | printf "%.0f" }}.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  };
}
