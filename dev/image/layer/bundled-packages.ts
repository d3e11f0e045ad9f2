import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import type { Metafile, Plugin } from 'esbuild';
import type { TSchema } from 'typebox';
import { schemaCompiler } from '../../../settings/schema/compile-schema.ts';

/** A schema that a bundle checks values with. */
interface BundledSchema {
  /** The name under which a module exports it. */
  readonly name: string;
  /** That module, as settings/schema/compile-schema.ts would import it. */
  readonly from: string;
  readonly schema: TSchema;
}

/** The module that compiles schemas, for one that holds the validators as Ajv wrote them. */
function compiledModule(schemas: readonly BundledSchema[]): string {
  const ajv = schemaCompiler({ source: true, esm: true, optimize: true });
  for (const { name, schema } of schemas) {
    ajv.addSchema(schema, name);
  }
  const validators = Object.fromEntries(schemas.map(({ name }) => [`validate${name}`, name]));
  return `${standalone.default(ajv, validators)}
${schemas.map(({ name, from }) => `import { ${name} } from '${from}';`).join('\n')}
export function compileSchema(schema) {
${schemas.map(({ name }) => `  if (schema === ${name}) return validate${name};`).join('\n')}
  throw new Error('the bundle holds no other validators than those of ${schemas.map(({ name }) => name).join(', ')}');
}
`;
}

/** Compiles schemas when the bundle is made: that took a sixth of the consumer's start, and a third of a synth. */
export function compiledSchemas(schemas: readonly BundledSchema[]): Plugin {
  return {
    name: 'compiled-schemas',
    setup({ onLoad, onEnd, initialOptions }) {
      const root = initialOptions.absWorkingDir ?? process.cwd();
      let isReplaced = false;
      onLoad({ filter: /[/\\]settings[/\\]schema[/\\]compile-schema\.ts$/ }, () => {
        isReplaced = true;
        return { contents: compiledModule(schemas), loader: 'js', resolveDir: join(root, 'settings') };
      });
      onEnd(() => {
        if (!isReplaced) {
          throw new Error('the bundle does not load settings/schema/compile-schema.ts: name the file that it loads');
        }
      });
    },
  };
}

/** Folders of the packages that a bundle holds code of, sorted: what was read and found to be unused does not count. */
export function packageFolders({ outputs }: Metafile): string[] {
  const held = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = held.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** The licenses of packages, as the file THIRD-PARTY-LICENSES.txt has them. */
export const licenseTexts = (folders: readonly string[]): string =>
  folders.map(licenseText).join(`\n${'-'.repeat(80)}\n\n`);

function licenseText(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  const text = file === undefined ? '(the package holds no license text)' : readFileSync(join(folder, file), 'utf8');
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
