import { test } from '@jest/globals';
import { POSTGRES_VERSION_ENV } from '../../../dev/stack/postgres-binaries.ts';

/** The version that the integration tests run against: that of package-lock.json, unless the environment names another. */
export const POSTGRES_MAJOR = Number((process.env[POSTGRES_VERSION_ENV] ?? '18').split('.')[0]);

/** Registers a test of what PostgreSQL has had since a version; before, the test is not there, since a skipped one fails. */
export function testSincePostgres(major: number, name: string, run: () => Promise<void>): void {
  if (POSTGRES_MAJOR >= major) {
    test(name, run);
  }
}
