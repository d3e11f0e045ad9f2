import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { folderWith } from '../../app/configuration/folder.ts';
import { REPOSITORY, startWith } from '../dev/started-job.ts';
import { longTest } from '../stack/long-test.ts';

/** Of the second terminal's lines: far more than they take. */
const LONGEST_MS = 500_000;

const PAGE = readFileSync('docs/first-table.md', 'utf8');
const [SHORT_WAY = ''] = PAGE.split(/^## What you need$/m);
const BLOCKS = [...SHORT_WAY.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const [FIRST = '', ...SECOND] = BLOCKS;

test('the short way from a clone to a replayed letter has at most 20 lines, and begins with those of the README', () => {
  expect(BLOCKS).toHaveLength(3);
  expect(BLOCKS.join('').trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  expect(readFileSync('README.md', 'utf8')).toContain(`\`\`\`bash\n${FIRST}\`\`\``);
  expect(FIRST.split('\n')[1]).toBe('npm start');
});

/** What the lines of the second terminal print, beside the npm start of the first one. */
async function printed(): Promise<string> {
  const { child, lines, ended } = startWith({}, 'start');
  const [, consumer = ''] = /process (\d+)/.exec(await lines.waitFor(/^consumer +ready/, 120_000)) ?? [];
  const script = SECOND.join('')
    .replaceAll('../mine', join(folderWith({}), 'mine'))
    .replace('/proc/15489/', `/proc/${consumer}/`);
  const shell = spawn('bash', ['--norc', '-euc', `exec 2>&1\n${script}wait`], {
    cwd: REPOSITORY,
    // All of its processes end with it, whichever line fails.
    detached: true,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const over = setTimeout(() => shell.pid !== undefined && process.kill(-shell.pid, 'SIGKILL'), LONGEST_MS);
  try {
    const [stdout, [code]] = await Promise.all([text(shell.stdout), once(shell, 'close')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.any(String) });
    return stdout;
  } finally {
    clearTimeout(over);
    child.kill('SIGINT');
    await ended;
  }
}

longTest(
  'its lines run: records too large for a column are dead letters, and rows once the column is mended',
  async () => {
    const output = await printed();
    const [, records = '', letters = ''] =
      /(\d+) records: \d+ would be stored, (\d+) would be dead letters/.exec(output) ?? [];
    expect(Number(records)).toBeGreaterThan(Number(letters));
    expect(output).toMatch(/constraint_violated.*public\.mine.*"total".*"mine_total_check"/);
    expect(output).toMatch(/^10 of [\d,]+ dead letters, 10 moved$/m);
    expect(output).toMatch(/ order_id +\| +total +\| +status/);
    expect(output).toMatch(/^ \d{16} \| +7\d\d\.\d\d \| \w+$/m);
  },
  700_000,
);
