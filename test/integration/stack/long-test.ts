import { test } from '@jest/globals';

/** Whether `npm run test:long` runs, for tests that take more cases then. */
export const IS_LONG_RUN = process.env['STREAM_CONSUMER_LONG_TESTS'] === 'true';

/**
 * Registers a test that takes half a minute or more; only `npm run test:long` runs those, and elsewhere they are not
 * there at all, since a skipped test counts as failed.
 *
 * A test with a snapshot is no such test: elsewhere the snapshot would be obsolete, and `--ci` fails for that.
 *
 * @param timeout milliseconds that the test may take. @default what jest.config.mjs gives each test of a long run
 */
export function longTest(name: string, run: () => Promise<void>, timeout?: number): void {
  if (IS_LONG_RUN) {
    test(name, run, timeout);
  }
}

/** All cases where `npm run test:long` runs. Elsewhere the first of them, as many as are given. */
export const someCases = <T>(count: number, cases: readonly T[]): readonly T[] =>
  IS_LONG_RUN ? cases : cases.slice(0, count);
