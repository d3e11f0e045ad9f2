import type { Problem } from '../settings/problem.ts';
import { type Manifest, objectTitle } from './manifest.ts';

/** Objects of one kind, namespace and name: in a cluster the second would overwrite the first. */
export function duplicateProblems(manifests: readonly Manifest[]): Problem[] {
  const titles = manifests.map(({ object }) => objectTitle(object));
  return manifests.flatMap(({ file, object }) => {
    const first = manifests[titles.indexOf(objectTitle(object))];
    return first === undefined || first.object === object
      ? []
      : [
          {
            path: objectTitle(object),
            message: `is in ${first.file} and in ${file}, and in a cluster the second would overwrite the first`,
            allowed: 'consumers whose names do not give two objects the same name',
          },
        ];
  });
}
