import { describe, expect, test } from '@jest/globals';
import { UNAVAILABLE_VALUE } from '../../../settings/sections/tables/table-envelope.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

const TIMESTAMP = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

/** A consumer that has made letters of all records, and is stopped. */
async function lettersOf(values: readonly string[], inRecords: boolean) {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run('CREATE SCHEMA ?');
  await run('CREATE TABLE ?.names (id int, name varchar(5), tenant text, at timestamptz)');
  await run('CREATE TABLE ?.sums (id int CHECK (id < 100))');
  const columns = { tenant: '$header.tenant', at: '$timestamp' };
  const tables = [
    { topic, table: `${schema}.names`, columns },
    { topic, table: `${schema}.sums` },
  ];
  const headers = { tenant: Buffer.from('Zoë') };
  await produce(
    topic,
    values.map((value) => ({ value, headers, timestamp: TIMESTAMP })),
  );
  const settings = { tables, deadLetters: { maxRatio: 1 } };
  const consumer = await startConsumer({ topics: inRecords ? [topic] : [], schema, settings });
  await until('the letters', async () => {
    const found = await run('SELECT FROM ?.dead_letters').catch(() => []);
    if (found.length !== values.length) {
      throw new Error(consumer.logs.all.join('\n'));
    }
    return true;
  });
  consumer.kill('SIGTERM');
  await consumer.exited;
  const replay = (...more: string[]) =>
    runCommand(['dead-letters', 'replay', '--config', consumer.configFile, ...more], {});
  return { schema, run, replay };
}

/** A consumer with a table by key that has made letters of some records, and is stopped. */
async function keyedLetters(existing: 'replace' | 'keep') {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run('CREATE SCHEMA ?; CREATE TABLE ?.users (id int PRIMARY KEY CHECK (id < 100), name varchar(5))');
  const tables = [{ topic, table: `${schema}.users`, key: existing === 'keep' ? 'primary' : 'id', existing }];
  await produce(topic, [
    { value: '{"id":1,"name":"too long"}' },
    { value: '{"id":2,"name":"too long"}' },
    { key: 'three', value: null },
    { key: 'four', value: null },
    { value: '{"id":1,"name":"new"}' },
  ]);
  const consumer = await startConsumer({ topics: [], schema, settings: { tables, deadLetters: { maxRatio: 1 } } });
  await until('the row', async () => ((await run('SELECT FROM ?.users')).length > 0 ? true : undefined));
  consumer.kill('SIGTERM');
  await consumer.exited;
  await run(`ALTER TABLE ?.users ALTER name TYPE text; INSERT INTO ?.users VALUES (3, 'old');
    UPDATE ?.dead_letters SET key = convert_to(CASE convert_from(key, 'UTF8') WHEN 'three' THEN '3' ELSE '4' END, 'UTF8') WHERE value IS NULL`);
  const replay = (...more: string[]) =>
    runCommand(['dead-letters', 'replay', '--config', consumer.configFile, ...more], {});
  return { schema, run, replay };
}

const letters = (run: (sql: string) => Promise<readonly unknown[]>) =>
  run('SELECT "offset"::int AS at FROM ?.dead_letters ORDER BY "offset"');

test('a letter replaces and deletes no row of its key, which may be newer, unless an option asks for it', async () => {
  const { schema, run, replay } = await keyedLetters('replace');
  const { code, stdout, stderr } = await replay();
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('2 moved, 2 present already') });
  expect(stdout).toMatch(
    new RegExp(`offset 0 .* has a key that ${schema}.users has a row of.*\n.*offset 2 .*--overwrite`),
  );
  expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual([
    { id: 1, name: 'new' },
    { id: 2, name: 'too long' },
    { id: 3, name: 'old' },
  ]);
  expect(await letters(run)).toEqual([{ at: 0 }, { at: 2 }]);
  expect(await replay('--overwrite')).toMatchObject({ code: 0, stderr: expect.stringContaining('2 moved') });
  expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual([
    { id: 1, name: 'too long' },
    { id: 2, name: 'too long' },
  ]);
  expect(await letters(run)).toEqual([]);
});

test('where rows are kept, a letter is done with by the row that is there', async () => {
  const { run, replay } = await keyedLetters('keep');
  expect(await replay()).toMatchObject({ code: 1, stderr: expect.stringContaining('3 moved, 1 present already') });
  expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual([
    { id: 1, name: 'new' },
    { id: 2, name: 'too long' },
    { id: 3, name: 'old' },
  ]);
  expect(await letters(run)).toEqual([{ at: 2 }]);
});

/** Letters of change events, most of which have a placeholder of the note; all names fit by now. */
async function keptLetters() {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run('CREATE SCHEMA ?; CREATE TABLE ?.users (id int PRIMARY KEY, name varchar(5), note text)');
  const tables = [{ topic, table: `${schema}.users`, key: 'id', envelope: 'debezium' }];
  const event = (id: number, name: string, note = UNAVAILABLE_VALUE) => ({
    key: JSON.stringify({ id }),
    value: JSON.stringify({ before: null, after: { id, name, note }, op: 'u' }),
  });
  await produce(topic, [
    event(1, 'a', 'large 1'),
    event(1, 'too long'),
    event(2, 'b'),
    event(3, 'c', 'large 3'),
    event(3, 'too long'),
    event(3, 'new', 'newer'),
    event(4, 'too long', 'sent'),
    event(5, 'last', 'large 5'),
  ]);
  const consumer = await startConsumer({ topics: [], schema, settings: { tables, deadLetters: { maxRatio: 1 } } });
  await until('the last row', async () => {
    const rows = await run('SELECT FROM ?.users WHERE id = 5').catch(() => []);
    return rows.length > 0 ? true : undefined;
  });
  consumer.kill('SIGTERM');
  await consumer.exited;
  await run('ALTER TABLE ?.users ALTER name TYPE text; DELETE FROM ?.users WHERE id = 5');
  const replay = (...more: string[]) =>
    runCommand(['dead-letters', 'replay', '--config', consumer.configFile, ...more], {});
  return { run, replay };
}

describe('a letter that keeps a column', () => {
  const reasons = (run: (sql: string) => Promise<readonly unknown[]>) =>
    run('SELECT "offset"::int AS at, reason, target_column AS column FROM ?.dead_letters ORDER BY "offset"');
  const [one, three, four] = [
    { id: 1, name: 'a', note: 'large 1' },
    { id: 3, name: 'new', note: 'newer' },
    { id: 4, name: 'too long', note: 'sent' },
  ];
  const lacking = { at: 2, reason: 'missing_value', column: 'note' };

  test('replaces no row of its key, which may be newer, and makes none', async () => {
    const { run, replay } = await keptLetters();
    const misfit = { reason: 'value_does_not_fit', column: 'name' };
    const met = [{ at: 1, ...misfit }, lacking, { at: 4, ...misfit }];
    expect(await reasons(run)).toEqual([...met, { at: 6, ...misfit }]);
    const summary = '1 moved, 1 still refused (1 missing_value), 2 present already';
    expect(await replay()).toMatchObject({ code: 1, stderr: expect.stringContaining(summary) });
    expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual([one, three, four]);
    expect(await reasons(run)).toEqual(met);
  });

  test('replaces all but that column with --overwrite, and is written once its row is there', async () => {
    const { run, replay } = await keptLetters();
    expect(await replay('--overwrite')).toMatchObject({ code: 1, stderr: expect.stringContaining('3 moved') });
    const overwritten = [{ ...one, name: 'too long' }, { ...three, name: 'too long' }, four];
    expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual(overwritten);
    expect(await reasons(run)).toEqual([lacking]);
    await run(`INSERT INTO ?.users VALUES (2, 'old', 'large 2')`);
    expect(await replay('--overwrite')).toMatchObject({ code: 0, stderr: expect.stringContaining('1 moved') });
    expect(await run('SELECT * FROM ?.users WHERE id = 2')).toEqual([{ id: 2, name: 'b', note: 'large 2' }]);
    expect(await reasons(run)).toEqual([]);
  });
});

test.each(someCases(1, [true, false]))(
  'letters go into all tables of their topic as they are now (records too: %s)',
  async (inRecords) => {
    const values = ['{"id":1,"name":"too long"}', '{"id":100,"name":"short"}'];
    const { schema, run, replay } = await lettersOf(values, inRecords);
    await run('ALTER TABLE ?.names ALTER name TYPE text');
    expect(await replay('--dry-run')).toMatchObject({ code: 1 });
    expect(await run('SELECT FROM ?.dead_letters')).toHaveLength(2);
    const { code, stderr } = await replay();
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('1 moved') });
    const row = { id: 1, name: 'too long', tenant: 'Zoë', at: new Date(TIMESTAMP) };
    expect(await run('SELECT * FROM ?.names')).toEqual([row]);
    expect(await run('SELECT * FROM ?.sums')).toEqual([{ id: 1 }]);
    expect(await run('SELECT "offset"::int FROM ?.records')).toEqual(inRecords ? [{ offset: 0 }] : []);
    expect(await run('SELECT "offset"::int, reason, target, target_column FROM ?.dead_letters')).toEqual([
      { offset: 1, reason: 'constraint_violated', target: `${schema}.sums`, target_column: 'id' },
    ]);
  },
);
