import { k8s } from 'cdk8s-plus-28';
import { CONTAINER_PATH, CONTAINER_USER } from '../contract/container.ts';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { imageReference } from '../deployment/image.ts';
import { environment } from './environment.ts';
import { probes } from './probes.ts';
import { type Credential, credentials } from './secrets.ts';

/** Names by which the Pod's volumes and the container's mounts find each other. */
export const VOLUME = {
  configuration: 'configuration',
  certificate: 'certificate',
  secrets: 'secrets',
  temporary: 'temporary',
} as const;

/**
 * The consumer keeps nothing on the node's disk, so it asks for none: a node whose kubelet does not account for local storage
 * reports none, and would take no Pod that asks for some. Written out, as Kubernetes takes the limit for a request that is left
 * out. The limit stops whatever should fill it.
 */
const EPHEMERAL_STORAGE = { request: '0', limit: '128Mi' } as const;

function resources({ file }: CheckedWorkload): k8s.ResourceRequirements {
  const { requests, limits } = file.resources;
  const quantity = k8s.Quantity.fromString;
  return {
    requests: {
      cpu: quantity(requests.cpu),
      memory: quantity(requests.memory ?? limits.memory),
      'ephemeral-storage': quantity(EPHEMERAL_STORAGE.request),
    },
    limits: {
      cpu: quantity(limits.cpu),
      memory: quantity(limits.memory),
      'ephemeral-storage': quantity(EPHEMERAL_STORAGE.limit),
    },
  };
}

/** What Pod Security "restricted" asks of a container, and a root file system that can't be written to. */
const SECURITY_CONTEXT: k8s.SecurityContext = {
  runAsNonRoot: true,
  runAsUser: CONTAINER_USER.uid,
  runAsGroup: CONTAINER_USER.gid,
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/**
 * What every container of the image has: the consumer's, and that of the Job that migrates.
 *
 * @param given what it takes from Secrets
 */
export function baseContainer(workload: CheckedWorkload, given: readonly Credential[]): k8s.Container {
  const { file, version } = workload;
  return {
    name: 'consumer',
    image: imageReference(file.image, version),
    imagePullPolicy: 'IfNotPresent',
    env: environment(workload, given),
    resources: resources(workload),
    securityContext: SECURITY_CONTEXT,
    volumeMounts: [
      { name: VOLUME.configuration, mountPath: CONTAINER_PATH.configuration, readOnly: true },
      ...(file.monitoring.tls === undefined
        ? []
        : [{ name: VOLUME.certificate, mountPath: CONTAINER_PATH.certificate, readOnly: true }]),
      ...(file.secrets.as === 'files'
        ? [{ name: VOLUME.secrets, mountPath: CONTAINER_PATH.secrets, readOnly: true }]
        : []),
      { name: VOLUME.temporary, mountPath: CONTAINER_PATH.temporary },
    ],
  };
}

/** The one container of the Deployment's Pods. */
export function container(workload: CheckedWorkload): k8s.Container {
  const { file, endpoint } = workload;
  return {
    ...baseContainer(workload, credentials(workload)),
    ports: [{ name: endpoint.portName, containerPort: endpoint.port, protocol: 'TCP' }],
    ...probes(endpoint, file.probes),
  };
}
