import { describe, expect, test } from '@jest/globals';
import { openKeyed } from './open-keyed.ts';

const CUSTOMERS =
  "CREATE TABLE ?.customers (id bigint PRIMARY KEY, name text, note text DEFAULT 'none', visits int DEFAULT 0)";
const BY_ID = { table: '?.customers', key: 'id', columns: { visits: false } };

const aCustomers = (more: Readonly<Record<string, unknown>> = {}) =>
  openKeyed({ ddl: CUSTOMERS, tables: [{ ...BY_ID, ...more }] });

const customer = (id: number, name: string) => ({ value: { id, name } });
const tombstone = (key: string | null) => ({ key, value: null });

describe('a record whose key has a row', () => {
  test('replaces it, but for the columns that are not written', async () => {
    const { write, run } = await aCustomers();
    await write([customer(1, 'Ada'), { value: { id: 2, name: 'Bea', note: 'new' } }]);
    await run('UPDATE ?.customers SET visits = 7');
    await write([customer(2, 'Bob')]);
    expect(await run('SELECT * FROM ?.customers ORDER BY id')).toEqual([
      { id: '1', name: 'Ada', note: 'none', visits: 7 },
      { id: '2', name: 'Bob', note: 'none', visits: 7 },
    ]);
  });

  test('writes nothing where nothing differs, byte for byte', async () => {
    const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, sum numeric)';
    const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
    await write([{ value: '{"id":1,"sum":1.0}' }, { value: '{"id":2,"sum":1.0}' }]);
    const versions = () => run('SELECT id, sum, xmin::text FROM ?.sums ORDER BY id');
    const before = await versions();
    await write([{ value: '{"id":1,"sum":1.0}' }, { value: '{"id":2,"sum":1.00}' }]);
    expect(await versions()).toEqual([
      before[0],
      { id: 2, sum: '1.00', xmin: expect.not.stringMatching(String(before[0]?.['xmin'])) },
    ]);
  });

  test('keeps it with existing: keep, and so does the first of a batch', async () => {
    const { write, run } = await aCustomers({ existing: 'keep' });
    await write([customer(1, 'Ada'), customer(1, 'Eve')]);
    await write([customer(1, 'Bob'), customer(2, 'Bea'), customer(2, 'Bill')]);
    expect(await run('SELECT id, name FROM ?.customers ORDER BY id')).toEqual([
      { id: '1', name: 'Ada' },
      { id: '2', name: 'Bea' },
    ]);
  });

  test('keeps the first behind a delete with existing: keep', async () => {
    const { write, run } = await aCustomers({ existing: 'keep' });
    await write([customer(1, 'Ada'), customer(2, 'Bea'), customer(3, 'Cy')]);
    await write([
      customer(1, 'Al'),
      tombstone('1'),
      customer(1, 'Ann'),
      customer(1, 'Abe'),
      customer(2, 'Bob'),
      tombstone('3'),
    ]);
    expect(await run('SELECT id, name FROM ?.customers ORDER BY id')).toEqual([
      { id: '1', name: 'Ann' },
      { id: '2', name: 'Bea' },
    ]);
  });
});

describe('of several records of one key', () => {
  test('the last one counts, in one transaction or in many', async () => {
    const { write, run, letters } = await aCustomers();
    await write([
      customer(1, 'Ada'),
      customer(2, 'Bea'),
      customer(1, 'Al'),
      tombstone('2'),
      customer(3, 'Cy'),
      tombstone('3'),
    ]);
    await write([tombstone('1'), customer(1, 'Ann')]);
    expect(await run('SELECT id, name FROM ?.customers')).toEqual([{ id: '1', name: 'Ann' }]);
    expect(await letters()).toEqual([]);
  });

  test('a delete between two takes what other columns had with it', async () => {
    const { write, run } = await aCustomers();
    await write([customer(1, 'Ada'), customer(2, 'Bea')]);
    await run('UPDATE ?.customers SET visits = 7');
    await write([customer(1, 'Al'), customer(1, 'Ann'), tombstone('2'), customer(2, 'Bob')]);
    expect(await run('SELECT id, name, visits FROM ?.customers ORDER BY id')).toEqual([
      { id: '1', name: 'Ann', visits: 7 },
      { id: '2', name: 'Bob', visits: 0 },
    ]);
  });

  test('PostgreSQL says which keys are equal', async () => {
    const ddl = `CREATE COLLATION ?.no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE ?.users (mail text COLLATE ?.no_case, shop uuid, at timestamptz, sum numeric, name text, UNIQUE (sum, at, mail, shop))`;
    const tables = [{ table: '?.users', key: ['mail', 'shop', 'at', 'sum'] }];
    const { write, run, letters } = await openKeyed({ ddl, tables });
    const one = { mail: 'Ada@x.org', shop: '6F2C4C0E-0000-4000-8000-0000000000AA', at: '2024-01-01T00:00:00Z', sum: 1 };
    const two = {
      mail: 'ada@X.org',
      shop: '{6f2c4c0e000040008000-0000000000aa}',
      at: '2024-01-01 02:00+02',
      sum: '1.00',
    };
    await write([{ value: { ...one, name: 'first' } }, { value: { ...two, name: 'second' } }]);
    expect(await run('SELECT name FROM ?.users')).toEqual([{ name: 'second' }]);
    await write([{ value: { ...one, name: 'third' } }]);
    expect(await run('SELECT name FROM ?.users')).toEqual([{ name: 'third' }]);
    await write([{ key: JSON.stringify(two), value: null }]);
    expect(await run('SELECT name FROM ?.users')).toEqual([]);
    expect(await letters()).toEqual([]);
  });
});

describe('a delete', () => {
  test.each([
    ['a number', '1'],
    ['an object', '{"id": 1, "more": 2}'],
    ['a JSON string', '"1"'],
  ])('is a tombstone whose record key is %s', async (_, key) => {
    const { write, run } = await aCustomers();
    await write([customer(1, 'Ada'), customer(2, 'Bea')]);
    await write([tombstone(key)]);
    expect(await run('SELECT id FROM ?.customers')).toEqual([{ id: '2' }]);
  });

  test.each([true, 'true'])('is a record whose field of the setting is %j', async (isDeleted) => {
    const { write, run } = await aCustomers({ delete: 'meta.gone' });
    await write([customer(1, 'Ada'), customer(2, 'Bea'), { value: { id: 3, meta: { gone: false } } }]);
    await write([
      { value: { id: 1, name: ['no', 'text'], meta: { gone: isDeleted } } },
      { value: { id: 2, meta: { gone: 'no' } } },
    ]);
    await write([tombstone('3')]);
    expect(await run('SELECT id, name FROM ?.customers')).toEqual([{ id: '2', name: null }]);
  });

  test('of a row that is not there is fine', async () => {
    const { write, letters } = await aCustomers();
    expect(await write([tombstone('1')])).toMatchObject({ kind: 'committed', deadLetters: new Map() });
    expect(await letters()).toEqual([]);
  });

  test('is none with delete: never, and moves the offset', async () => {
    const { write, run, letters } = await aCustomers({ delete: 'never' });
    await write([customer(1, 'Ada'), tombstone('1')]);
    expect(await write([tombstone('1')])).toMatchObject({
      tables: { operations: [{ operation: 'skip', records: 1 }] },
    });
    expect(await run('SELECT id FROM ?.customers')).toEqual([{ id: '1' }]);
    expect(await letters()).toEqual([]);
    expect(await run('SELECT next_offset::int AS next FROM ?.offsets')).toEqual([{ next: 3 }]);
  });

  test('needs no value for columns that are NOT NULL, by themselves or by their domain', async () => {
    const ddl = `CREATE DOMAIN ?.sku AS varchar(5) NOT NULL CHECK (VALUE <> 'bad');
      CREATE TABLE ?.items (id int PRIMARY KEY, name text NOT NULL, sku ?.sku)`;
    const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.items', key: 'id' }] });
    await write([{ value: { id: 1, name: 'a', sku: 'A1' } }, { value: { id: 2, name: 'b', sku: 'B1' } }]);
    await write([
      tombstone('1'),
      { value: { id: 3, sku: 'C1' } },
      { value: { id: 4, name: 'd', sku: 'bad' } },
      { value: { id: 5, name: 'e', sku: 'too long' } },
    ]);
    expect(await run('SELECT id FROM ?.items')).toEqual([{ id: 2 }]);
    expect(await letters()).toMatchObject([
      { at: 3, reason: 'missing_value', column: 'name' },
      { at: 4, reason: 'constraint_violated' },
      { at: 5, reason: 'value_does_not_fit' },
    ]);
  });
});

test('records are counted by what is done with them', async () => {
  const { write, schema } = await aCustomers();
  const outcome = await write([
    customer(1, 'Ada'),
    tombstone('1'),
    customer(2, 'Bea'),
    { value: { id: 'x' } },
    tombstone('x'),
    tombstone('2'),
  ]);
  const table = `${schema}.customers`;
  expect(outcome).toMatchObject({
    deadLetters: new Map([['value_does_not_fit', 2]]),
    tables: {
      operations: [
        { table, operation: 'upsert', records: 2 },
        { table, operation: 'delete', records: 2 },
      ],
    },
  });
});

describe('a key', () => {
  test('comes from the record key where the value lacks it', async () => {
    const { write, run } = await aCustomers();
    await write([
      { key: '1', value: { name: 'Ada' } },
      { key: '{"id":2}', value: { name: 'Bea' } },
      { key: '9', value: { id: 3, name: 'Cy' } },
    ]);
    expect(await run('SELECT id, name FROM ?.customers ORDER BY id')).toEqual([
      { id: '1', name: 'Ada' },
      { id: '2', name: 'Bea' },
      { id: '3', name: 'Cy' },
    ]);
  });

  test('takes the name that its field has in the value', async () => {
    const ddl = 'CREATE TABLE ?.lines (tenant_id text, line_no int, name text, PRIMARY KEY (tenant_id, line_no))';
    const columns = { line_no: 'line.no' };
    const tables = [{ table: '?.lines', key: ['tenant_id', 'line_no'], fields: 'camelCase', columns }];
    const { write, run } = await openKeyed({ ddl, tables });
    await write([
      { value: { tenantId: 'a', line: { no: 1 }, name: 'x' } },
      { value: { tenantId: 'a', line: { no: 2 } } },
    ]);
    await write([{ key: '{"tenantId":"a","no":1}', value: null }]);
    expect(await run('SELECT tenant_id, line_no FROM ?.lines')).toEqual([{ tenant_id: 'a', line_no: 2 }]);
  });

  test.each([
    ['a record without one', { value: { name: 'Ada' } }, 'missing_value'],
    ['a tombstone without one', tombstone(null), 'missing_value'],
    ['a key that is null', { key: '1', value: { id: null } }, 'missing_value'],
    ['an object without the field', { key: '{"no":1}', value: null }, 'missing_value'],
    ['one that does not fit', tombstone('one'), 'value_does_not_fit'],
  ])('is needed: %s is a dead letter', async (_, record, reason) => {
    const { write, run, letters } = await aCustomers();
    await write([customer(1, 'Ada'), record, customer(2, 'Bea')]);
    expect(await letters()).toEqual([{ at: 1, reason, column: 'id' }]);
    expect(await run('SELECT id FROM ?.customers ORDER BY id')).toEqual([{ id: '1' }, { id: '2' }]);
  });
});
