import type { PostgresData } from '../../../dev/stack/local-postgres.ts';

/** How the global set-up tells the tests, which run in other processes, where the shared parts are. */
export const SHARED_STACK_ENV = {
  broker: 'STREAM_CONSUMER_TEST_BROKER',
  databaseUrl: 'STREAM_CONSUMER_TEST_DATABASE_URL',
  runFolder: 'STREAM_CONSUMER_TEST_RUN_FOLDER',
  newCluster: 'STREAM_CONSUMER_TEST_NEW_CLUSTER',
} as const;

/** `host:port` of the Kafka that all tests share; a test that stops Kafka has to start a private one. */
export const sharedBroker = (): string => fromSetup(SHARED_STACK_ENV.broker);

/** URL, password included, of the PostgreSQL that all tests share; a test that stops it has to start a private one. */
export const sharedDatabaseUrl = (): string => fromSetup(SHARED_STACK_ENV.databaseUrl);

/** Folder of the run that ends with all tests, and takes along whatever runs inside it. */
export const sharedRunFolder = (): string => fromSetup(SHARED_STACK_ENV.runFolder);

/** What a private PostgreSQL begins as a copy of: the shared one did, so they have one password. */
export const newCluster = (): PostgresData => ({
  data: fromSetup(SHARED_STACK_ENV.newCluster),
  password: new URL(sharedDatabaseUrl()).password,
});

function fromSetup(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set: integration tests run with "npm test", which starts the stack`);
  }
  return value;
}
