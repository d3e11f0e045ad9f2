import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_INFO_FILE, type BuildInfo, buildInfoOf } from '../contract/build-info.ts';
import { PRODUCT_VERSION } from '../contract/product-version.ts';
import { packageFolder } from './configuration/package-folder.ts';

/** The package's version, and what its build wrote down. */
export interface ProductBuild extends BuildInfo {
  readonly version: string;
}

/**
 * What is known of the build of this very installation. A file of the build that is missing or no JSON tells nothing: it
 * must not keep records from being consumed.
 *
 * @param folder where the file of the build is. @default the package's own
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
