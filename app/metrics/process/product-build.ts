import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_INFO_FILE, type BuildInfo, buildInfoOf } from '../../../contract/build-info.ts';
import { PRODUCT_VERSION } from '../../../contract/product-version.ts';

/** The package's version, and the facts of its build. */
export interface ProductBuild extends BuildInfo {
  readonly version: string;
}

/**
 * The build of this installation. A build-info file that is missing or no JSON counts as empty: it must not keep
 * records from being consumed.
 *
 * @param folder the folder of the build-info file. @default the package's own
 * @throws Error when the installation is broken.
 */
export function productBuild(folder: string = packageFolder()): ProductBuild {
  return { version: PRODUCT_VERSION, ...writtenIn(join(folder, BUILD_INFO_FILE)) };
}

function writtenIn(file: string): BuildInfo {
  try {
    return buildInfoOf(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

/**
 * The package's own folder, that with `package.json`, found above this module: it runs from the sources and, one level
 * deeper, from `build/`.
 *
 * @throws Error when no `package.json` is there, which only a broken installation can cause.
 */
function packageFolder(): string {
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
