/**
 * Makes the image's application layer, in app/Dockerfile's build stage:
 * `node dev/image/layer/application-layer.ts FOLDER`.
 *
 * Everything but kafkajs is bundled: a tenth of the files makes the start a quarter shorter, and unused modules stay
 * out. kafkajs is copied, since its modules are patched one by one when it is loaded (app/kafka/kafkajs-patches.ts).
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { build, type Metafile, type Plugin } from 'esbuild';
import { schemaCompiler } from '../../../settings/compile-schema.ts';
import { SettingsSchema } from '../../../settings/settings.ts';

/** The module that compiles schemas, for one that holds the validator of the settings as Ajv wrote it. */
function compiledModule(): string {
  const ajv = schemaCompiler({ source: true, esm: true, optimize: true });
  return `${standalone.default(ajv, ajv.compile(SettingsSchema))}
import { SettingsSchema } from './settings.ts';
export function compileSchema(schema) {
  if (schema !== SettingsSchema) {
    throw new Error('the bundle holds no other validator than that of the settings');
  }
  return validate;
}
`;
}

/** Compiles the settings' schema when the bundle is made, which took a sixth of the start. */
const compiledSettings: Plugin = {
  name: 'compiled-settings',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]settings[/\\]compile-schema\.ts$/ }, () => ({
      contents: compiledModule(),
      loader: 'js',
      resolveDir: resolve('settings'),
    }));
  },
};

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
    plugins: [requiredBuiltins, compiledSettings],
    keepNames: true,
    // They are in the file of all licenses.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

/** Folders of the packages in the bundle, and of the copied one. */
function packageFolders({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set([...folders, `node_modules/${COPIED_PACKAGE}`])].sort();
}

function licenseText(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  const text = file === undefined ? '(the package holds no license text)' : readFileSync(join(folder, file), 'utf8');
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
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
const licenses = packageFolders(metafile).map(licenseText);
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenses.join(`\n${'-'.repeat(80)}\n\n`));
