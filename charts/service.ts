import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';

/** The Service in front of the operational interface; the consumer takes no other traffic. */
export function service(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { portName, port } = workload.endpoint;
  return new k8s.KubeService(scope, 'service', {
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      type: 'ClusterIP',
      selector: workload.selector,
      ports: [{ name: portName, port, targetPort: k8s.IntOrString.fromString(portName), protocol: 'TCP' }],
    },
  });
}
