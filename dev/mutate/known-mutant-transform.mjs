// Jest's transform of this repository, which changes one line of one file on the way: the mutant that MUTANT describes.
import { createHash } from 'node:crypto';
import swc from '@swc/jest';

const { MUTANT } = process.env;
const mutant = MUTANT === undefined ? undefined : JSON.parse(MUTANT);

const mutated = (source, path) =>
  mutant !== undefined && path.endsWith(`/${mutant.file}`)
    ? source.replace(mutant.original, () => mutant.mutated)
    : source;

export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      process: (source, path, ...rest) => transformer.process(mutated(source, path), path, ...rest),
      processAsync: (source, path, ...rest) => transformer.processAsync(mutated(source, path), path, ...rest),
      getCacheKey: (...about) =>
        createHash('sha256')
          .update(`${transformer.getCacheKey(...about)}${MUTANT}`)
          .digest('hex'),
    };
  },
};
