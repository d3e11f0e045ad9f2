import type { Problem } from '../settings/problem.ts';
import type { ObjectChange } from './dist-changes.ts';
import { immutableChanges, kubectlFor } from './immutable-fields.ts';
import { type KubernetesObject, objectTitle } from './manifest.ts';

const INSTANCE = 'app.kubernetes.io/instance';

/** The kind whose Pods keep running when the object is only left out of the manifests. */
const WORKLOAD = 'Deployment';

const how = (upgrade: string): string =>
  `what is in dist/, or, when it is meant: npm run synth -- --allow-recreate, and in each cluster ${upgrade}`;

function refusedChanges({ before, after }: ObjectChange): Problem[] {
  if (before === undefined || after === undefined || before.object.metadata.name !== after.object.metadata.name) {
    return [];
  }
  return immutableChanges(before.object, after.object).map((change) => ({
    path: `${objectTitle(before.object)} ${change.field}`,
    message: `cannot be changed in a cluster, and is ${JSON.stringify(change.before)} in dist/`,
    given: change.after,
    allowed: how(change.upgrade),
  }));
}

/** The same consumer's, in the same namespace, under another name. */
const isSuccessor = (old: KubernetesObject, { kind, metadata }: KubernetesObject): boolean =>
  kind === old.kind &&
  metadata.namespace === old.metadata.namespace &&
  metadata.labels?.[INSTANCE] === old.metadata.labels?.[INSTANCE];

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
            allowed: how(upgrade),
          },
        ];
  });
}

/** What of the changes a cluster would refuse or get wrong, each with what has to be done in it first. */
export function upgradeProblems(changes: readonly ObjectChange[]): Problem[] {
  return [...changes.flatMap(refusedChanges), ...renamedWorkloads(changes)];
}
