import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { labelSelector, podRelabelings } from './pod-discovery.ts';
import { plainAccess, serviceHost } from './scrape.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** What both jobs of a plain Prometheus have in common; they are two ways to the same series, so one of them is enough. */
function scrapeJob(workload: CheckedWorkload) {
  const { path, scheme, interval, timeout, sampleLimit } = scrapeSettings(workload);
  return {
    job_name: workload.names.scrapeJob,
    metrics_path: path,
    scheme,
    scrape_interval: interval,
    scrape_timeout: timeout,
    sample_limit: sampleLimit,
    ...plainAccess(workload),
  };
}

/** A job with fixed targets: those of consumer.yaml, or the Service, behind which each scrape reaches one Pod. */
export function staticScrapeJob(workload: CheckedWorkload): unknown {
  const { namespace, endpoint, file } = workload;
  const { staticTargets } = file.monitoring;
  const targets = staticTargets.length > 0 ? staticTargets : [`${serviceHost(workload)}:${endpoint.port}`];
  return { ...scrapeJob(workload), static_configs: [{ targets, labels: { namespace } }] };
}

/** A job that finds every Pod at the API server. */
export function discoveringScrapeJob(workload: CheckedWorkload): unknown {
  return {
    ...scrapeJob(workload),
    kubernetes_sd_configs: [
      {
        role: 'pod',
        namespaces: { names: [workload.namespace] },
        selectors: [{ role: 'pod', label: labelSelector(workload) }],
      },
    ],
    relabel_configs: podRelabelings(workload).map(({ sourceLabels, targetLabel, ...step }) => ({
      ...(sourceLabels !== undefined && { source_labels: sourceLabels }),
      ...step,
      ...(targetLabel !== undefined && { target_label: targetLabel }),
    })),
  };
}
