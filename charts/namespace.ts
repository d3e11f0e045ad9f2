import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';

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
