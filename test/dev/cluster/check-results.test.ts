import { describe, expect, test } from '@jest/globals';
import { CheckResults } from '../../../dev/cluster/check-results.ts';
import { ExplainedError } from '../../../dev/run/explained-error.ts';
import { Screen } from '../../../dev/run/screen.ts';

function recorded() {
  const lines: string[] = [];
  const screen = new Screen({ write: (text) => lines.push(text.trimEnd()) });
  return { lines, results: new CheckResults(screen) };
}

describe('the table of the cluster test', () => {
  test('has a row for what went well, with what was found', async () => {
    const { lines, results } = recorded();
    expect(await results.check('applied', async () => '9 objects')).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/^ {2}applied +ok +9 objects \(\d+\.\d s\)$/)]);
    expect([results.failures, results.skipped]).toEqual([0, 0]);
  });

  test('has a row for what failed, with all that is known of it, and counts it', async () => {
    const { lines, results } = recorded();
    const failure = new ExplainedError('no Pod is ready\nan event');
    expect(await results.check('ready', () => Promise.reject(failure))).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^ {2}ready +FAILED +no Pod is ready$/), '      an event']);
    expect(results.failures).toBe(1);
  });

  test('has a row for what is skipped, with the reason, and counts it', () => {
    const { lines, results } = recorded();
    results.skip('scraped', 'CLUSTER_SCRAPE is needed');
    expect(lines).toEqual([expect.stringMatching(/^ {2}scraped +skipped +CLUSTER_SCRAPE is needed$/)]);
    expect(results.skipped).toBe(1);
  });
});
