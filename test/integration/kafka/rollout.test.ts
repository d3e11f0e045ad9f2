import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MIGRATIONS } from '../../../app/store/tables/migrations.ts';
import { METRICS } from '../../../contract/metrics.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { IS_LONG_RUN, longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface Column {
  readonly place: string;
  readonly type: string;
  readonly isOptional: boolean;
}

const COLUMNS = `SELECT table_name || '.' || column_name AS place, data_type AS type,
    is_nullable = 'YES' OR column_default IS NOT NULL AS "isOptional"
  FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1`;

const tableOf = ({ place }: Column): string | undefined => place.split('.')[0];

test('each version of the tables keeps what the one before reads and writes, and needs no more of it', async () => {
  await withDatabase(async ({ client, schema }) => {
    await client.query(`CREATE SCHEMA ${schema}`);
    const columns = async () => (await client.query<Column>(COLUMNS, [schema])).rows;
    for (const { sql } of MIGRATIONS) {
      const before = await columns();
      await client.query(sql(schema));
      const after = await columns();
      expect(after).toEqual(expect.arrayContaining(before));
      const tables = new Set(before.map(tableOf));
      const places = new Set(before.map(({ place }) => place));
      const added = after.filter((column) => tables.has(tableOf(column)) && !places.has(column.place));
      expect(added.filter(({ isOptional }) => !isOptional)).toEqual([]);
    }
  });
});

const git = (...args: readonly string[]): Buffer =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: ROOT, maxBuffer: 2 ** 28 });

/** Where `git log` finds no earlier commit, in a clone without its history or in an unpacked archive, there is nothing to build. */
function hasHistory(): boolean {
  try {
    return git('rev-parse', '--is-shallow-repository').toString().trim() === 'false';
  } catch {
    return false;
  }
}

/** Registers a long test that builds an earlier commit; where there is none it is skipped, and its name has the reason. */
function rolloutTest(name: string, run: () => Promise<void>, timeout?: number): void {
  if (hasHistory()) {
    longTest(name, run, timeout);
  } else if (IS_LONG_RUN) {
    test.skip(`${name}; needs the whole history: git fetch --unshallow`, run);
  }
}

/** A file of the program for `git log`, also before it was moved to where it is now. */
const wherever = (file: string): string => `:(glob)app/**/${file}`;

/** The commit before the first one that options of `git log` choose. */
function commitBefore(...options: readonly string[]): string {
  const [commit] = git('log', '--reverse', '--format=%H', ...options)
    .toString()
    .split('\n');
  if (!commit) {
    throw new Error(`git log ${options.join(' ')} finds no commit`);
  }
  return `${commit}^`;
}

/** The program of a commit, compiled with the packages of this one. */
async function compiledProgram(commit: string): Promise<string> {
  const run = await testRun();
  const folder = await mkdtemp(join(run.path, 'before-'));
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', '--format=tar', commit) });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'app'], { cwd: folder });
  return join(folder, 'build', 'app', 'main.js');
}

async function rowsWritten({ get, endpoint }: StartedConsumer): Promise<number> {
  const text = await (await get(endpoint.prometheusPath)).text();
  const values = [...text.matchAll(new RegExp(`^${METRICS.rowsWritten.name}\\{.*\\} (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Waits until each of them has written `count` more rows than now. */
async function eachWrites(consumers: readonly StartedConsumer[], count: number): Promise<void> {
  await Promise.all(
    consumers.map(async (consumer) => {
      const before = await rowsWritten(consumer);
      await until(`${count} more rows of a consumer`, async () =>
        (await rowsWritten(consumer)) >= before + count ? true : undefined,
      );
    }),
  );
}

async function stop(consumer: StartedConsumer): Promise<void> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

const newest = MIGRATIONS.at(-1)?.version ?? 0;

async function versionsIn(schema: string): Promise<readonly number[]> {
  const rows = await query<{ version: number }>(`SELECT version FROM ${schema}.schema_migrations ORDER BY version`);
  return rows.map(({ version }) => version);
}

rolloutTest(
  'during a rollout the version before and this one write side by side, and after a rollback the one before does',
  async () => {
    const main = await compiledProgram(commitBefore(`-Sversion: ${newest},`, '--', wherever('migrations.ts')));
    const [groupId, schema, own] = [randomName('group'), randomName('schema'), randomName('own')];
    const topic = await createTopic({ partitions: 6 });
    await query(`CREATE SCHEMA ${own}; CREATE TABLE ${own}.places ("partition" int, "offset" bigint)`);
    const columns = { partition: '$partition', offset: '$offset' };
    const tables = [{ topic, table: `${own}.places`, columns }];
    const settings = { kafka: { sessionTimeout: '6s' }, tables };
    const place = { topics: [topic], groupId, schema, settings };
    const startBefore = () => startConsumer({ ...place, shell: `exec "$1" '${main}'` });
    const startThis = () => startConsumer(place);

    const load = await startSteadyLoad(topic, { partitions: 6 });
    const before = await startBefore();
    await eachWrites([before], 1_000);
    expect(await versionsIn(schema)).not.toContain(newest);

    const second = await startConsumer({ ...place, topics: [], groupId: randomName('group') });
    expect(await second.exited).toMatchObject({ code: 78 });
    expect(second.logs.all.join('\n')).toContain(`group ${groupId} fills the table ${own}.places from it already`);

    const beside = await startThis();
    await eachWrites([before, beside], 1_000);
    expect(await versionsIn(schema)).toContain(newest);
    await stop(beside);
    await eachWrites([before], 1_000);
    await stop(before);

    const back = await startBefore();
    await eachWrites([back], 1_000);
    expect(back.logs.all.join('\n')).toContain('the tables are newer than this program');
    const forward = await startThis();
    await eachWrites([back, forward], 1_000);
    await stop(back);
    await eachWrites([forward], 1_000);

    const records = await load.stop();
    await awaitEachOnce({ schema, topic, records });
    await stop(forward);
    const places = `SELECT count(*)::int AS rows, count(DISTINCT ("partition", "offset"))::int AS places FROM ${own}.places`;
    expect(await query(places)).toEqual([{ rows: records, places: records }]);
    await query(`DROP SCHEMA ${own} CASCADE`);
    const [gaps] = await query(`SELECT count(*)::int AS gaps FROM ${schema}.gaps`);
    expect(gaps).toEqual({ gaps: 0 });
  },
);

/** The programs whose membership or fetching another way replaced, by a file that came with it. */
const REPLACED = [
  ['kafkajs fetched', 'partition-fetcher.ts'],
  ['kafkajs joined the group', 'group-member.ts'],
] as const;
const MEMBERS = 3;
const ROLLOUT_TIMEOUT_MS = 600_000;

for (const [what, file] of REPLACED) {
  rolloutTest(
    `three members of the version in which ${what} are rolled to this one and back under load, and each record is written once`,
    async () => {
      const main = await compiledProgram(commitBefore('--diff-filter=A', '--', wherever(file)));
      const [groupId, schema] = [randomName('group'), randomName('schema')];
      const topic = await createTopic({ partitions: 12 });
      const place = { topics: [topic], groupId, schema };
      const startBefore = () => startConsumer({ ...place, shell: `exec "$1" '${main}'` });
      const startThis = () => startConsumer(place);

      const load = await startSteadyLoad(topic, { partitions: 12 });
      let members: readonly StartedConsumer[] = await Promise.all(Array.from({ length: MEMBERS }, startBefore));
      await eachWrites(members, 100);
      for (const startNext of [startThis, startBefore]) {
        const next: StartedConsumer[] = [];
        for (const old of members) {
          next.push(await startNext());
          await eachWrites(next, 100);
          await stop(old);
        }
        await eachWrites(next, 100);
        members = next;
      }

      await awaitEachOnce({ schema, topic, records: await load.stop(), timeout: 120_000 });
      await Promise.all(members.map(stop));
      expect(await query(`SELECT count(*)::int AS letters FROM ${schema}.dead_letters`)).toEqual([{ letters: 0 }]);
    },
    ROLLOUT_TIMEOUT_MS,
  );
}
