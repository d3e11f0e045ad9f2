import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';

/** The oldest Kubernetes that is supported: a newer one that asks for more refuses no Pod after its upgrade. */
const POD_SECURITY_VERSION = 'v1.28';

/** Pods that are not "restricted" are refused, and whoever applies what makes such Pods gets a warning. */
const POD_SECURITY = Object.fromEntries(
  ['enforce', 'warn', 'audit'].flatMap((mode) => [
    [`pod-security.kubernetes.io/${mode}`, 'restricted'],
    [`pod-security.kubernetes.io/${mode}-version`, POD_SECURITY_VERSION],
  ]),
);

/** A Namespace takes everything in it along, the Secret with the database's credentials, too. */
const KEPT = {
  'argocd.argoproj.io/sync-options': 'Delete=false,Prune=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};

/**
 * The Namespace, in which Kubernetes itself refuses Pods that are not "restricted". Argo CD and Flux never remove it.
 *
 * @param id unique in the scope. @default 'namespace'
 */
export function namespace(
  scope: Construct,
  { namespace: name, labels }: Pick<CheckedWorkload, 'namespace' | 'labels'>,
  id = 'namespace',
): ApiObject {
  return new ApiObject(
    scope,
    id,
    k8s.KubeNamespace.manifest({
      metadata: { name, labels: { ...labels, ...POD_SECURITY }, annotations: KEPT },
    }),
  );
}
