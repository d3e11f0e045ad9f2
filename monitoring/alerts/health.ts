import { ALERT_THRESHOLD } from '../../contract/alert-thresholds.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { type AlertRule, runbookUrl } from './rule.ts';
import { ownLabels, scrapeSuccess, series } from './series.ts';

const ALERT = 'HealthCheckFailing';

/** All scrapes of the range failed; a target that Prometheus has just discovered has had fewer of them. */
function scrapesFailed(workload: CheckedWorkload): string {
  const scrapes = ALERT_THRESHOLD.failedScrapesInARow;
  const range = `${scrapeSuccess(workload)}[${scrapes * workload.file.monitoring.scrapeIntervalSeconds}s]`;
  return `(max_over_time(${range}) == 0 and count_over_time(${range}) >= ${scrapes})`;
}

/**
 * Fires at once: the consumer counted the failures itself, or Prometheus counted the scrapes. It keeps firing for two
 * minutes, because the liveness probe restarts the Pod and its count begins anew.
 */
export function healthAlert(workload: CheckedWorkload): AlertRule {
  const counted = `${series(workload, METRICS.healthFailures)} >= ${ALERT_THRESHOLD.healthFailuresInARow}`;
  return {
    alert: ALERT,
    expr: `max by (${ownLabels(workload)}, pod, instance) (${counted} or ${scrapesFailed(workload)})`,
    for: '0s',
    keep_firing_for: '2m',
    labels: { severity: 'critical' },
    annotations: {
      summary: 'The consumer fails its health check.',
      description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}) {{ if gt $value 0.0 }}was not UP {{ $value }} times in a row{{ else }}did not answer the last scrapes{{ end }}.`,
      runbook_url: runbookUrl(workload, ALERT),
    },
  };
}
