import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { operatorMetadata } from './operator-metadata.ts';
import { labelSelector, podRelabelings } from './pod-discovery.ts';
import { operatorAccess } from './scrape.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** A scrape job of its own for the Prometheus Operator: Prometheus itself looks for the Pods. */
export function scrapeConfig(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { path, scheme, interval, timeout, sampleLimit } = scrapeSettings(workload);
  return new ApiObject(scope, 'scrape-config', {
    apiVersion: 'monitoring.coreos.com/v1alpha1',
    kind: 'ScrapeConfig',
    metadata: operatorMetadata(workload),
    spec: {
      metricsPath: path,
      scheme: scheme.toUpperCase(),
      scrapeInterval: interval,
      scrapeTimeout: timeout,
      sampleLimit,
      kubernetesSDConfigs: [
        {
          role: 'Pod',
          namespaces: { names: [workload.namespace] },
          selectors: [{ role: 'Pod', label: labelSelector(workload) }],
        },
      ],
      relabelings: podRelabelings(workload),
      ...operatorAccess(workload),
    },
  });
}
