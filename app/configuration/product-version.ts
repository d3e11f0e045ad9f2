import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The version in the package's own `package.json`, found in the folders above this module: it runs from the sources and,
 * one level deeper, from `build/`.
 *
 * @throws Error when no `package.json` is there, which only a broken installation can cause.
 */
export function productVersion(): string {
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
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
