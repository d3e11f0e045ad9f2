import { k8s } from 'cdk8s-plus-28';
import type { ManagementEndpoint } from '../contract/actuator.ts';
import { CONTAINER_NAME, CONTAINER_PATH, VOLUME } from '../contract/container.ts';
import type { ProbeTiming } from '../contract/probes.ts';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { securityContext } from '../deployment/pods/pod-security.ts';
import { certificateMounts } from '../deployment/sections/certificates.ts';
import { imageReference } from '../deployment/sections/image.ts';
import type { ProbeSettings } from '../deployment/sections/probes.ts';
import { heapMebibytes } from '../deployment/sections/resources.ts';
import { environmentName } from '../settings/schema/setting-list.ts';
import { type Credential, credentials, originVariables, secretVariable } from './secrets.ts';

const plain = (name: string, value: string): k8s.EnvVar => ({ name, value });

/** The address under which Spring Boot Admin reaches the Pod: a Pod's name does not resolve. */
function ownAddress({ settings }: CheckedWorkload): k8s.EnvVar[] {
  return settings.spring.boot.admin.client.url.length === 0
    ? []
    : [{ name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }];
}

/**
 * The container's environment: where its configuration is, how large its heap may grow, what consumer.yaml adds, what
 * the Secrets are called, and what they hold, or where the files with it are.
 */
export function environment(workload: CheckedWorkload, credentials: readonly Credential[]): k8s.EnvVar[] {
  const { file } = workload;
  return [
    plain('CONFIG_FILE', `${CONTAINER_PATH.configuration}/${CONTAINER_PATH.configurationFile}`),
    plain('NODE_OPTIONS', `--max-old-space-size=${heapMebibytes(file.resources.limits.memory)}`),
    ...Object.entries(file.pods.environment).map(([name, value]) => plain(name, value)),
    ...ownAddress(workload),
    ...originVariables(workload, credentials),
    ...(file.secrets.as === 'files' ? [plain('CONFIG_TREE', CONTAINER_PATH.secrets)] : credentials.map(secretVariable)),
  ];
}

function httpProbe({ port, scheme }: ManagementEndpoint, path: string, timing: ProbeTiming): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromNumber(port), scheme }, ...timing };
}

/**
 * The probes of the container; the kubelet sends no credential and verifies no certificate. A startup probe is there
 * only when consumer.yaml asks for it: the initial delays cover the start.
 */
function probes(
  endpoint: ManagementEndpoint,
  { paths, liveness, readiness, startup }: ProbeSettings,
): Pick<k8s.Container, 'livenessProbe' | 'readinessProbe' | 'startupProbe'> {
  const isRoot = paths === 'root';
  const livenessPath = isRoot ? endpoint.healthPath : endpoint.livenessPath;
  return {
    livenessProbe: httpProbe(endpoint, livenessPath, liveness),
    readinessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.readinessPath, readiness),
    ...(startup !== undefined && { startupProbe: httpProbe(endpoint, livenessPath, startup) }),
  };
}

/**
 * The consumer keeps nothing on the node's disk, so it requests none: a kubelet that does not account for local storage
 * reports none, and its node would take no Pod with a request. Written out, as Kubernetes takes the limit for a request
 * that is left out. The limit evicts a Pod that fills the disk all the same.
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

/**
 * What every container of the image has: the consumer's, the one that looks before it, and that of the Job that
 * migrates.
 *
 * @param credentials those that it takes from Secrets
 */
export function baseContainer(workload: CheckedWorkload, credentials: readonly Credential[]): k8s.Container {
  const { file, version } = workload;
  return {
    name: CONTAINER_NAME.consumer,
    image: imageReference(file.image, version),
    imagePullPolicy: file.image.pullPolicy,
    // The last lines of the log are the reason of an end that `kubectl describe` shows, beside its exit code.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    env: environment(workload, credentials),
    resources: resources(workload),
    securityContext: securityContext(file.pods.userFromCluster),
    volumeMounts: [
      { name: VOLUME.configuration, mountPath: CONTAINER_PATH.configuration, readOnly: true },
      ...(file.monitoring.tls === undefined
        ? []
        : [{ name: VOLUME.certificate, mountPath: CONTAINER_PATH.certificate, readOnly: true }]),
      ...certificateMounts(file).map(({ place }) => ({
        name: VOLUME[place],
        mountPath: CONTAINER_PATH[place],
        readOnly: true,
      })),
      ...(file.secrets.as === 'files'
        ? [{ name: VOLUME.secrets, mountPath: CONTAINER_PATH.secrets, readOnly: true }]
        : []),
      { name: VOLUME.temporary, mountPath: CONTAINER_PATH.temporary },
    ],
  };
}

/** A container that is killed and started again is in the same Pod, and takes its former place in the group. */
const INSTANCE_ID: k8s.EnvVar = {
  name: environmentName('kafka.groupInstanceId'),
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } },
};

/**
 * What looks at all that the consumer needs before the consumer begins. An outage is not its business: the consumer
 * waits for the end of one, and says so in its health.
 */
export const doctorContainer = (workload: CheckedWorkload): k8s.Container => ({
  ...baseContainer(workload, credentials(workload)),
  name: CONTAINER_NAME.doctor,
  args: ['doctor', '--ignore-outages'],
});

/** The container of the Deployment's Pods that consumes. */
export function container(workload: CheckedWorkload): k8s.Container {
  const { file, endpoint } = workload;
  const base = baseContainer(workload, credentials(workload));
  return {
    ...base,
    env: [...(base.env ?? []), INSTANCE_ID],
    ports: [{ name: endpoint.portName, containerPort: endpoint.port, protocol: 'TCP' }],
    ...probes(endpoint, file.probes),
  };
}
