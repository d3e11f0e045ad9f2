import { describe, expect, test } from '@jest/globals';
import { Protocol } from '../../../dev/cluster/check-results.ts';
import { ExplainedError } from '../../../dev/run/explained-error.ts';
import { Screen } from '../../../dev/run/screen.ts';

function recorded() {
  const lines: string[] = [];
  const screen = new Screen({ write: (text) => lines.push(text.trimEnd()) });
  return { lines, protocol: new Protocol(screen) };
}

describe('the table of the cluster test', () => {
  test('has a row for what went well, with what was found', async () => {
    const { lines, protocol } = recorded();
    expect(await protocol.check('applied', async () => '9 objects')).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/^ {2}applied +ok +9 objects \(\d+\.\d s\)$/)]);
    expect([protocol.failures, protocol.skipped]).toEqual([0, 0]);
  });

  test('has a row for what failed, with all that is known of it, and counts it', async () => {
    const { lines, protocol } = recorded();
    const failure = new ExplainedError('no Pod is ready\nan event');
    expect(await protocol.check('ready', () => Promise.reject(failure))).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^ {2}ready +FAILED +no Pod is ready$/), '      an event']);
    expect(protocol.failures).toBe(1);
  });

  test('has a row for what is skipped, with the reason, and counts it', () => {
    const { lines, protocol } = recorded();
    protocol.skip('scraped', 'CLUSTER_SCRAPE is needed');
    expect(lines).toEqual([expect.stringMatching(/^ {2}scraped +skipped +CLUSTER_SCRAPE is needed$/)]);
    expect(protocol.skipped).toBe(1);
  });
});
