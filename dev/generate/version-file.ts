import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from './generated-files.ts';

/** The package's version as a constant, so that no construct has to read package.json. */
export function versionFile(root: string): GeneratedFile {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    path: 'contract/product-version.ts',
    content: `// Written by npm run generate out of package.json; never edited.

/** Version of the package: \`app.kubernetes.io/version\`, and the image's tag unless another is asked for. */
export const PRODUCT_VERSION = '${version}';
`,
  };
}
