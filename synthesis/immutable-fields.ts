import { isDeepStrictEqual } from 'node:util';
import { formatPath, type SettingPath, valueAt } from '../settings/document.ts';
import type { KubernetesObject } from './manifest.ts';

/** What Kubernetes refuses to change in an object of a kind, and what has to be done instead. */
interface ImmutableKind {
  /** Paths of all that can't be changed. */
  readonly fields: (before: KubernetesObject) => readonly SettingPath[];
  /** What to do in a cluster before the new manifest is applied. */
  readonly upgrade: (kubectl: string, name: string) => string;
}

const fixed =
  (...fields: SettingPath[]) =>
  () =>
    fields;

const whenImmutable = ({ immutable }: KubernetesObject): SettingPath[] =>
  immutable === true ? [['data'], ['binaryData'], ['immutable']] : [];

const deleteFirst = (kind: string, consequence: string) => (kubectl: string, name: string) =>
  `${kubectl} delete ${kind} ${name}, then apply; ${consequence}`;

const NO_RECORD_IS_LOST =
  'nothing is consumed from then until the new Pods run, and nothing is lost, as the offsets are in PostgreSQL';

/** By kind, of those that this package renders; the others can be changed in every field that it writes. */
const IMMUTABLE: Readonly<Record<string, ImmutableKind>> = {
  Deployment: { fields: fixed(['spec', 'selector']), upgrade: deleteFirst('deployment', NO_RECORD_IS_LOST) },
  Job: {
    fields: fixed(['spec', 'selector'], ['spec', 'template'], ['spec', 'completionMode'], ['spec', 'podFailurePolicy']),
    upgrade: deleteFirst('job', 'it runs once more. Or give it another name'),
  },
  Service: {
    fields: fixed(['spec', 'clusterIP'], ['spec', 'clusterIPs']),
    upgrade: deleteFirst('service', 'its address changes'),
  },
  ConfigMap: {
    fields: whenImmutable,
    upgrade: deleteFirst('configmap', 'Pods that start in between fail. Or give it another name'),
  },
};

/** Kinds with fields that cannot be changed. */
export const IMMUTABLE_KINDS: readonly string[] = Object.keys(IMMUTABLE);

/** A change of a live object that Kubernetes refuses. */
export interface ImmutableChange {
  /** `spec.selector`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** What to do in a cluster that has the object. */
  readonly upgrade: string;
}

/** The kubectl that works in the object's namespace. */
export const kubectlFor = ({ metadata: { namespace } }: KubernetesObject): string =>
  namespace === undefined ? 'kubectl' : `kubectl --namespace ${namespace}`;

/** What of the difference between two states of one object Kubernetes would refuse. */
export function immutableChanges(before: KubernetesObject, after: KubernetesObject): ImmutableChange[] {
  const kind = IMMUTABLE[before.kind];
  if (kind === undefined) {
    return [];
  }
  const upgrade = kind.upgrade(kubectlFor(before), before.metadata.name);
  return kind.fields(before).flatMap((path) => {
    const [was, is] = [valueAt(before, path), valueAt(after, path)];
    return isDeepStrictEqual(was, is) ? [] : [{ field: formatPath(path), before: was, after: is, upgrade }];
  });
}
