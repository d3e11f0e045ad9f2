import { type ApiObject, JsonPatch } from 'cdk8s';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { initContainersOf, type PodParts } from '../deployment/pods/pod-parts.ts';

const TEMPLATE = '/spec/template/spec';

const appended = (list: string, items: readonly unknown[]): JsonPatch[] =>
  items.map((item) => JsonPatch.add(`${TEMPLATE}/${list}/-`, item));

const set = (field: string, value: unknown): JsonPatch[] =>
  value === undefined || (Array.isArray(value) && value.length === 0)
    ? []
    : [JsonPatch.add(`${TEMPLATE}/${field}`, value)];

/**
 * What a user adds to all Pods, as operations: the constructs' types have classes for amounts and ports, and would
 * leave out what is newer than they are.
 */
function operations({ volumes, volumeMounts, envFrom, env, affinity, dnsConfig, hostAliases }: PodParts): JsonPatch[] {
  return [
    ...appended('volumes', volumes),
    ...appended('containers/0/volumeMounts', volumeMounts),
    ...set('containers/0/envFrom', envFrom),
    ...appended('containers/0/env', env),
    ...set('affinity', affinity),
    ...set('dnsConfig', dnsConfig),
    ...set('hostAliases', hostAliases),
  ];
}

/** The containers that begin before the consumer, where the manifests have none. */
const before = (pods: PodParts): JsonPatch[] => set('initContainers', initContainersOf(pods));

/**
 * The same before the one that looks at all that the consumer needs, which sees what the consumer sees, and may need a
 * sidecar, such as a proxy to PostgreSQL.
 */
const beforeDoctor = (pods: PodParts): JsonPatch[] => [
  ...appended('initContainers/0/volumeMounts', pods.volumeMounts),
  ...set('initContainers/0/envFrom', pods.envFrom),
  ...appended('initContainers/0/env', pods.env),
  ...initContainersOf(pods).map((item, nth) => JsonPatch.add(`${TEMPLATE}/initContainers/${nth}`, item)),
];

/** Spread in the user's words; a constraint without a selector would count no Pod at all. */
function spread({ file, selector }: CheckedWorkload): JsonPatch[] {
  const constraints = file.pods.topologySpreadConstraints?.map((each) => ({
    labelSelector: { matchLabels: selector },
    ...each,
  }));
  return set('topologySpreadConstraints', constraints);
}

/** Adds to the Deployment what the user adds to Pods in Kubernetes' own words. */
export function addPodParts(deployment: ApiObject, workload: CheckedWorkload): ApiObject {
  const { pods } = workload.file;
  deployment.addJsonPatch(...operations(pods), ...(pods.doctor ? beforeDoctor : before)(pods), ...spread(workload));
  return deployment;
}

/** The same for the Job's Pods, which are not spread: there is one. */
export const jobPodParts = ({ file: { pods } }: CheckedWorkload): readonly JsonPatch[] => [
  ...operations(pods),
  ...before(pods),
];
