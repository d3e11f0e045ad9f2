import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';

/** A ServiceAccount of the consumer's own, without a token: it never asks the API server. */
export function serviceAccount(scope: Construct, workload: CheckedWorkload): ApiObject {
  return new k8s.KubeServiceAccount(scope, 'service-account', {
    metadata: objectMetadata(workload, workload.names.workload),
    automountServiceAccountToken: false,
  });
}
