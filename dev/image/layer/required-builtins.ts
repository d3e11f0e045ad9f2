import type { Plugin } from 'esbuild';

const BUILT_IN = /^node:/;
const NAMESPACE = 'built-in';

/**
 * Takes Node's own modules by `require` in the bundle. An import reads every export of the module before anything runs,
 * and those of `node:http` are in part made when they are read: they load an HTTP client that the consumer does not use,
 * which took a seventh of the start.
 */
export const requiredBuiltins: Plugin = {
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
