import { resolve } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';
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
export const compiledSettings: Plugin = {
  name: 'compiled-settings',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]settings[/\\]compile-schema\.ts$/ }, () => ({
      contents: compiledModule(),
      loader: 'js',
      resolveDir: resolve('settings'),
    }));
  },
};
