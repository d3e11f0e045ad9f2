import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that can build the image, the preferred one first. */
export const CONTAINER_ENGINES = ['podman', 'docker'] as const;

export type ContainerEngine = (typeof CONTAINER_ENGINES)[number];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first engine that is installed.
 *
 * @param searchPath value of `PATH`; left out: nothing is found.
 */
export function findContainerEngine(searchPath: string | undefined): ContainerEngine | undefined {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  return CONTAINER_ENGINES.find((engine) => folders.some((folder) => isExecutable(join(folder, engine))));
}
