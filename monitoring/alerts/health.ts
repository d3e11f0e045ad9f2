import { HEALTH_STATUS_CODE } from '../../contract/metrics/definition.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { replicaRange } from '../../deployment/sections/scaling.ts';
import { scrapeSettings } from '../scrape.ts';
import { type AlertRule, alertRules } from './rule.ts';
import { podLabels, scrapeSuccess, series } from './series.ts';

/** Prometheus' own default is the last of them. */
const FOREIGN_INTERVALS = [30, 60];

/** Times between two scrapes that the rules hold for: a job of somebody else has another interval. */
function scrapeIntervals({ file }: CheckedWorkload): readonly number[] {
  const { scrape, scrapeIntervalSeconds: own } = file.monitoring;
  const isForeign = scrape === 'annotations' || scrape === 'none';
  return [own, ...(isForeign ? FOREIGN_INTERVALS.filter((seconds) => seconds > own) : [])];
}

/**
 * No scrape of a range succeeded, and so many failed; a target that Prometheus has just discovered has had fewer. What
 * counts is samples: of the ranges, one for each interval, the first that holds so many decides. A scrape that times
 * out is stored when it ends, under the time when it began: the range in which the failed ones count is longer by that,
 * or where Prometheus evaluates while a scrape waits they would always be one too few.
 */
function scrapesFailed(workload: CheckedWorkload, scrapes: number): string {
  const { timeoutSeconds } = scrapeSettings(workload);
  const up = scrapeSuccess(workload);
  const ranges = scrapeIntervals(workload).map((interval) => {
    const recent = scrapes * interval;
    const stored = `${up}[${recent + timeoutSeconds}s]`;
    const failed = `count_over_time(${stored}) - sum_over_time(${stored})`;
    return `(max_over_time(${up}[${recent}s]) == 0 and ${failed} >= ${scrapes})`;
  });
  return ranges.join(' or ');
}

/**
 * The components that are not UP, as a template of Prometheus: they are no labels, or the alert would be another one as
 * soon as another component fails.
 */
function notUp(workload: CheckedWorkload): string {
  const components = series(workload, METRICS.health, 'pod=%q', 'instance=%q');
  const query = `printf \`${components} < ${HEALTH_STATUS_CODE.UP}\` $labels.pod $labels.instance | query`;
  const { DOWN, OUT_OF_SERVICE } = HEALTH_STATUS_CODE;
  const isStatus = (code: number) => `eq $component.Value ${code.toFixed(1)}`;
  const status = `{{ if ${isStatus(DOWN)} }}DOWN{{ else if ${isStatus(OUT_OF_SERVICE)} }}OUT_OF_SERVICE{{ else }}UNKNOWN{{ end }}`;
  return `{{ range $nth, $component := ${query} | sortByLabel "component" }}{{ if $nth }},{{ else }}:{{ end }} {{ $component.Labels.component }} is ${status}{{ end }}`;
}

/** The consumer counted the failures itself, or Prometheus counted the scrapes. */
export function healthAlerts(workload: CheckedWorkload): AlertRule[] {
  const failures = series(workload, METRICS.healthFailures);
  return alertRules(workload, 'HealthCheckFailing', {
    expr: (times) => `max by (${podLabels(workload)}) (${failures} >= ${times} or ${scrapesFailed(workload, times)})`,
    summary: 'The consumer fails its health check.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}) {{ if gt $value 0.0 }}was not UP {{ $value }} times in a row${notUp(workload)}{{ else }}could not be scraped the last times{{ end }}.`,
  });
}

/**
 * Without a target every other alert falls silent. An autoscaler that ends the last Pod makes that an ordinary state,
 * so there is no such rule then.
 */
export function absentAlerts(workload: CheckedWorkload): AlertRule[] {
  if (replicaRange(workload.file).least === 0) {
    return [];
  }
  return alertRules(workload, 'ConsumerAbsent', {
    expr: (targets) => `absent(${scrapeSuccess(workload)}) > ${targets}`,
    summary: 'Prometheus has no Pod of the consumer to scrape.',
    description: `${workload.names.workload} in {{ $labels.namespace }}: there is no Pod, or none that Prometheus finds; every other alert of it is silent.`,
  });
}

/** A container that starts anew keeps its Pod and its address; a Pod that is replaced does not. */
export const restartAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'ConsumerRestarting', {
    expr: (starts) =>
      `max by (${podLabels(workload)}) (changes(${series(workload, METRICS.startTime)}[15m])) > ${starts}`,
    summary: 'The consumer starts again and again.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}) started {{ $value }} times again within 15 minutes.`,
  });

const SECONDS_PER_DAY = 86_400;

/** Without a certificate there is no such series; each one is a separate alert. */
export const certificateAlerts = (workload: CheckedWorkload): AlertRule[] =>
  alertRules(workload, 'CertificateExpires', {
    expr: (days) =>
      `min by (${podLabels(workload)}, bundle) (${series(workload, METRICS.certificateExpiry)}) / ${SECONDS_PER_DAY} < ${days}`,
    summary: 'A certificate of the consumer is not renewed.',
    description: `${workload.names.workload} in {{ $labels.namespace }} ({{ $labels.instance }}): the certificate in use {{ if eq $labels.bundle "server" }}at its HTTP port{{ else }}for {{ $labels.bundle }}{{ end }} {{ if gt $value 0.0 }}expires in {{ $value | printf "%.1f" }} days{{ else }}has expired{{ end }}.`,
  });
