import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import type { IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { ruleGroups } from './alerts/rule-groups.ts';
import { labelSelector, operatorAccess, podRelabelings, scrapeSettings } from './scrape.ts';

/** Metadata of the operator's custom resources, with the labels by which some operators select them. */
function operatorMetadata({ namespace, names, labels, file }: CheckedWorkload) {
  return { name: names.workload, namespace, labels: { ...labels, ...file.monitoring.labels } };
}

/** The endpoint of a ServiceMonitor or a PodMonitor: the same port of the same Pods, asked in the same way. */
function operatorEndpoint(workload: CheckedWorkload) {
  const { path, scheme, interval, timeout } = scrapeSettings(workload);
  return {
    port: workload.endpoint.portName,
    path,
    scheme,
    interval,
    scrapeTimeout: timeout,
    ...operatorAccess(workload),
  };
}

/** What Prometheus refuses a whole scrape for. */
function scrapeLimits(workload: CheckedWorkload) {
  const { sampleLimit, labelLimit } = scrapeSettings(workload);
  return { sampleLimit, labelLimit };
}

/** Makes the Prometheus Operator scrape every Pod behind the Service. */
function serviceMonitor(scope: Construct, workload: CheckedWorkload): ApiObject {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      ...scrapeLimits(workload),
      endpoints: [operatorEndpoint(workload)],
    },
  } satisfies IServiceMonitor;
  return new ApiObject(scope, 'service-monitor', manifest);
}

/**
 * Makes the Prometheus Operator scrape every Pod, without a Service. The job label is set, as the rules select by
 * it: the operator's own is `namespace/name`.
 */
function podMonitor(scope: Construct, workload: CheckedWorkload): ApiObject {
  const relabelings = [{ targetLabel: 'job', replacement: workload.names.scrapeJob }];
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      ...scrapeLimits(workload),
      podMetricsEndpoints: [{ ...operatorEndpoint(workload), relabelings }],
    },
  } satisfies IPodMonitor;
  return new ApiObject(scope, 'pod-monitor', manifest);
}

/** A separate scrape job for the Prometheus Operator: Prometheus itself discovers the Pods. */
function scrapeConfig(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { path, scheme, interval, timeout } = scrapeSettings(workload);
  return new ApiObject(scope, 'scrape-config', {
    apiVersion: 'monitoring.coreos.com/v1alpha1',
    kind: 'ScrapeConfig',
    metadata: operatorMetadata(workload),
    spec: {
      metricsPath: path,
      scheme: scheme.toUpperCase(),
      scrapeInterval: interval,
      scrapeTimeout: timeout,
      ...scrapeLimits(workload),
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

const SCRAPE_OBJECT: Readonly<
  Record<ConsumerFile['monitoring']['scrape'], ((scope: Construct, workload: CheckedWorkload) => ApiObject) | undefined>
> = {
  serviceMonitor,
  podMonitor,
  scrapeConfig,
  annotations: undefined,
  none: undefined,
};

/** The custom resource by which the operator scrapes the consumer; `undefined` where `monitoring.scrape` names none. */
export const scrapeObject = (scope: Construct, workload: CheckedWorkload): ApiObject | undefined =>
  SCRAPE_OBJECT[workload.file.monitoring.scrape]?.(scope, workload);

/** Hands the rules to the Prometheus Operator. */
export function prometheusRule(scope: Construct, workload: CheckedWorkload): ApiObject {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: operatorMetadata(workload),
    spec: { groups: ruleGroups(workload).map((group) => ({ ...group, rules: [...group.rules] })) },
  } satisfies IPrometheusRule;
  return new ApiObject(scope, 'prometheus-rule', manifest);
}
