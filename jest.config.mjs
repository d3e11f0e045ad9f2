import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { LONG_SUITES } from './test/long-suites.mjs';

const IS_LONG_RUN = process.env.STREAM_CONSUMER_LONG_TESTS === 'true';
/** Patterns of suites that do not run. */
const LEFT_OUT = IS_LONG_RUN ? [] : LONG_SUITES.map((suite) => `<rootDir>/test/integration/${suite}\\.test\\.ts$`);

/** Two projects: `unit` needs nothing but Node; `integration` runs against a real PostgreSQL and a real Kafka. test/image has a configuration of its own. */
export const common = {
  testEnvironment: 'node',
  moduleNameMapper: { '^typebox$': inOneFile('typebox') },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/dist/'],
};

export default {
  errorOnDeprecated: true,
  // Longer than anything that a test waits for, even where several files share two cores: what is missing shows as the error of
  // that wait, which says what it was. A test that takes half a minute anywhere is a long one, and a slow machine may take
  // several times that.
  testTimeout: IS_LONG_RUN ? 900_000 : 180_000,
  // Integration tests wait more than they compute, and share nothing but the two servers, where each has names of its own.
  maxWorkers: 5,
  // Node.js keeps each suite's modules. Beyond this a worker spends more time on its garbage, and on copying its memory map for
  // each program that it starts, than its successor needs to begin.
  workerIdleMemoryLimit: '900MB',
  // All workers end at once, and give back hundreds of megabytes each on two cores. Who still runs then has something open.
  workerGracefulExitTimeout: 10_000,
  testSequencer: '<rootDir>/test/suite-order.mjs',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/integration/', '<rootDir>/test/image/'],
    },
    {
      ...common,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...LEFT_OUT],
      globalSetup: '<rootDir>/test/integration/stack/setup.ts',
      globalTeardown: '<rootDir>/test/integration/stack/teardown.ts',
    },
  ],
};

/** A package as one module: Jest takes a third of a second to load the 260 of TypeBox, in most of the suites. */
function inOneFile(name) {
  const file = join(import.meta.dirname, 'build', 'test-packages', `${name}.mjs`);
  const contents = `export * from '${name}'; export { default } from '${name}';`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  const [{ text }] = buildSync({ stdin, bundle: true, format: 'esm', platform: 'node', write: false }).outputFiles;
  if (textOf(file) !== text) {
    // Another run may be reading it.
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  }
  return file;
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
