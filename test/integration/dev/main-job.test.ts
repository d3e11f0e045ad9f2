import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runFolderParent } from '../../../dev/run/run-folder.ts';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';
import {
  CTRL_C,
  follow,
  onTerminal,
  processesWith,
  REPOSITORY,
  runFoldersOf,
  startWith,
  trouble,
} from './started-job.ts';

const SHARED = ['--kafka', sharedBroker(), '--database', sharedDatabaseUrl()];

/** Writes each timer of negative duration to standard error: Node 24 and later warn of those. */
const TIMER_WATCH = `
const { setTimeout: original } = globalThis;
globalThis.setTimeout = Object.assign((task, ms, ...rest) => {
  if (ms < 0) console.error('a timer of ' + ms + ' ms');
  return original(task, ms, ...rest);
}, original);
`;

/** All in this file, since two at once may find the same usual port free. */
const start = (...args: readonly string[]) => startWith({}, 'start', ...args);

describe('npm start -- --once', () => {
  longTest(
    'accounts for every record at a Kafka and a PostgreSQL that are there already, and ends with 0',
    async () => {
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
    },
  );

  longTest('covers only its own records in a topic that holds those of others', async () => {
    const own = ['--topic', randomName('topic'), '--partitions', '2', ...SHARED];
    expect(await start('--once', '--records', '500', ...own).ended).toBe(0);
    const { lines, ended } = start('--once', '--records', '700', '--seed', '2', ...own);
    expect(await ended).toBe(0);
    expect(lines.all).toContainEqual(expect.stringMatching(/records, each once.* 692 +692 +ok$/));
  });

  longTest('ends with 1 and shows why when the consumer gives up', async () => {
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

  longTest('ends with 1 and says what differs when the table is not what was produced', async () => {
    const schema = randomName('schema');
    const { lines, ended } = start('--once', '--records', '4000', '--rate', '500', '--schema', schema, ...SHARED);
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

  test('compares typed tables column by column, undisturbed by an environment of other servers; Node warns of no timer', async () => {
    const watch = join((await testRun()).path, 'timer-watch.cjs');
    writeFileSync(watch, TIMER_WATCH);
    const others = { PGSSLMODE: 'require', PGHOST: 'elsewhere', DATABASE_PASSWORD: 'another', KAFKA_SSL: 'true' };
    const env = { ...others, NODE_OPTIONS: `--require=${watch}` };
    const options = ['--tables', '--once', '--records', '3000', '--rate', '1500', '--partitions', '3'];
    const { lines, ended } = startWith(env, 'start', ...options, '--kafka', sharedBroker());
    expect(await ended).toBe(0);
    const verdict = lines.all.filter((line) => line.endsWith('ok')).join('\n');
    expect(verdict).toMatch(/records, each once.* 2,971 +2,971/);
    expect(verdict).toMatch(/dead letters, each.* 32 +32/);
    expect(verdict).toMatch(/dead letters of customers-\w+ +3 +3/);
    expect(verdict).toMatch(/rows of public\.orders, column by column +2,971 +2,971/);
    expect(verdict).toMatch(/rows of public\.customers, column by column +371 +371/);
    expect(lines.all).toContainEqual(expect.stringMatching(/orders [\d,]+ rows {3}customers [\d,]+ rows$/));
    expect(lines.all.filter((line) => line.includes('a timer of'))).toEqual([]);
  });

  longTest('ends with 1 and names the column when a row of a typed table is spoiled', async () => {
    const { lines, ended } = start('--tables', '--once', '--records', '4000', '--rate', '1000', ...SHARED);
    const [, schema] = /table: (\w+)\.orders/.exec(await lines.waitFor(/table: \w+\.orders/, 60_000)) ?? [];
    const spoil = (sql: string) =>
      until('the row', async () => ((await query(`${sql} RETURNING 1`)).length > 0 ? true : undefined));
    await spoil(`UPDATE ${schema}.orders SET total = total + 0.01 WHERE partition = 1 AND "offset" = 10`);
    await query(`INSERT INTO ${schema}.customers VALUES (-7, 'nobody', 'gold', 1, NULL, false, now())`);
    expect(await ended).toBe(1);
    expect(lines.all).toContainEqual(expect.stringMatching(/rows of sample_\w+\.orders, .*DIFFERS$/));
    expect(lines.all).toContainEqual(
      expect.stringMatching(/^ +1 another total; partition\/offset 1\/10: expected [\d.]+, got [\d.]+$/),
    );
    expect(lines.all).toContainEqual(
      expect.stringMatching(/^ +1 in sample_\w+\.customers, and not expected there; id -7$/),
    );
    expect(lines.all).toContain('The verdict: something differs.');
  });

  longTest('compares the replica of a source that Debezium follows row by row, and ends with 0', async () => {
    const { lines, ended, runFolders } = start('--cdc', '--once', '--records', '3000', '--partitions', '3', ...SHARED);
    expect(await ended).toBe(0);
    const verdict = lines.all.filter((line) => line.endsWith('ok')).join('\n');
    expect(verdict).toMatch(/dead letters of the replica +0 +0/);
    for (const table of ['orders', 'order_lines', 'documents', 'contracts']) {
      expect(verdict).toMatch(new RegExp(`rows of replica_\\w+\\.${table}, as at the source +[1-9]`));
    }
    expect(lines.all).toContainEqual(expect.stringMatching(/changes at the source [1-9]\d+ {3}events ahead \d/));
    expect(runFolders()).toEqual([]);
  });

  longTest('ends with 1 and names the column when a row of the replica is spoiled', async () => {
    const { lines, ended } = start('--cdc', '--once', '--records', '6000', '--rate', '1000', ...SHARED);
    const [, schema] = /table: (\w+)\.documents/.exec(await lines.waitFor(/table: \w+\.documents/, 180_000)) ?? [];
    await until('the table', () =>
      query(`CREATE OR REPLACE FUNCTION ${schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.body := NEW.body || '!'; RETURN NEW; END $$`),
    );
    await until('the trigger', () =>
      query(`CREATE TRIGGER spoil BEFORE INSERT OR UPDATE ON ${schema}.documents
        FOR EACH ROW EXECUTE FUNCTION ${schema}.spoil()`),
    );
    expect(await ended).toBe(1);
    expect(lines.all).toContainEqual(expect.stringMatching(/^ +[1-9]\d* another body; id \d+: expected "/));
    expect(lines.all).toContain('The verdict: something differs.');
  });

  test.each([
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
  longTest('runs until Ctrl-C, then drains, stops everything it has started and ends with 0', async () => {
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

  longTest('ends the source and Debezium, too, at Ctrl-C', async () => {
    const { child, lines, ended, runFolders } = start('--cdc', ...SHARED);
    await lines.waitFor(/^Ctrl-C stops everything/, 180_000);
    await lines.waitFor(/changes at the source [\d,]+ {3}events ahead/);
    const folder = runFolders()[0] ?? 'none';
    expect(processesWith(folder).filter((command) => command.includes('ConnectStandalone'))).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect([runFolders(), processesWith(folder)]).toEqual([[], []]);
  });

  longTest('ends with npm when something ends npm alone, as supervisors do', async () => {
    const { child, lines, ended } = follow(spawn('npm', ['start', '--', ...SHARED], { cwd: REPOSITORY }));
    const [, logFile = ''] = /log (\S+)$/.exec(await lines.waitFor(/^consumer +ready/, 60_000)) ?? [];
    child.kill('SIGTERM');
    await ended;
    expect(lines.all.at(-1)).toBe('stopped');
    expect(existsSync(dirname(logFile))).toBe(false);
  });

  for (const [moment, register] of [
    [/^PostgreSQL +starting/, longTest],
    [/^PostgreSQL +ready/, longTest],
    [/^consumer +starting/, test],
  ] as const) {
    register(`leaves nothing behind when Ctrl-C comes in the middle of the set-up, at ${moment}`, async () => {
      const { child, lines, ended, runFolders } = start();
      await lines.waitFor(moment, 60_000);
      const folder = runFolders()[0] ?? 'none';
      child.kill('SIGINT');
      expect(await ended).toBe(0);
      expect(runFolders()).toEqual([]);
      expect(processesWith(folder)).toEqual([]);
    });
  }

  longTest(
    'shows on a terminal one line that changes, and what trouble does to it; Ctrl-C leaves nothing',
    async () => {
      const { child, lines, ended, pid, raw } = await onTerminal({});
      const [run = 'none'] = runFoldersOf(pid);
      await lines.waitFor(/Ctrl-C stops everything/);
      const records = await trouble(pid, 'records');
      expect(records.code).toBe(0);
      expect(records.said).toMatch(/dead letters +20 of them(.|\n)*invalid_json: SQLSTATE 22P02/);
      expect(records.said).toMatch(/health +200 UP/);
      expect(records.said).toMatch(/consumer_dead_letters_total\?tag=reason:invalid_json = [\d,]*\d\d +http:/);
      const postgres = await trouble(pid, 'postgres', '--seconds', '8');
      expect(postgres.code).toBe(0);
      expect(postgres.said).toMatch(
        /stopped for 8 s(.|\n)*health +503 DOWN, because of db: .*(ECONNREFUSED|ECONNRESET|shutting down|terminating connection)(.|\n)*records_lag = [1-9](.|\n)*started again\nhealth +200 UP\ncaught up .* none is missing$/,
      );
      child.stdin.write(CTRL_C);
      expect(await ended).toBe(0);
      expect(raw()).toMatch(/\rESC\[2Khealth UP {3}[\d,]+ records\/s {3}lag [\d,]+ {3}dead letters [\d,]+ /);
      expect(raw()).toMatch(/\rESC\[2KESC\[31mhealth \w+ {3}PostgreSQL does not answer {3}produced [\d,]+ESC/);
      expect(raw()).toContain('ESC[36mnpm run trouble -- recordsESC[39m');
      expect([runFoldersOf(pid), processesWith(run)]).toEqual([[], []]);
    },
  );

  longTest(
    'has no colours against NO_COLOR, stops no PostgreSQL of others, and ends with 1 when the consumer dies',
    async () => {
      const { ended, pid, raw, lines } = await onTerminal({ NO_COLOR: '1' }, ...SHARED);
      await lines.waitFor(/Ctrl-C stops everything/);
      expect(await trouble(pid, 'postgres')).toMatchObject({ code: 0, said: expect.stringContaining('is yours') });
      const [, consumer] = /consumer +ready, process (\d+)/.exec(raw()) ?? [];
      process.kill(Number(consumer), 'SIGKILL');
      expect(await ended).toBe(1);
      expect(raw()).toContain('consumer    ended by itself: signal SIGKILL');
      expect(raw()).toContain('npm run trouble -- records');
      expect(raw()).not.toMatch(/ESC\[\d+m/);
    },
  );
});

describe('npm run trouble', () => {
  test.each([
    [['roll', '--process', '1'], 1, /No npm start of this user runs here/],
    [['postgres', '--seconds', '0'], 2, /"postgres --seconds 0" is no trouble that can be made/],
    [['kafka'], 2, /npm run trouble -- records/],
    [['--help'], 0, /--seconds N/],
  ])('says what there is: %j', async (args, code, message) => {
    const { ended, lines } = startWith({}, 'trouble', ...args);
    expect(await ended).toBe(code);
    expect(lines.all.join('\n')).toMatch(message);
  });

  longTest('replaces the consumer while orders come, and npm start goes on with the one that took over', async () => {
    const { child, lines, ended, runFolders } = start(...SHARED);
    const [, first] = /process (\d+)/.exec(await lines.waitFor(/^consumer +ready/)) ?? [];
    const [, health = ''] = /health +(\S+)/.exec(await lines.waitFor(/^ +health/)) ?? [];
    const [firstAddress = ''] = lines.all.flatMap((line) => /http:\S+/.exec(line) ?? []);
    const { code, said } = await trouble(child.pid, 'roll');
    expect(code).toBe(0);
    const [, second, third] =
      /^consumer +replaced, process (\d+)(?:.|\n)*replaced, process (\d+)/m.exec(lines.all.join('\n')) ?? [];
    expect(said).toMatch(new RegExp(`process ${second} is UP(.|\\n)*process ${first} was stopped`));
    expect(said).toMatch(new RegExp(`process ${third} is UP(.|\\n)*process ${second} was stopped`));
    expect(said).toMatch(
      /orders +[1-9][\d,]* came meanwhile and are in the table, none is missing\ndelay +longest \d+\.\d\d s, median/,
    );
    expect(said).toMatch(/health +200 UP$/);
    expect((await fetch(health)).status).toBe(200);
    expect(await (await fetch(firstAddress, { headers: { accept: 'text/html' } })).text()).toContain('What waits');
    process.kill(Number(third), 'SIGKILL');
    expect(await ended).toBe(1);
    expect(lines.all).toContain('consumer    ended by itself: signal SIGKILL');
    expect(runFolders()).toEqual([]);
  });
});
