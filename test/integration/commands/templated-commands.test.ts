import { expect, test } from '@jest/globals';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer, writeConfiguration } from '../stack/start-consumer.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';
import { connect } from '../store/open-store.ts';

test('tables check, ddl and dry-run, and doctor, take a name for each topic of a template', async () => {
  const shop = new TemplatedShop();
  await shop.add('orders', 'items');
  await createNamedTopic(shop.topic('bills'));
  await Promise.all([shop.produce('orders', 1, 2), shop.produce('bills', 2)]);
  const { configFile } = await writeConfiguration(shop.settings({ settings: { server: { port: 0 } } }));
  const run = (...words: string[]) => runCommand([...words, '--config', configFile]);

  const check = await run('tables', 'check');
  expect(check.code).toBe(78);
  expect(check.stdout).toContain(`${shop.topic('orders')} -> ${shop.schema}.orders`);
  expect(check.stdout).toContain(`${shop.topic('items')} -> ${shop.schema}.items`);
  expect(check.stderr).toContain(`tables[0](${shop.topic('bills')}).table`);

  const ddl = await run('tables', 'ddl', '--topic', shop.topic('bills'));
  expect(ddl.stdout).toContain(`CREATE TABLE ${shop.schema}.bills`);

  const doctor = await run('doctor', '--json');
  const findings = doctor.stdout.trim().split('\n');
  const lines = findings.map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  expect(lines.filter(({ check: of }) => of === 'template')).toMatchObject([
    { status: 'ok', message: expect.stringMatching(/^takes 3: /) },
  ]);
  expect(doctor.code).toBe(0);
  expect(lines.filter(({ status }) => status !== 'ok')).toMatchObject([
    { check: 'table', name: `${shop.schema}.bills`, code: 'TABLES_DO_NOT_FIT', status: 'warning' },
  ]);

  await query(`CREATE TABLE ${shop.schema}.bills (id int)`);
  const dryRun = await run('tables', 'dry-run', '--topic', shop.topic('bills'), '--json');
  expect(dryRun.code).toBe(0);
  expect(await query(`SELECT FROM ${shop.schema}.bills`)).toEqual([]);
});

test('dead-letters replay puts a letter of a template into its table', async () => {
  const shop = new TemplatedShop();
  await shop.add('orders');
  await shop.produce('orders', 1, 3_000_000_000);
  const consumer = await startConsumer(shop.settings());
  await shop.awaitIds('orders', 1);
  await until('the letter', async () => {
    const rows = await query(`SELECT FROM ${consumer.schema}.dead_letters`);
    return rows.length === 1 ? true : undefined;
  });
  await query(`ALTER TABLE ${shop.schema}.orders ALTER id TYPE bigint`);
  const replay = await runCommand(['dead-letters', 'replay', '--config', consumer.configFile]);
  expect([replay.code, replay.stderr]).toEqual([0, expect.stringContaining('1')]);
  const rows = await query<{ id: string }>(`SELECT id::text FROM ${shop.schema}.orders ORDER BY id`);
  expect(rows.map(({ id }) => id)).toEqual(['1', '3000000000']);
  expect(await query(`SELECT FROM ${consumer.schema}.records`)).toEqual([]);
});

test('a table that two topics would share is named by each command, whose topics wait', async () => {
  const [one, other, table] = [new TemplatedShop(), new TemplatedShop(), randomName('orders')];
  for (const { source } of [one, other]) {
    await createNamedTopic(`${source}.${table}`);
  }
  const topic = [`${one.source}.{table}`, `${other.source}.{table}`];
  const tables = [{ topic, table: `${one.schema}.{table}` }];
  const { configFile } = await writeConfiguration(one.settings({ settings: { server: { port: 0 }, tables } }));
  const run = (...words: string[]) => runCommand([...words, '--config', configFile]);
  const shared = `tables[0].table is one table for several topics: ${[one, other]
    .map(({ source }) => `${source}.${table}`)
    .toSorted()
    .join(', ')}`;

  for (const asked of [[], ['--table', table]]) {
    const check = await run('tables', 'check', ...asked);
    expect({ code: check.code, stdout: check.stdout }).toEqual({ code: 78, stdout: '' });
    expect(check.stderr).toContain(shared);
    const ddl = await run('tables', 'ddl', ...asked);
    expect(ddl.stdout).toContain(`-- REVIEW: ${shared}`);
    const tried = await run('tables', 'dry-run', ...asked);
    expect(tried.code).toBe(78);
    expect(tried.stdout).toContain(`${one.source}.${table} waits (TABLES_DO_NOT_FIT)\n  ${shared}`);
  }
});

test('tables dry-run goes on where a trigger of one table uses what is missing, and tries the others', async () => {
  const shop = new TemplatedShop();
  await shop.add('bills', 'items', 'orders');
  await query(`CREATE FUNCTION ${shop.schema}.audit() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO ${shop.schema}.missing VALUES (1); RETURN NEW; END'`);
  await query(`CREATE TRIGGER audits BEFORE INSERT ON ${shop.schema}.items
    FOR EACH ROW EXECUTE FUNCTION ${shop.schema}.audit()`);
  for (const table of ['bills', 'items', 'orders']) {
    await shop.produce(table, 1, 2, 3);
  }
  const { configFile } = await writeConfiguration(shop.settings());
  const tried = await runCommand(['tables', 'dry-run', '--config', configFile]);
  expect({ code: tried.code, stderr: tried.stderr }).toEqual({ code: 78, stderr: '' });
  expect(tried.stdout).toContain(`${shop.topic('items')} waits (TABLE_REFUSES_ROWS)`);
  expect(tried.stdout).toContain(`${shop.schema}.items`);
  expect(tried.stdout).toMatch(/\b6 records/);
});

test('tables dry-run goes on where another transaction holds a table, and tries the others', async () => {
  const shop = new TemplatedShop();
  await shop.add('bills', 'items', 'orders');
  for (const table of ['bills', 'items', 'orders']) {
    await shop.produce(table, 1, 2, 3);
  }
  const { configFile } = await writeConfiguration(shop.settings());
  const run = (...words: string[]) => runCommand(['tables', 'dry-run', '--config', configFile, ...words]);
  await query(`ALTER TABLE ${shop.schema}.items ADD at timestamptz DEFAULT now()`);
  const other = await connect();
  try {
    await other.query(`BEGIN; LOCK TABLE ${shop.schema}.items IN ACCESS EXCLUSIVE MODE`);
    const tried = await run();
    expect({ code: tried.code, stderr: tried.stderr }).toEqual({ code: 1, stderr: '' });
    const why = `the table ${shop.schema}.items takes no rows for now: `;
    expect(tried.stdout).toContain(`${shop.topic('items')} waits (database_busy)\n  ${why}`);
    expect(tried.stdout).toContain('try again when it is over');
    expect(tried.stdout).toMatch(/\b6 records/);
    const json = (await run('--json')).stdout.trim().split('\n').at(-1) ?? '';
    const waiting = { topic: shop.topic('items'), code: 'database_busy', message: expect.stringContaining(why) };
    expect(JSON.parse(json)).toMatchObject({ records: 6, stored: 6, waiting: [waiting] });
  } finally {
    await other.end();
  }
});

test('tables dry-run ends with the right that it lacks, where the role may make no temporary table', async () => {
  const shop = new TemplatedShop();
  const [database, role] = [randomName('database'), randomName('role')];
  await createNamedTopic(shop.topic('orders'));
  await shop.produce('orders', 2);
  await query(`CREATE DATABASE ${database}`);
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'trial'`);
  await query(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
  try {
    const databaseUrl = String(
      Object.assign(new URL(sharedDatabaseUrl()), { pathname: `/${database}`, username: role, password: 'trial' }),
    );
    const settings = { kafka: { topics: [`${shop.source}.{schema}.{table}`] }, tables: [] };
    const { configFile } = await writeConfiguration(shop.settings({ databaseUrl, settings }));
    const tried = await runCommand(['tables', 'dry-run', '--config', configFile]);
    expect({ code: tried.code, stdout: tried.stdout }).toEqual({ code: 1, stdout: '' });
    expect(tried.stderr).toContain('permission denied to create temporary tables');
  } finally {
    await query(`DROP DATABASE ${database}`);
    await query(`DROP ROLE ${role}`);
  }
});
