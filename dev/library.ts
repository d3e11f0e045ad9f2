/**
 * Makes the library's one file, build/library.cjs, when the package is packed, with all that synthesis needs of other
 * packages, and no compiler of schemas. Several hundred files less to find and to read make its import four times
 * shorter; and CommonJS is what Jest takes without a word in its configuration. Beside the tarball it writes the bill
 * of materials of that file.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ConsumerFileSchema } from '../deployment/consumer-file.ts';
import { SettingsSchema } from '../settings/settings.ts';
import { isoTime, sourceDateEpoch } from './image/image-facts.ts';
import { compiledSchemas, licenseTexts, packageFolders } from './image/layer/bundled-packages.ts';
import { softwareBill } from './image/layer/software-bill.ts';

const { metafile } = await build({
  entryPoints: ['index.ts'],
  outfile: 'build/library.cjs',
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  // The app that imports the library has them, too: two copies of a construct's class are two classes.
  external: ['cdk8s', 'cdk8s-plus-28', 'constructs'],
  plugins: [
    compiledSchemas([
      { name: 'SettingsSchema', from: './settings.ts', schema: SettingsSchema },
      { name: 'ConsumerFileSchema', from: '../deployment/consumer-file.ts', schema: ConsumerFileSchema },
    ]),
  ],
  keepNames: true,
  minifyWhitespace: true,
  minifySyntax: true,
  // They are in the file of all licenses.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
// By require: an import would look through the whole file for names of exports, which takes longer than to load it.
writeFileSync(
  'build/library.mjs',
  `import { createRequire } from 'node:module';
export const { InvalidConsumerError, StreamConsumer, StreamConsumerMonitoring } = createRequire(import.meta.url)('./library.cjs');
`,
);
// The compiler takes a declaration for one of CommonJS or of modules by its extension; both are alike.
copyFileSync('build/index.d.cts', 'build/index.d.mts');
const packages = packageFolders(metafile);
writeFileSync('build/THIRD-PARTY-LICENSES.txt', licenseTexts(packages));

/** Where npm puts the tarball, and what it calls it but for its extension. */
function tarballPath(): string {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string; version: string };
  const folder = process.env['npm_config_pack_destination'] ?? '.';
  return join(folder, `${name.replace(/^@/, '').replace('/', '-')}-${version}`);
}

const created = isoTime(sourceDateEpoch('.', process.env));
writeFileSync(`${tarballPath()}.cdx.json`, softwareBill('.', { created, packages, type: 'library' }));
