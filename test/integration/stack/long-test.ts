import { test } from '@jest/globals';

/**
 * Registers a test that takes half a minute or more; only `npm run test:long` runs those, and elsewhere they are not
 * there at all, since a skipped test counts as failed.
 */
export function longTest(name: string, run: () => Promise<void>): void {
  if (process.env['STREAM_CONSUMER_LONG_TESTS'] === 'true') {
    test(name, run, 240_000);
  }
}
