import { isDeepStrictEqual } from 'node:util';
import { contentHash } from '../deployment/sections/object-names.ts';
import { formatPath, isSection, type SettingPath, valueAt } from '../settings/schema/document.ts';
import type { Problem } from '../settings/schema/problem.ts';
import type { ObjectChange } from './dist-changes.ts';
import { type KubernetesObject, objectTitle } from './manifest.ts';

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
interface ImmutableChange {
  /** `spec.selector`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** What to do in a cluster that has the object. */
  readonly upgrade: string;
}

/** The kubectl that works in the object's namespace. */
const kubectlFor = ({ metadata: { namespace } }: KubernetesObject): string =>
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

const INSTANCE_LABEL = 'app.kubernetes.io/instance';

/** The kind whose Pods keep running when the object is only left out of the manifests. */
const WORKLOAD = 'Deployment';

/** An immutable ConfigMap is called after its content: another content than that was written into dist/ by hand. */
function isEditedByHand({ kind, metadata: { name }, data }: KubernetesObject): boolean {
  const contents = isSection(data) ? Object.values(data) : [];
  const hash = /-([0-9a-f]{10})$/.exec(name)?.[1];
  return kind === 'ConfigMap' && hash !== undefined && contents.every((each) => contentHash(String(each)) !== hash);
}

const handEdit = (object: KubernetesObject): Problem => ({
  path: `${objectTitle(object)} data`,
  message: 'was edited by hand in dist/: it is not what its name, a hash of its content, says',
  allowed: 'what synth writes: git checkout -- dist takes the edit back, and the same change in consumer.yaml keeps it',
});

const allowedChange = (upgrade: string): string =>
  `what is in dist/, or, when it is meant: npm run synth -- --allow-recreate, and in each cluster ${upgrade}`;

function refusedChanges({ before, after }: ObjectChange): Problem[] {
  if (before === undefined || after === undefined || before.object.metadata.name !== after.object.metadata.name) {
    return [];
  }
  const changes = immutableChanges(before.object, after.object);
  if (changes.length > 0 && isEditedByHand(before.object)) {
    return [handEdit(before.object)];
  }
  return changes.map((change) => ({
    path: `${objectTitle(before.object)} ${change.field}`,
    message: `cannot be changed in a cluster, and is ${JSON.stringify(change.before)} in dist/`,
    given: change.after,
    allowed: allowedChange(change.upgrade),
  }));
}

/** An object of the same consumer and kind, in the same namespace, under another name. */
const isSuccessor = (old: KubernetesObject, { kind, metadata }: KubernetesObject): boolean =>
  kind === old.kind &&
  metadata.namespace === old.metadata.namespace &&
  metadata.labels?.[INSTANCE_LABEL] !== undefined &&
  metadata.labels[INSTANCE_LABEL] === old.metadata.labels?.[INSTANCE_LABEL];

/** A workload that is renamed though its consumer is not: the old one would go on beside the new one. */
function renamedWorkloads(changes: readonly ObjectChange[]): Problem[] {
  const added = changes.flatMap(({ before, after }) => (before === undefined && after !== undefined ? [after] : []));
  return changes.flatMap(({ before, after }) => {
    if (before === undefined || after !== undefined || before.object.kind !== WORKLOAD) {
      return [];
    }
    const successor = added.find(({ object }) => isSuccessor(before.object, object));
    const { kind, metadata } = before.object;
    const upgrade = `${kubectlFor(before.object)} delete ${kind.toLowerCase()} ${metadata.name}, then apply`;
    return successor === undefined
      ? []
      : [
          {
            path: `${objectTitle(before.object)} metadata.name`,
            message: 'would change, and the old one would go on running beside the new one',
            given: successor.object.metadata.name,
            allowed: allowedChange(upgrade),
          },
        ];
  });
}

/** The objects that are in dist/ no longer, of which no other takes the place. */
const goneObjects = (changes: readonly ObjectChange[]): KubernetesObject[] =>
  changes.flatMap(({ before, after }) => (before === undefined || after !== undefined ? [] : [before.object]));

/**
 * Workloads that are in dist/ no longer, as after another `name` in consumer.yaml: where nothing prunes, they go on.
 *
 * @returns one sentence for each
 */
export function abandonedWorkloads(changes: readonly ObjectChange[]): string[] {
  const gone = goneObjects(changes);
  return gone
    .filter(({ kind }) => kind === WORKLOAD)
    .map((workload) => {
      const instance = workload.metadata.labels?.[INSTANCE_LABEL];
      const kubectl = kubectlFor(workload);
      const objects = gone.filter((each) => each.metadata.labels?.[INSTANCE_LABEL] === instance);
      const kinds = [...new Set(objects.map(({ kind }) => kind.toLowerCase()))].filter((kind) => kind !== 'namespace');
      // An object of extraObjects has no such label.
      const command =
        instance === undefined
          ? `${kubectl} delete deployment ${workload.metadata.name}`
          : `${kubectl} delete ${kinds.join()} --selector ${INSTANCE_LABEL}=${instance}`;
      return `${objectTitle(workload)} is in dist/ no longer, and goes on in each cluster that has it, unless a GitOps tool prunes it: ${command}`;
    });
}

/** Owner of the number of Pods between the apply that leaves it out and the autoscaler's first change of it. */
const HAND_OVER_MANAGER = 'autoscaler-hand-over';

const podsOf = ({ spec }: KubernetesObject): unknown => valueAt(spec, ['replicas']);

/**
 * Workloads that leave their number of Pods to an autoscaler from now on. Server-side apply removes a field that its
 * last owner leaves out, and Kubernetes then takes the default: 1 Pod, until the autoscaler first looks.
 *
 * @returns one sentence for each, with the command that gives the field another owner
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#transferring-ownership
 */
export function handedOverWorkloads(changes: readonly ObjectChange[]): string[] {
  return changes.flatMap(({ before, after }) => {
    const replicas = before?.object.kind === WORKLOAD ? podsOf(before.object) : undefined;
    if (before === undefined || after === undefined || typeof replicas !== 'number' || replicas <= 1) {
      return [];
    }
    const { apiVersion, kind, metadata } = before.object;
    const pods = JSON.stringify({ apiVersion, kind, metadata: { name: metadata.name }, spec: { replicas } });
    const command =
      `echo '${pods}' | ${kubectlFor(before.object)} apply --server-side --validate=false ` +
      `--field-manager=${HAND_OVER_MANAGER} -f -`;
    return podsOf(after.object) !== undefined
      ? []
      : [
          `${objectTitle(before.object)} leaves its number of Pods to the autoscaler, and the next apply sets it to 1 until ` +
            `the autoscaler acts. To keep ${replicas} Pods, do in each cluster before that apply: ${command}`,
        ];
  });
}

/** What of the changes a cluster would refuse or get wrong, each with what has to be done in it first. */
export function upgradeProblems(changes: readonly ObjectChange[]): Problem[] {
  return [...changes.flatMap(refusedChanges), ...renamedWorkloads(changes)];
}
