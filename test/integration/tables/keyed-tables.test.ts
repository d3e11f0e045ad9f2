import { describe, expect, test } from '@jest/globals';
import { UNAVAILABLE_VALUE } from '../../../settings/sections/tables/table-envelope.ts';
import { query } from '../stack/database.ts';
import { startPgBouncer } from '../stack/pgbouncer.ts';
import { POSTGRES_MAJOR } from '../stack/postgres-version.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { openKeyed } from './open-keyed.ts';

/** Before PostgreSQL 16 a column with a default is left to it, unless `columns` names it. */
const TAKES_DEFAULTS = POSTGRES_MAJOR >= 16;

const put = (id: number, more: object = {}) => ({ value: { id, ...more } });
const gone = (id: number) => ({ key: String(id), value: null });

test('a text that is no name in the catalog is a dead letter, and the records around it are applied', async () => {
  const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, place regclass)';
  const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
  await write([put(1, { place: 'pg_class' }), put(2, { place: 'nowhere' }), put(3, { place: 'pg_type' })]);
  expect(await run('SELECT id, place::text FROM ?.sums ORDER BY id')).toEqual([
    { id: 1, place: 'pg_class' },
    { id: 3, place: 'pg_type' },
  ]);
  expect(await letters()).toEqual([{ at: 1, reason: 'value_does_not_fit', column: 'place' }]);
});

describe('a refusal behind the stage', () => {
  test('of a CHECK names its column, and the records around it are applied', async () => {
    const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, amount int CHECK (amount < 100))';
    const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
    await write([
      put(1, { amount: 1 }),
      put(2, { amount: 1000 }),
      put(3, { amount: 3 }),
      put(1, { amount: 1000 }),
      put(4, { amount: 'x' }),
    ]);
    expect(await run('SELECT * FROM ?.sums ORDER BY id')).toEqual([
      { id: 1, amount: 1 },
      { id: 3, amount: 3 },
    ]);
    expect(await letters()).toEqual([
      { at: 1, reason: 'constraint_violated', column: 'amount' },
      { at: 3, reason: 'constraint_violated', column: 'amount' },
      { at: 4, reason: 'value_does_not_fit', column: 'amount' },
    ]);
  });

  test('of a second unique index is for what a writer of one record after the other would refuse', async () => {
    const ddl = 'CREATE TABLE ?.users (id int PRIMARY KEY, mail text UNIQUE)';
    const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.users', key: 'id' }] });
    await write([put(1, { mail: 'a' }), put(2, { mail: 'b' })]);
    // In the order of keys, 1 would get the mail that 2 still has.
    await write([put(2, { mail: 'c' }), put(1, { mail: 'b' }), put(5, { mail: 'c' }), put(6, { mail: 'd' })]);
    const rows = [
      { id: 1, mail: 'b' },
      { id: 2, mail: 'c' },
      { id: 6, mail: 'd' },
    ];
    expect(await run('SELECT * FROM ?.users ORDER BY id')).toEqual(rows);
    expect(await letters()).toEqual([{ at: 4, reason: 'constraint_violated', column: 'mail' }]);
  });

  test('of a foreign key is for the record that lacks its parent, and for the delete of a parent', async () => {
    const ddl = `CREATE TABLE ?.shops (id int PRIMARY KEY); CREATE TABLE ?.users (id int PRIMARY KEY, shop int REFERENCES ?.shops);
      INSERT INTO ?.shops VALUES (1), (2); INSERT INTO ?.users VALUES (9, 2)`;
    const users = await openKeyed({ ddl, tables: [{ table: '?.users', key: 'id' }] });
    await users.write([put(1, { shop: 1 }), put(2, { shop: 7 }), put(3, { shop: 2 })]);
    expect(await users.run('SELECT id FROM ?.users ORDER BY id')).toEqual([{ id: 1 }, { id: 3 }, { id: 9 }]);
    expect(await users.letters()).toEqual([{ at: 1, reason: 'constraint_violated', column: 'shop' }]);
  });
});

test('a key that may not be deleted is a dead letter', async () => {
  const ddl = `CREATE TABLE ?.shops (id int PRIMARY KEY); CREATE TABLE ?.users (shop int REFERENCES ?.shops);
    INSERT INTO ?.shops VALUES (1), (2); INSERT INTO ?.users VALUES (2)`;
  const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.shops', key: 'id' }] });
  await write([gone(1), gone(2), put(3)]);
  expect(await run('SELECT id FROM ?.shops ORDER BY id')).toEqual([{ id: 2 }, { id: 3 }]);
  expect(await letters()).toMatchObject([{ at: 1, reason: 'constraint_violated' }]);
});

test('rows go to their partitions', async () => {
  const ddl = `CREATE TABLE ?.sums (id int, region text, amount int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
    CREATE TABLE ?.sums_eu PARTITION OF ?.sums FOR VALUES IN ('eu'); CREATE TABLE ?.sums_us PARTITION OF ?.sums FOR VALUES IN ('us')`;
  const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: ['region', 'id'] }] });
  await write([put(1, { region: 'eu', amount: 1 }), put(1, { region: 'us', amount: 2 })]);
  await write([put(1, { region: 'us', amount: 3 }), { key: '{"id":1,"region":"eu"}', value: null }]);
  expect(await run('SELECT * FROM ?.sums')).toEqual([{ id: 1, region: 'us', amount: 3 }]);
});

test('columns that PostgreSQL writes are left to it', async () => {
  const ddl = `CREATE TABLE ?.sums (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line int GENERATED BY DEFAULT AS IDENTITY,
    amount int DEFAULT 7, twice int GENERATED ALWAYS AS (amount * 2) STORED, at timestamptz NOT NULL DEFAULT now())`;
  const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
  await write([put(5), put(6, { amount: 2 })]);
  await write([put(5, { amount: 3 }), put(6)]);
  expect(await letters()).toEqual([]);
  expect(await run('SELECT id::int, line, amount, twice FROM ?.sums ORDER BY id')).toEqual([
    { id: 5, line: 1, ...(TAKES_DEFAULTS ? { amount: 3, twice: 6 } : { amount: 7, twice: 14 }) },
    { id: 6, line: 2, amount: 7, twice: 14 },
  ]);
});

test('a pooler may lend another session for each transaction', async () => {
  const bouncer = await startPgBouncer({
    mode: 'transaction',
    settings: { default_pool_size: 2, ignore_startup_parameters: 'options' },
  });
  const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, amount int)';
  const tables = [{ table: '?.sums', key: 'id' }];
  const { write, run, letters } = await openKeyed({ ddl, tables, partitions: 6, url: bouncer.url });
  for (let round = 0; round < 8; round += 1) {
    const writes = Array.from({ length: 6 }, (_, partition) =>
      write(
        [put(partition, { amount: round }), round % 2 === 0 ? gone(10 + partition) : put(10 + partition)],
        partition,
      ),
    );
    await Promise.all(writes);
  }
  expect(await run('SELECT count(*)::int AS rows, min(amount) AS least FROM ?.sums')).toEqual([{ rows: 12, least: 7 }]);
  expect(await letters()).toEqual([]);
});

const TRIGGER = (on: string, body: string) =>
  `CREATE FUNCTION ?.decide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
   CREATE TRIGGER decide BEFORE ${on} ON ?.sums FOR EACH ROW EXECUTE FUNCTION ?.decide()`;

describe('a trigger', () => {
  const sums = 'CREATE TABLE ?.sums (id int PRIMARY KEY, version int, gone boolean DEFAULT false);';
  const tables = [{ table: '?.sums', key: 'id', columns: { gone: false } }];

  test('may keep a row from being replaced, as a guard of versions does', async () => {
    const guard = 'IF NEW.version < OLD.version THEN RETURN NULL; END IF; RETURN NEW;';
    const { write, run } = await openKeyed({ ddl: sums + TRIGGER('UPDATE', guard), tables });
    await write([put(1, { version: 2 }), put(2, { version: 2 })]);
    await write([put(1, { version: 1 }), put(2, { version: 3 })]);
    expect(await run('SELECT id, version FROM ?.sums ORDER BY id')).toEqual([
      { id: 1, version: 2 },
      { id: 2, version: 3 },
    ]);
  });

  test('may keep a row from being deleted, as a soft delete does', async () => {
    const soft = 'UPDATE ?.sums SET gone = true WHERE id = OLD.id; RETURN NULL;';
    const { write, run } = await openKeyed({ ddl: sums + TRIGGER('DELETE', soft), tables });
    await write([put(1, { version: 2 })]);
    await write([gone(1)]);
    expect(await run('SELECT id, gone FROM ?.sums')).toEqual([{ id: 1, gone: true }]);
  });

  test.each([['replace'], ['keep']])(
    'that drops a new row ends the consumer, before COMMIT (existing: %s)',
    async (existing) => {
      const drop = 'IF NEW.version = 7 THEN RETURN NULL; END IF; RETURN NEW;';
      const store = await openKeyed({
        ddl: sums + TRIGGER('INSERT', drop),
        tables: [{ ...tables[0], table: '?.sums', existing }],
      });
      await store.write(
        [put(1, { version: 1 }), put(2, { version: 7 }), put(2, { version: 3 })].slice(0, existing === 'keep' ? 1 : 3),
      );
      await expect(store.write([put(3, { version: 1 }), put(4, { version: 7 })])).rejects.toMatchObject({
        code: 'ROWS_DROPPED',
      });
      expect(await store.run('SELECT id FROM ?.sums WHERE id > 2')).toEqual([]);
      expect(await store.letters()).toEqual([]);
    },
  );
});

/** A role that is no superuser, which policies apply to. */
async function aRole(): Promise<{ role: string; url: string }> {
  const role = randomName('role');
  await query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'pw'; GRANT CREATE ON DATABASE ${new URL(sharedDatabaseUrl()).pathname.slice(1)} TO ${role}`,
  );
  const url = new URL(sharedDatabaseUrl());
  [url.username, url.password] = [role, 'pw'];
  return { role, url: url.href };
}

test.each([
  ['appended', {}, '4 4'],
  ['replaced', { key: 'id' }, '4'],
])('policies of row-level security apply to rows that are %s', async (_, entry, kept) => {
  const { role, url } = await aRole();
  const ddl = `CREATE TABLE ?.sums (id int ${'key' in entry ? 'PRIMARY KEY' : ''}, tenant text);
    ALTER TABLE ?.sums ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON ?.sums USING (tenant = 'a') WITH CHECK (tenant = 'a');
    GRANT ALL ON SCHEMA ? TO ${role}; GRANT ALL ON ?.sums TO ${role}`;
  const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.sums', ...entry }], url });
  await write([put(4, { tenant: 'a' }), put(5, { tenant: 'b' }), put(4, { tenant: 'a' })]);
  expect((await run('SELECT id FROM ?.sums')).map(({ id }) => id).join(' ')).toBe(kept);
  expect(await letters()).toMatchObject([{ at: 1, reason: 'constraint_violated' }]);
});

describe('a row that keeps a column, and that PostgreSQL does not replace though it is there, is no dead letter', () => {
  const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, version int, body text);';
  const tables = [{ table: '?.sums', key: 'id', envelope: 'debezium' }];
  const event = (id: number, version: number, body = UNAVAILABLE_VALUE) => ({
    key: JSON.stringify({ id }),
    value: { op: 'u', after: { id, version, body } },
  });
  const rows = 'SELECT id, version, body FROM ?.sums ORDER BY id';
  const kept = [
    { id: 1, version: 2, body: 'one' },
    { id: 2, version: 3, body: 'two' },
  ];

  test('because of a trigger', async () => {
    const guard = 'IF NEW.version < OLD.version THEN RETURN NULL; END IF; RETURN NEW;';
    const { write, run, letters } = await openKeyed({ ddl: ddl + TRIGGER('UPDATE', guard), tables });
    await write([event(1, 2, 'one'), event(2, 2, 'two')]);
    await write([event(1, 1), event(2, 3), event(3, 1)]);
    expect(await run(rows)).toEqual(kept);
    expect(await letters()).toEqual([{ at: 4, reason: 'missing_value', column: 'body' }]);
  });

  test('because of a policy of row-level security', async () => {
    const { role, url } = await aRole();
    const policies = `ALTER TABLE ?.sums ENABLE ROW LEVEL SECURITY;
      CREATE POLICY all_seen ON ?.sums FOR SELECT USING (true); CREATE POLICY all_new ON ?.sums FOR INSERT WITH CHECK (true);
      CREATE POLICY some_changed ON ?.sums FOR UPDATE USING (id > 1);
      GRANT ALL ON SCHEMA ? TO ${role}; GRANT ALL ON ?.sums TO ${role}`;
    const { write, run, letters } = await openKeyed({ ddl: ddl + policies, tables, url });
    await write([event(1, 2, 'one'), event(2, 2, 'two')]);
    await write([event(1, 1), event(2, 3), event(3, 1)]);
    expect(await run(rows)).toEqual(kept);
    expect(await letters()).toEqual([{ at: 4, reason: 'missing_value', column: 'body' }]);
  });
});
