import { join } from 'node:path';
import type { CheckedEnvironment } from './checked-environment.ts';
import { objectTitle, readManifests } from './manifest.ts';
import { DIST_FOLDER } from './output-folder.ts';

const titles = (folder: string): string[] =>
  readManifests(folder)
    .filter(({ object }) => object.kind === 'Deployment')
    .map(({ object }) => objectTitle(object));

const inDist = ({ folder }: CheckedEnvironment): string => join(DIST_FOLDER, folder);

/**
 * Environments that hold the same Deployments: right for two clusters, but in one cluster each would overwrite the other.
 *
 * @param rendered folder that holds them
 * @returns one sentence for each pair of environments
 */
export function sharedObjects(rendered: string, environments: readonly CheckedEnvironment[]): string[] {
  return environments.flatMap((environment, index) => {
    const own = titles(join(rendered, environment.folder));
    return environments.slice(0, index).flatMap((other) => {
      const [shared] = titles(join(rendered, other.folder)).filter((title) => own.includes(title));
      return shared === undefined
        ? []
        : [
            `${inDist(other)} and ${inDist(environment)} both hold ${shared}: apply them to two clusters, or give one a namespace.name of its own`,
          ];
    });
  });
}
