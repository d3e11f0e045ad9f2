import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { folderWith } from '../app/configuration/folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The consumer's own process with these arguments, in a folder of its own. */
async function runConsumer(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'build', 'app', 'main.js'), ...args], {
    cwd: folderWith({}),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: code as number };
}

describe('the process', () => {
  test('ends with code 78 and only the problems when its configuration is wrong', async () => {
    const { code, stdout, stderr } = await runConsumer([], { SERVER_PORT: 'x', DATABASE_URL: 'mysql://u:hunter2@h/d' });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/^The configuration is wrong: 5 problems; nothing was started\.\n/);
    expect(stderr).not.toMatch(/hunter2|^ {4}at /m);
  });

  test('checks a right configuration without starting anything', async () => {
    const { code, stdout, stderr } = await runConsumer(['--check'], {
      KAFKA_BROKERS: 'nowhere.invalid:9092',
      KAFKA_TOPICS: 'orders',
      KAFKA_GROUP_ID: 'g',
      DATABASE_URL: 'postgresql://u:hunter2@nowhere.invalid/d',
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('url: postgresql://u:******@nowhere.invalid/d');
  });
});
