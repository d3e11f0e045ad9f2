import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The package's own folder, that with `package.json`, found above this module: it runs from the sources and, one level
 * deeper, from `build/`.
 *
 * @throws Error when no `package.json` is there, which only a broken installation can cause.
 */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) {
      throw new Error(
        `no package.json in any folder above ${fileURLToPath(import.meta.url)}: the installation is incomplete`,
      );
    }
    folder = above;
  }
  return folder;
}
