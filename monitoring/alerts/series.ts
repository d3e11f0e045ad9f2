import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { INSTANCE_LABEL } from '../../deployment/sections/monitoring.ts';

/** Labels that distinguish one Pod, and one start of Prometheus' scrape of it, from another. */
const POD_LABELS = 'pod, instance';

/**
 * The labels that distinguish this consumer's series from all others. Each scrape job of this package sets namespace
 * and job; where annotations say what to scrape, Prometheus' own configuration decides on both. `monitoring.matchers`
 * are among them: as each aggregation keeps all of these labels, recorded series and alerts carry the cluster's, too.
 */
function identity({ namespace, names, file }: CheckedWorkload): readonly (readonly [label: string, value: string])[] {
  const { scrape, annotationJob, matchers } = file.monitoring;
  const target: readonly (readonly [string, string])[] =
    scrape === 'annotations'
      ? [
          ['job', annotationJob],
          [INSTANCE_LABEL, file.name],
        ]
      : [['job', names.scrapeJob]];
  return [['namespace', namespace], ...target, ...Object.entries(matchers)];
}

/**
 * A string of PromQL, whose escapes are those of Go. A selector may be within a template of Prometheus, in backquotes
 * and handed to `printf`, or in a dashboard, where Grafana looks for its variables: what means something there is
 * escaped, too.
 */
export const promqlString = (value: string): string =>
  JSON.stringify(value).replaceAll(/[`%${}[\]]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);

function matchers(workload: CheckedWorkload, ...more: readonly string[]): string {
  return `{${[...identity(workload).map(([label, value]) => `${label}=${promqlString(value)}`), ...more].join(',')}}`;
}

/** Names of the labels that distinguish this consumer's series, as a list in PromQL: aggregations keep them. */
export const ownLabels = (workload: CheckedWorkload): string =>
  identity(workload)
    .map(([label]) => label)
    .join(', ');

/** The same, and those of one Pod. */
export const podLabels = (workload: CheckedWorkload): string => `${ownLabels(workload)}, ${POD_LABELS}`;

/** Name of the label whose value is the consumer's name. */
export const consumerLabel = ({ file }: CheckedWorkload): string =>
  file.monitoring.scrape === 'annotations' ? INSTANCE_LABEL : 'job';

/** The consumer's name as that label has it. */
export const consumerName = ({ file, names }: CheckedWorkload): string =>
  file.monitoring.scrape === 'annotations' ? file.name : names.scrapeJob;

/**
 * PromQL selector of one metric of this consumer.
 *
 * @param more matchers of the metric's own labels. @default all its series
 */
export const series = (
  workload: CheckedWorkload,
  metric: Pick<MetricDefinition, 'name'>,
  ...more: readonly string[]
): string => `${metric.name}${matchers(workload, ...more)}`;

/**
 * The same, where a series that ended counts for a minute: a scrape that failed does not begin minutes of waiting anew.
 */
export const lastSeen = (workload: CheckedWorkload, metric: Pick<MetricDefinition, 'name'>): string =>
  `last_over_time(${series(workload, metric)}[1m])`;

/** PromQL selector of the number of observations of a histogram. */
export const observations = (workload: CheckedWorkload, metric: MetricDefinition): string =>
  series(workload, { name: `${metric.name}_count` });

/** PromQL selector of a bucket of a histogram, by its upper bound; Prometheus 3 writes a whole number as `60.0`. */
export const bucket = (workload: CheckedWorkload, metric: MetricDefinition, bound: number): string =>
  series(workload, { name: `${metric.name}_bucket` }, `le=~"${bound}([.]0)?"`);

/** PromQL selector of Prometheus' own record of whether its scrapes of this consumer succeeded. */
export const scrapeSuccess = (workload: CheckedWorkload): string => `up${matchers(workload)}`;

/** PromQL selector of the series that a recording rule of this consumer writes. */
export const recorded = (workload: CheckedWorkload, record: string): string => `${record}${matchers(workload)}`;

/**
 * By how much each series of a counter has grown within minutes. `increase` does not see what came before the first
 * scrape of a process, so the counter of one that has just started counts with its whole value. The start of the
 * process reports, not the series' own past: after Prometheus was blind for long, an old counter is no news.
 */
export function increased(workload: CheckedWorkload, metric: Pick<MetricDefinition, 'name'>, minutes: number): string {
  return `(${ofNewProcess(workload, metric, minutes)} or increase(${series(workload, metric)}[${minutes}m]))`;
}

/** The counter's series of processes that have started within minutes, whatever the clock of their node shows. */
function ofNewProcess(workload: CheckedWorkload, metric: Pick<MetricDefinition, 'name'>, minutes: number): string {
  const age = series(workload, METRICS.uptime);
  return `(${series(workload, metric)} and on (${podLabels(workload)}) ${age} < ${minutes * 60})`;
}

/**
 * By how much each series of a counter has grown within minutes, where a series is there from its first count on: one
 * that was not there before counts with its whole value, if its process was scraped before. `increase` sees nothing of
 * the first count. Where Prometheus was blind before, there is no answer.
 */
export function grown(workload: CheckedWorkload, metric: Pick<MetricDefinition, 'name'>, minutes: number): string {
  const [counter, scraped] = [series(workload, metric), series(workload, METRICS.uptime)];
  const growth = `(${counter} - ${counter} offset ${minutes}m >= 0)`;
  const isBorn = `(${counter} and on (${podLabels(workload)}) ${scraped} offset ${minutes}m)`;
  return `(${ofNewProcess(workload, metric, minutes)} or ${growth} or ${isBorn})`;
}
