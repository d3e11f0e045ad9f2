import type { CheckedWorkload } from '../deployment/checked-workload.ts';

/**
 * What many installations of Prometheus without the operator look for on Pods; `undefined` unless `monitoring.scrape` asks
 * for it: together with a ServiceMonitor everything would be scraped twice.
 */
export function scrapeAnnotations({ endpoint, file }: CheckedWorkload): Record<string, string> | undefined {
  return file.monitoring.scrape === 'annotations'
    ? {
        'prometheus.io/scrape': 'true',
        'prometheus.io/scheme': endpoint.scheme.toLowerCase(),
        'prometheus.io/port': String(endpoint.port),
        'prometheus.io/path': endpoint.prometheusPath,
      }
    : undefined;
}
