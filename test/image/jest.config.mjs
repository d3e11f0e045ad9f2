import { common } from '../../jest.config.mjs';

/** `npm run test:image`: the image itself, in containers, against the real Kafka and PostgreSQL. */
export default {
  ...common,
  rootDir: '../..',
  displayName: 'image',
  errorOnDeprecated: true,
  testMatch: ['<rootDir>/test/image/**/*.test.ts'],
  testTimeout: 120_000,
  globalSetup: '<rootDir>/test/image/stack/setup.ts',
  globalTeardown: '<rootDir>/test/integration/stack/teardown.ts',
};
