import { common } from '../../jest.config.mjs';

/** Suites of tables that start no consumer. */
const TABLE_SUITES = [
  'column-text',
  'copy-query',
  'dead-letter-limit',
  'failing-triggers',
  'few-rows',
  'fingerprint-guard',
  'held-up',
  'keyed-model',
  'keyed-writers',
  'poison',
  'refusals',
  'sql-name',
  'transaction',
];

/**
 * Tests of the core that need no Kafka; PostgreSQL is started once, by the command, and not by each run of Jest. What
 * one of them starts besides is its own.
 */
export default {
  ...common,
  rootDir: '../..',
  testTimeout: 60_000,
  transform: { '^.+\\.ts$': ['<rootDir>/dev/mutate/known-mutant-transform.mjs', common.transform['^.+\\.ts$'][1]] },
  testMatch: [
    '<rootDir>/test/app/kafka/fetch/**/*.test.ts',
    '<rootDir>/test/app/records/**/*.test.ts',
    '<rootDir>/test/app/stream/**/*.test.ts',
    '<rootDir>/test/app/store/**/*.test.ts',
    '<rootDir>/test/integration/store/**/*.test.ts',
    '<rootDir>/test/integration/database/database-{check,pool,tls}.test.ts',
    ...TABLE_SUITES.map((suite) => `<rootDir>/test/integration/tables/${suite}.test.ts`),
  ],
};
