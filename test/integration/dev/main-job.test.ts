import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { LogLines, readLines } from '../../../dev/run/log-lines.ts';
import { RUN_FOLDER_PREFIX } from '../../../dev/run/recorded-processes.ts';
import { runFolderParent } from '../../../dev/run/run-folder.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..', '..');
const SHARED = ['--kafka', sharedBroker(), '--database', sharedDatabaseUrl()];

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) {
    child.kill('SIGKILL');
  }
});

/** Runs `npm start` without npm, whose own exit code after a signal is not the script's. */
const start = (...args: readonly string[]) => startWith({}, ...args);

function startWith(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const command = [join(REPOSITORY, 'dev', 'bootstrap.mjs'), 'start', ...args];
  return follow(spawn(process.execPath, command, { env: { ...process.env, ...env } }));
}

function follow(child: ChildProcessWithoutNullStreams) {
  children.push(child);
  const lines = new LogLines();
  readLines(child.stdout, (line) => lines.add(line));
  readLines(child.stderr, (line) => lines.add(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, lines, ended, runFolders: () => runFoldersOf(child.pid) };
}

const runFoldersOf = (pid: number | undefined): readonly string[] =>
  readdirSync(runFolderParent()).filter((name) => name.startsWith(`${RUN_FOLDER_PREFIX}${pid}-`));

/** Command lines of all processes that mention a text. */
const processesWith = (text: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/cmdline`))
    .map((name) => readCommandLine(name))
    .filter((command) => command.includes(text));

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describe('npm start -- --once', () => {
  it('accounts for every record at a Kafka and a PostgreSQL that are there already, and ends with 0', async () => {
    const { lines, ended, runFolders } = start('--once', '--records', '3000', '--partitions', '3', ...SHARED);
    expect(await ended).toBe(0);
    expect(lines.all).toContain('All records are accounted for.');
    const verdict = lines.all.filter((line) => line.endsWith('ok')).join('\n');
    expect(verdict).toMatch(/records, each once.* 2,990 +2,990/);
    expect(verdict).toMatch(/dead letters.* 10 +10/);
    expect(verdict).toMatch(/HTTP endpoints.* 13 +13/);
    expect(lines.all.join('\n')).not.toContain(new URL(sharedDatabaseUrl()).password);
    expect(lines.all.join('\n')).not.toContain('lag -');
    expect(runFolders()).toEqual([]);
  });

  it('covers only its own records in a topic that holds those of others', async () => {
    const own = ['--topic', randomName('topic'), '--partitions', '2', ...SHARED];
    expect(await start('--once', '--records', '500', ...own).ended).toBe(0);
    const { lines, ended } = start('--once', '--records', '700', '--seed', '2', ...own);
    expect(await ended).toBe(0);
    expect(lines.all).toContainEqual(expect.stringMatching(/records, each once.* 692 +692 +ok$/));
  });

  it('is not disturbed by what the environment says of other servers', async () => {
    const others = { PGSSLMODE: 'require', PGHOST: 'elsewhere', DATABASE_PASSWORD: 'another', KAFKA_SSL: 'true' };
    const { ended } = startWith(others, '--once', '--records', '200', '--kafka', sharedBroker());
    expect(await ended).toBe(0);
  });

  it('ends with 1 and shows why when the consumer gives up', async () => {
    const names = ['--topic', randomName('topic'), '--schema', randomName('schema'), ...SHARED];
    expect(await start('--once', '--records', '100', ...names).ended).toBe(0);
    // Another group in the same schema finds the rows of the first one, which is an error that only a person can settle.
    const { lines, ended } = start('--once', '--records', '100', ...names);
    expect(await ended).toBe(1);
    // It may give up before it is ready or after: either way its exit code and its last words are shown.
    const said = lines.all.join('\n');
    expect(said).toMatch(/ended( by itself)?: exit code 1/);
    expect(said).toMatch(/"level":"fatal".*RECORD_ALREADY_WRITTEN/);
  });

  it('ends with 1 and says what differs when the table is not what was produced', async () => {
    const schema = randomName('schema');
    const { lines, ended } = start('--once', '--records', '4000', '--rate', '1000', '--schema', schema, ...SHARED);
    await lines.waitFor(/^consumer +ready/, 60_000);
    await until('the schema', () =>
      query(`CREATE FUNCTION ${schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.key := NEW.key || '!'; RETURN NEW; END $$`),
    );
    await query(`CREATE TRIGGER spoil BEFORE INSERT ON ${schema}.records FOR EACH ROW
      WHEN (NEW."offset" = 500) EXECUTE FUNCTION ${schema}.spoil()`);
    expect(await ended).toBe(1);
    expect(lines.all).toContainEqual(expect.stringMatching(/DIFFERS$/));
    expect(lines.all).toContainEqual(
      expect.stringMatching(/^ +\d+ another key; topic\/partition\/offset [^/]+\/\d\/500/),
    );
    expect(lines.all).toContain('The verdict: something differs.');
  });

  it.each([
    [
      'Kafka',
      ['--kafka', '127.0.0.1:1', '--database', sharedDatabaseUrl()],
      /^Kafka at 127\.0\.0\.1:1 does not answer/,
    ],
    [
      'PostgreSQL',
      ['--kafka', sharedBroker(), '--database', 'postgresql://me:secret@127.0.0.1:1/x'],
      /^PostgreSQL at postgresql:\/\/me@127\.0\.0\.1:1\/x does not let us in/,
    ],
  ])('says in words that %s is not there', async (_, args, message) => {
    const { lines, ended } = start('--once', ...args);
    expect(await ended).toBe(1);
    expect(lines.all).toContainEqual(expect.stringMatching(message));
    expect(lines.all.join('\n')).not.toMatch(/secret|^ +at /m);
  });
});

describe('npm start', () => {
  it('runs until Ctrl-C, then drains, stops everything it has started and ends with 0', async () => {
    const { child, lines, ended, runFolders } = start('--rate', '2000');
    const [, logFile = ''] = /log (\S+)$/.exec(await lines.waitFor(/^consumer +ready/, 90_000)) ?? [];
    await lines.waitFor(/^produced [1-9]/);
    const folder = runFolders()[0] ?? 'none';
    expect(logFile.startsWith(join(runFolderParent(), folder))).toBe(true);
    expect(processesWith(folder).length).toBeGreaterThanOrEqual(2);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(runFolders()).toEqual([]);
    expect(processesWith(folder)).toEqual([]);
  });

  it('ends with npm when something ends npm alone, as supervisors do', async () => {
    const { child, lines, ended } = follow(spawn('npm', ['start', '--', ...SHARED], { cwd: REPOSITORY }));
    const [, logFile = ''] = /log (\S+)$/.exec(await lines.waitFor(/^consumer +ready/, 60_000)) ?? [];
    child.kill('SIGTERM');
    await ended;
    expect(lines.all.at(-1)).toBe('stopped');
    expect(existsSync(dirname(logFile))).toBe(false);
  });

  it.each([/^PostgreSQL +starting/, /^PostgreSQL +ready/, /^consumer +starting/])(
    'leaves nothing behind when Ctrl-C comes in the middle of the set-up, at %s',
    async (moment) => {
      const { child, lines, ended, runFolders } = start();
      await lines.waitFor(moment, 60_000);
      const folder = runFolders()[0] ?? 'none';
      child.kill('SIGINT');
      expect(await ended).toBe(0);
      expect(runFolders()).toEqual([]);
      expect(processesWith(folder)).toEqual([]);
    },
  );

  it('ends with 1 when the consumer dies', async () => {
    const { lines, ended } = start(...SHARED);
    const [, pid] = /process (\d+)/.exec(await lines.waitFor(/^consumer +ready/, 60_000)) ?? [];
    process.kill(Number(pid), 'SIGKILL');
    expect(await ended).toBe(1);
    expect(lines.all).toContain('consumer    ended by itself: signal SIGKILL');
  });
});
