import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { SettingsSchema } from '../../../settings/settings.ts';
import { compiledSchemas, packageFolders } from './bundled-packages.ts';

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

/**
 * Replaces what is not ASCII in lines of packages that are comments, some of which esbuild keeps: V8 stores a file with
 * another character twice as large. In strings, and in templates without a tag, esbuild escapes them.
 */
const asciiComments: Plugin = {
  name: 'ascii-comments',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]node_modules[/\\].*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^[ \t]*\/\/.*$/gm, (comment) =>
        comment.replace(/\P{ASCII}/gu, '?'),
      ),
    }));
  },
};

/** Patched module by module when it is loaded: copied as it is. */
export const COPIED_PACKAGE = 'kafkajs';
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

/**
 * Bundles the consumer and the health check of the image, in the current folder.
 *
 * @param folder where the layer is made; left out: nothing is written
 * @returns the folders of the packages that the layer holds something of, sorted
 */
export async function bundleConsumer(folder?: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['app/main.ts', 'app/health-check.ts'],
    outdir: join(folder ?? '.', 'build', 'app'),
    write: folder !== undefined,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: [COPIED_PACKAGE, ...NEVER_LOADED],
    banner: { js: REQUIRE },
    plugins: [
      requiredBuiltins,
      asciiComments,
      compiledSchemas([{ name: 'SettingsSchema', from: './settings.ts', schema: SettingsSchema }]),
    ],
    keepNames: false,
    // They are in the file of all licenses.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return [...packageFolders(metafile), `node_modules/${COPIED_PACKAGE}`].sort();
}
