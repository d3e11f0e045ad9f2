import { Type } from 'typebox';
import { type Checked, checkAgainst } from '../../settings/schema/check.ts';
import type { Section } from '../../settings/schema/document.ts';
import type { Problem } from '../../settings/schema/problem.ts';
import { ALLOWED, type SchemaNode } from '../../settings/schema/schema.ts';
import { KUBERNETES_TYPES } from '../generated/kubernetes-types.ts';
import { securedContainer } from './pod-security.ts';

type KubernetesType = keyof typeof KUBERNETES_TYPES;

// Maps without their types: a published type has hundreds of fields, which an editor and the props would all
// have. A rule checks them against what Kubernetes publishes.
const words = (type: KubernetesType) => ({ [ALLOWED]: `a ${type} in Kubernetes' own words` });

const part = (type: KubernetesType, description: string) =>
  Type.Record(Type.String({ pattern: '^.+$' }), Type.Unknown(), { ...words(type), description });

const list = (type: KubernetesType, options: { readonly description: string; readonly default?: [] }) =>
  Type.Array(Type.Record(Type.String({ pattern: '^.+$' }), Type.Unknown(), words(type)), {
    ...options,
    [ALLOWED]: `a list, each item a ${type} in Kubernetes' own words`,
  });

const parts = (type: KubernetesType, description: string) => list(type, { description, default: [] });

/** What a user adds to the Pods in Kubernetes' own words. */
export const podParts = {
  volumes: parts('Volume', 'More volumes (Volume); the kinds that Pod Security "restricted" lets in.'),
  volumeMounts: parts('VolumeMount', 'Where the consumer sees them (VolumeMount); not at or in a folder of ours.'),
  envFrom: parts(
    'EnvFromSource',
    'Secrets and ConfigMaps whose keys become variables (EnvFromSource). No check sees them, and a setting among them wins over application.',
  ),
  env: parts(
    'EnvVar',
    'Variables in the words of Kubernetes (EnvVar), with valueFrom, too. They come behind those of environment, which has plain ones; no settings, and no secrets.',
  ),
  dnsConfig: Type.Optional(
    part(
      'PodDNSConfig',
      "Name servers, searched domains and options beside the cluster's (PodDNSConfig). Left out: none.",
    ),
  ),
  hostAliases: parts('HostAlias', 'Addresses of host names that no name server knows (HostAlias).'),
  affinity: Type.Optional(
    part('Affinity', 'Which nodes and neighbours the Pods want or avoid (Affinity). Left out: any.'),
  ),
  topologySpreadConstraints: Type.Optional(
    list('TopologySpreadConstraint', {
      description:
        'How the Pods are spread (TopologySpreadConstraint), instead of spread; without a labelSelector the Pods of this consumer count. Left out: as spread sets it.',
    }),
  ),
  initContainers: parts(
    'Container',
    'Containers that end before the consumer begins (Container), after the sidecars have begun. What Pod Security "restricted" asks is filled in.',
  ),
  sidecars: parts(
    'Container',
    'Containers beside the consumer (Container): they begin before it and end after it has drained, as init containers with restartPolicy: Always do from Kubernetes 1.29 on. What Pod Security "restricted" asks is filled in.',
  ),
};

/** The containers of the user, and as whom they run. */
interface ContainerParts {
  readonly initContainers: readonly Section[];
  readonly sidecars: readonly Section[];
  readonly userFromCluster: boolean;
}

/** The parts after the schema's check, which knows them as maps only. */
export interface PodParts extends ContainerParts {
  readonly volumes: readonly Section[];
  readonly volumeMounts: readonly Section[];
  readonly envFrom: readonly Section[];
  readonly env: readonly Section[];
  readonly dnsConfig?: Section;
  readonly hostAliases: readonly Section[];
  readonly affinity?: Section;
  readonly topologySpreadConstraints?: readonly Section[];
}

/** A part that is said in Kubernetes' own words, by its key below `pods`. */
export type PodPart = Exclude<keyof PodParts, 'userFromCluster'>;

const TYPES: Readonly<Record<PodPart, KubernetesType>> = {
  volumes: 'Volume',
  volumeMounts: 'VolumeMount',
  envFrom: 'EnvFromSource',
  env: 'EnvVar',
  dnsConfig: 'PodDNSConfig',
  hostAliases: 'HostAlias',
  affinity: 'Affinity',
  topologySpreadConstraints: 'TopologySpreadConstraint',
  initContainers: 'Container',
  sidecars: 'Container',
};

const isList = (key: PodPart): boolean => key !== 'affinity' && key !== 'dnsConfig';

/** Places as the item's own check writes them, below the item. */
const below = (place: string, inner: string): string =>
  inner === '' || inner.startsWith('[') ? `${place}${inner}` : `${place}.${inner}`;

const under = (place: string, problem: Problem): Problem => ({
  ...problem,
  path: below(place, problem.path),
  ...(problem.nearest !== undefined && { nearest: below(place, problem.nearest) }),
});

/** Compiled when a part is there, which is rare: the types of Kubernetes are large. */
const checkPart = (key: PodPart, value: Section): Checked<unknown> =>
  checkAgainst(KUBERNETES_TYPES[TYPES[key]] as SchemaNode, value);

/** The parts, by their keys below `pods`. */
export const POD_PARTS = Object.keys(TYPES) as PodPart[];

/** What is no part of a Pod by what Kubernetes publishes. Values are masked already. */
export function typeProblems(pods: PodParts, key: PodPart): Problem[] {
  const value = pods[key];
  const items = value === undefined ? [] : ([value].flat() as Section[]);
  return items.flatMap((item, index) => {
    const checked = checkPart(key, item);
    const place = `pods.${key}${isList(key) ? `[${index}]` : ''}`;
    return checked.ok ? [] : checked.problems.map((problem) => under(place, problem));
  });
}

/**
 * The containers that begin before the consumer, as they are rendered: sidecars first, so that an init container can
 * use them, such as a proxy to PostgreSQL. A sidecar is an init container that goes on: one beside the consumer would
 * end at the same SIGTERM, before the consumer has drained, and would keep the Job from ending.
 */
export function initContainersOf({ sidecars, initContainers, userFromCluster }: ContainerParts): readonly Section[] {
  const all = [...sidecars.map((each) => ({ ...each, restartPolicy: 'Always' })), ...initContainers];
  return all.map((each) => securedContainer(each, userFromCluster));
}
