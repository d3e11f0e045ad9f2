import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, alertRules } from './rule.ts';
import { increased, podLabels } from './series.ts';

export const databaseAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'DatabaseConnectionFailures', {
    expr: (failures) =>
      `sum by (${podLabels(workload)}) ${increased(workload, METRICS.databaseConnectionFailures, 5)} > ${failures}`,
    summary: 'The consumer cannot connect to PostgreSQL.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): failed connections to PostgreSQL within 5m: {{ $value | printf "%.0f" }}.`,
  });
