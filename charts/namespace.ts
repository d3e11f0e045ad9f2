import { type ApiObject, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../deployment/check-consumer.ts';
import { type CheckedWorkload, SHARED_LABELS } from '../deployment/checked-workload.ts';

/**
 * The Namespace, in which Kubernetes itself refuses Pods that are not "restricted".
 *
 * @param id unique in the scope. @default 'namespace'
 */
export function namespace(
  scope: Construct,
  { namespace: name, labels }: Pick<CheckedWorkload, 'namespace' | 'labels'>,
  id = 'namespace',
): ApiObject {
  return new k8s.KubeNamespace(scope, id, {
    metadata: { name, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
}

/** The Namespaces of several consumers, each once, where `namespace.create` is true for one of its consumers. */
export class SharedNamespacesChart extends Chart {
  constructor(scope: Construct, id: string, { consumers }: { readonly consumers: readonly CheckedConsumer[] }) {
    super(scope, id);
    const created = consumers.filter(({ file }) => file.namespace.create).map(({ file }) => file.namespace.name);
    for (const name of new Set(created)) {
      namespace(this, { namespace: name, labels: SHARED_LABELS }, name);
    }
  }
}
