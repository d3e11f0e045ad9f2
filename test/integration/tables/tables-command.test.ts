import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { query } from '../stack/database.ts';
import { testSincePostgres } from '../stack/postgres-version.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { openShop } from './shop.ts';

const { asShop, real } = openShop();

const ORDERS = { topic: 'orders', table: 'shop.orders', columns: { payload: '$value', total: 'sum.total' } };
const PARTED = { topic: ['eu', 'us'], table: 'shop.parted', fields: 'camelCase' };
const MEASURES = {
  topic: 'measures',
  table: 'shop.measures',
  columns: {
    n: '$topic',
    b: '$value',
    at: '$offset',
    day: { from: 'd', as: 'hex' },
    clock: '$partition',
    img: '$value',
  },
};
const WRONG = [
  { topic: 'a', table: 'shop.ordres' },
  { topic: 'b', table: 'shop.open_orders' },
  { topic: 'c', table: 'shop.cached' },
  { topic: 'd', table: 'shop.computed' },
  { topic: 'e', table: 'shop.orders', columns: { gross: 'gross', nott: false } },
];

/** `tables check` with these entries as a process; its output is without what is random. */
async function check(tables: readonly unknown[], ...args: readonly string[]) {
  const schema = randomName('schema');
  const files = { 'application.yml': real(stringify({ tables })) };
  const { code, stdout, stderr } = await runCommand(['tables', 'check', ...args], {
    env: databaseEnvironment(sharedDatabaseUrl(), schema),
    files,
  });
  expect(await query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([]);
  // Schemas of other test files may hold offsets of topics with these names at any moment.
  const lines = linesOf(asShop(stdout)).filter((line) => !line.startsWith('  the schema '));
  return { code, stdout: lines.join('\n'), stderr: asShop(stderr) };
}

const linesOf = (text: string) => text.split('\n');

describe('tables check', () => {
  testSincePostgres(16, 'prints each mapping, and is code 0 without a word of it on standard error', async () => {
    const { code, stdout, stderr } = await check([ORDERS, PARTED]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`orders -> shop.orders
  COLUMN         <- SOURCE         -> TYPE                      NO VALUE
  id             <- id             -> bigint NOT NULL           dead letter
  customer_name  <- customer_name  -> text NOT NULL             dead letter
  total          <- sum.total      -> numeric(12,2) NOT NULL    DEFAULT
  created_at     <- created_at     -> timestamp with time zone  NULL
  note           <- note           -> text                      NULL
  payload        <- $value         -> jsonb                     NULL
  left to PostgreSQL: gross (generated)
  NOT NULL, seen record by record: id, customer_name, total

eu, us -> shop.parted
  COLUMN  <- SOURCE  -> TYPE     NO VALUE
  id      <- id      -> integer  NULL
  region  <- region  -> text     NULL
`);
  });

  test('prints one line of JSON for each table with --json', async () => {
    const { code, stdout, stderr } = await check([ORDERS, PARTED], '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [orders, parted, ...rest] = linesOf(stdout);
    expect(rest).toEqual(['']);
    expect(JSON.parse(orders ?? '')).toMatchObject({
      schema: 'shop',
      table: 'orders',
      topics: ['orders'],
      columns: expect.arrayContaining([
        { name: 'payload', from: '$value', type: 'jsonb', notNull: false, noValue: 'null' },
      ]),
      unwritten: [{ name: 'gross', type: 'numeric', gets: 'generated' }],
      rowTriggers: [],
    });
    expect(JSON.parse(parted ?? '')).toMatchObject({ table: 'parted', topics: ['eu', 'us'] });
  });

  test.each([[[]], [['--json']]])(
    'reports all problems of all tables on standard error, and is code 78: %j',
    async (args) => {
      const { code, stdout, stderr } = await check([...WRONG, MEASURES, PARTED], ...args);
      expect(code).toBe(78);
      expect(stdout).toMatch(
        args.length === 0 ? /^eu, us -> shop.parted\n/ : /^\{"schema":"shop","table":"parted",.*\}\n$/,
      );
      expect(stderr).toMatch(/^The tables do not fit the setting tables: 12 problems; nothing was written.\n\n/);
      expect(
        linesOf(stderr)
          .filter((line) => line.startsWith('tables['))
          .map((line) => line.split(' ')[0]),
      ).toEqual([
        ...['tables[0].table', 'tables[1].table', 'tables[2].table', 'tables[3].table'],
        ...['tables[4].columns.nott', 'tables[4].columns.gross'],
        ...['n', 'b', 'at', 'day.as', 'clock', 'img'].map((name) => `tables[5].columns.${name}`),
      ]);
    },
  );

  test('names other schemas of this program that hold an offset of the topic, and those that the role may not read', async () => {
    const [other, closed, foreign] = [randomName('other'), randomName('closed'), randomName('foreign')];
    const role = randomName('role');
    for (const schema of [other, closed]) {
      expect(await runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) })).toMatchObject({
        code: 0,
      });
      await query(`INSERT INTO ${schema}.offsets (group_id, topic, partition, next_offset)
        VALUES ('billing', 'eu', 0, 1), ('billing', 'eu', 1, 1), ('audit', 'orders', 0, 1)`);
    }
    await query(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.offsets (topic text)`);
    const url = new URL(sharedDatabaseUrl());
    await query(`CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'; GRANT USAGE ON SCHEMA ${other}, ${real('shop')} TO ${role};
      GRANT SELECT ON ${other}.offsets TO ${role}; GRANT INSERT, SELECT ON ALL TABLES IN SCHEMA ${real('shop')} TO ${role}`);
    url.username = role;
    const files = { 'application.yml': real(stringify({ tables: [PARTED] })) };
    const checkBy = async (...args: readonly string[]) => {
      const env = databaseEnvironment(url.href, randomName('schema'));
      const { code, stdout } = await runCommand(['tables', 'check', ...args], { env, files });
      expect(code).toBe(0);
      return stdout;
    };
    const named = linesOf(await checkBy());
    expect(named.filter((line) => [other, closed, foreign].some((schema) => line.includes(schema)))).toEqual([
      `  the schema ${closed} may hold offsets of these topics: the role may not read it`,
      `  the schema ${other} holds offsets of eu by group billing: where that group fills this table, too, each record is in it twice`,
    ]);
    const { offsetsElsewhere } = JSON.parse(await checkBy('--json'));
    expect(offsetsElsewhere).toEqual(
      expect.arrayContaining([{ schema: closed }, { schema: other, groupId: 'billing', topic: 'eu' }]),
    );
    await query(`DROP OWNED BY ${role}; DROP ROLE ${role}; DROP SCHEMA ${other}, ${closed}, ${foreign} CASCADE`);
  });

  test('says so where there is no table to look at', async () => {
    expect(await check([])).toEqual({
      code: 0,
      stdout: 'the setting tables is empty: all records go into the table records\n',
      stderr: '',
    });
    expect(await check([], '--json')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test.each([
  ['away', '127.0.0.1:1', 'PostgreSQL cannot do it for now'],
  ['one that knows another password', new URL(sharedDatabaseUrl()).host, 'PostgreSQL refused: '],
])('of a PostgreSQL that is %s nothing is reported but that, and the code is 1', async (_, host, reason) => {
  const files = { 'application.yml': stringify({ tables: [ORDERS] }) };
  const env = databaseEnvironment(`postgresql://postgres:wrong@${host}/postgres`, 'unused');
  const { code, stdout, stderr } = await runCommand(['tables', 'check'], { env, files });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`stream-consumer tables check: ${reason}`);
  expect(linesOf(stderr)).toHaveLength(2);
});

test('wrong settings are code 78 before PostgreSQL is asked', async () => {
  const files = { 'application.yml': stringify({ tables: [{ topic: 'orders', tabel: 'public.orders' }] }) };
  const env = databaseEnvironment('postgresql://u@nowhere.invalid/d', 'unused');
  const { code, stdout, stderr } = await runCommand(['tables', 'check'], { env, files });
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  expect(stderr).toContain('did you mean tables[0].table?');
});

test('output that cannot be written is reported, and is code 1', async () => {
  const files = { 'application.yml': real(stringify({ tables: [ORDERS] })) };
  const env = databaseEnvironment(sharedDatabaseUrl(), 'unused');
  const { code, stderr } = await runCommand(['tables', 'check'], { env, files, shell: 'exec "$@" > /dev/full' });
  expect(code).toBe(1);
  expect(stderr).toContain('standard output takes nothing (ENOSPC');
});
