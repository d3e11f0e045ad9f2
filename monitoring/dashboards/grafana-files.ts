import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { addCommonMetadata } from '../../deployment/common-metadata.ts';
import type { ShownConsumers } from './scope.ts';
import { streamConsumerDashboard } from './stream-consumer.ts';
import { streamConsumersDashboard } from './stream-consumers.ts';

/** The dashboards as Grafana imports them, by file name: plain JSON, the same bytes that the ConfigMap holds. */
export const dashboardFiles = (workloads: ShownConsumers): ReadonlyMap<string, string> =>
  new Map([
    ['stream-consumer.json', streamConsumerDashboard(workloads)],
    ['stream-consumers.json', streamConsumersDashboard(workloads)],
  ]);

/**
 * The chart with the dashboards of all consumers of an environment: a ConfigMap for the sidecar of Grafana's Helm
 * chart. It is beside the first consumer, labelled as `labels` and `monitoring.dashboards` of that one
 * say.
 */
export class GrafanaChart extends Chart {
  constructor(scope: Construct, id: string, { workloads }: { readonly workloads: ShownConsumers }) {
    super(scope, id);
    const [{ namespace, names, labels, file }] = workloads;
    const { dashboards } = file.monitoring;
    const made = new k8s.KubeConfigMap(this, 'dashboards', {
      metadata: {
        name: `${names.workload}-dashboards`,
        namespace,
        labels: { ...labels, ...dashboards.labels },
        annotations: dashboards.annotations,
      },
      data: Object.fromEntries(dashboardFiles(workloads)),
    });
    addCommonMetadata(file, [made]);
  }
}
