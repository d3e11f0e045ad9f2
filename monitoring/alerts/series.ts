import type { MetricDefinition } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';

/** The Pod's label as the usual jobs for annotated Pods copy it: all of them share one job. */
const INSTANCE_LABEL = 'app_kubernetes_io_instance';

/**
 * The labels that tell this consumer's series from all others. Each scrape job of this package sets namespace and
 * job; where annotations say what to scrape, Prometheus' own configuration decides on both.
 */
function identity({ namespace, names, file }: CheckedWorkload): readonly (readonly [label: string, value: string])[] {
  const { scrape, annotationJob } = file.monitoring;
  return scrape === 'annotations'
    ? [
        ['namespace', namespace],
        ['job', annotationJob],
        [INSTANCE_LABEL, file.name],
      ]
    : [
        ['namespace', namespace],
        ['job', names.scrapeJob],
      ];
}

function matchers(workload: CheckedWorkload): string {
  return `{${identity(workload)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;
}

/** Names of the labels that tell this consumer's series from others, as a list in PromQL: aggregations keep them. */
export const ownLabels = (workload: CheckedWorkload): string =>
  identity(workload)
    .map(([label]) => label)
    .join(', ');

/** PromQL selector of one metric of this consumer. */
export const series = (workload: CheckedWorkload, metric: Pick<MetricDefinition, 'name'>): string =>
  `${metric.name}${matchers(workload)}`;

/** PromQL selector of Prometheus' own record of whether its scrapes of this consumer succeeded. */
export const scrapeSuccess = (workload: CheckedWorkload): string => `up${matchers(workload)}`;

/** PromQL selector of the series that a recording rule of this consumer writes. */
export const recorded = (workload: CheckedWorkload, record: string): string => `${record}${matchers(workload)}`;
