/**
 * Makes the image's application layer, in app/Dockerfile's build stage:
 * `node dev/image/layer/application-layer.ts FOLDER`.
 *
 * Everything but kafkajs is bundled: a tenth of the files makes the start a quarter shorter, and unused modules stay
 * out. kafkajs is copied, since its modules are patched one by one when it is loaded (app/kafka/kafkajs-patches.ts).
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { SettingsSchema } from '../../../settings/settings.ts';
import { compiledSchemas, licenseTexts, packageFolders } from './bundled-packages.ts';

const BUILT_IN = /^node:/;
const NAMESPACE = 'built-in';

/**
 * Takes Node's own modules by `require` in the bundle. An import reads every export of the module before anything runs,
 * and some of `node:http` are made only then: they load an HTTP client that the consumer does not use, which took a
 * seventh of the start.
 */
const requiredBuiltins: Plugin = {
  name: 'required-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: BUILT_IN }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: NAMESPACE } : { path, external: true },
    );
    onLoad({ filter: BUILT_IN, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

const COPIED_PACKAGE = 'kafkajs';
/** Required by packages in cases that don't occur: app/management/server.ts has no schemas and injects no requests. */
const NEVER_LOADED = [
  'pg-native',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
];
/** Bundled CommonJS modules load Node's own by `require`, which ECMAScript modules don't have. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

async function bundle(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: ['app/main.ts', 'app/health-check.ts'],
    outdir: join(folder, 'build', 'app'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: [COPIED_PACKAGE, ...NEVER_LOADED],
    banner: { js: REQUIRE },
    plugins: [
      requiredBuiltins,
      compiledSchemas([{ name: 'SettingsSchema', from: './settings.ts', schema: SettingsSchema }]),
    ],
    keepNames: true,
    // They are in the file of all licenses.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

function copyPackage(folder: string): void {
  const source = join('node_modules', COPIED_PACKAGE);
  for (const entry of ['package.json', 'LICENSE', 'index.js', 'src']) {
    cpSync(join(source, entry), join(folder, source, entry), { recursive: true });
  }
}

/** The part of package.json that the process reads. */
function writeManifest(folder: string): void {
  const { name, version, license, type } = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, type }, null, 2)}\n`);
}

const folder = resolve(process.argv[2] ?? 'build/image');
if (existsSync(folder)) {
  throw new Error(`${folder} exists; the application layer is made into a new folder`);
}
mkdirSync(folder, { recursive: true });
const metafile = await bundle(folder);
copyPackage(folder);
writeManifest(folder);
cpSync('LICENSE', join(folder, 'LICENSE'));
const folders = [...packageFolders(metafile), `node_modules/${COPIED_PACKAGE}`].sort();
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(folders));
