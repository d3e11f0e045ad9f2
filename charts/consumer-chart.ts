import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../contract/check-consumer-file.ts';
import { workload } from '../contract/workload.ts';
import { configMap } from './config-map.ts';
import { deployment } from './deployment.ts';
import { disruptionBudget, FEWEST_REPLICAS_FOR_BUDGET } from './disruption-budget.ts';
import { namespace } from './namespace.ts';
import { service } from './service.ts';
import { serviceAccount } from './service-account.ts';

/** What a {@link ConsumerChart} is made from. */
export interface ConsumerChartProps {
  /** consumer.yaml, checked; environments are merged in already. */
  readonly consumer: CheckedConsumer;
  /** The package's version: label, and the image's tag unless consumer.yaml names another. */
  readonly version: string;
}

/**
 * One consumer on Kubernetes: Namespace (unless `namespace.create` is false), ServiceAccount, ConfigMap, Deployment,
 * Service, and a PodDisruptionBudget from two replicas on. The objects are the plain Kubernetes types of cdk8s-plus-28:
 * they hold what stands here and nothing that a higher-level construct adds unasked.
 */
export class ConsumerChart extends Chart {
  constructor(scope: Construct, id: string, { consumer, version }: ConsumerChartProps) {
    super(scope, id);
    const own = workload(consumer, version);
    if (own.file.namespace.create) {
      namespace(this, own);
    }
    serviceAccount(this, own);
    deployment(this, own, configMap(this, own));
    service(this, own);
    if (own.file.replicas >= FEWEST_REPLICAS_FOR_BUDGET) {
      disruptionBudget(this, own);
    }
  }
}
