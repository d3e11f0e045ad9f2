import { describe, expect, test } from '@jest/globals';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';

describe('the process', () => {
  test('ends with code 78 and only the problems when its configuration is wrong', async () => {
    const { code, stdout, stderr } = await runCommand([], {
      env: { SERVER_PORT: 'x', DATABASE_URL: 'mysql://u:hunter2@h/d' },
    });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toMatch(/^The configuration is wrong: 5 problems; nothing was started\.\n/);
    expect(stderr).not.toMatch(/hunter2|^ {4}at /m);
  });

  test('tells what is allowed and what was probably meant, of everything that is wrong at once', async () => {
    const { code, stderr } = await runCommand([], {
      files: { 'application.yml': "consumer: { startFrm: latest }\nshutdown: { timeout: '10 seconds' }\n" },
    });
    expect(code).toBe(78);
    for (const part of ['kafka.topics', 'consumer.startFrm', 'startFrom', 'shutdown.timeout', '10 seconds']) {
      expect(stderr).toContain(part);
    }
    expect(stderr).toContain('nothing was started');
  });

  test('checks a right configuration without starting anything', async () => {
    const { code, stdout, stderr } = await runCommand(['--check'], {
      env: databaseEnvironment('postgresql://u:hunter2@nowhere.invalid/d', 'stream_consumer'),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('url: postgresql://u:******@nowhere.invalid/d');
  });

  test.each(['--help', '--version', '--check', 'migrate'])(
    'says in one line that the output of %s cannot be written, and ends with code 1',
    async (command) => {
      const env = databaseEnvironment(sharedDatabaseUrl(), randomName('schema'));
      const { code, stderr } = await runCommand([command], { env, shell: 'exec "$@" > /dev/full' });
      expect(stderr).toMatch(/^stream-consumer: standard output takes nothing \(ENOSPC: .*\); send it elsewhere/m);
      expect(stderr).not.toMatch(/^ {4}at /m);
      expect(code).toBe(1);
    },
  );

  test('leaves a reader of its help that has seen enough in peace', async () => {
    const { code, stderr } = await runCommand(['--help'], { shell: 'exec "$@" > >(true)' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('ends with the same code where what is wrong cannot be said', async () => {
    const { code } = await runCommand([], { shell: 'exec "$@" > /dev/full 2> /dev/full' });
    expect(code).toBe(78);
  });
});
