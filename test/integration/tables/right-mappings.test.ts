import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from '@jest/globals';
import { from as copyFrom } from 'pg-copy-streams';
import { mappingJson, mappingLines } from '../../../app/commands/tables/check/shown-mapping.ts';
import type { CheckedMapping } from '../../../app/tables/mapping/resolve-mapping.ts';
import { query } from '../stack/database.ts';
import { POSTGRES_MAJOR, testSincePostgres } from '../stack/postgres-version.ts';
import { connect } from '../store/open-store.ts';
import { type Entry, keyedEntry, openShop } from './shop.ts';

const { asShop, real, resolve } = openShop();

const ALL_KINDS: Entry = {
  table: 'shop.all_kinds',
  topics: ['orders', 'orders-eu'],
  fields: 'camelCase',
  columns: {
    key_id: { from: '$key' },
    sku: { from: '/lines/0/sku' },
    seen_at: { from: 'seen', as: 'epoch-millis' },
    picture: { from: 'picture', as: 'hex' },
    raw: { from: '$value' },
    host: { from: '$header.host' },
    takes: false,
  },
};

async function mappingOf(entry: Entry) {
  const { mappings, problems } = await resolve([entry]);
  const [mapping] = mappings;
  if (mapping === undefined) {
    throw new Error(JSON.stringify(problems));
  }
  return mapping;
}

describe('a table with columns of all kinds', () => {
  testSincePostgres(16, 'is shown column by column', async () => {
    const mapping: CheckedMapping = JSON.parse(asShop(JSON.stringify(await mappingOf(ALL_KINDS))));
    expect(mappingLines(mapping).join('\n')).toBe(`orders, orders-eu -> shop.all_kinds
  COLUMN     <- SOURCE                -> TYPE                            NO VALUE
  key_id     <- $key                  -> bigint NOT NULL                 DEFAULT
  line_no    <- lineNo                -> integer NOT NULL                DEFAULT
  counted    <- counted               -> integer NOT NULL                DEFAULT
  sku        <- /lines/0/sku          -> shop.sku NOT NULL               dead letter
  quantity   <- quantity              -> shop.quantity                   DEFAULT
  status     <- status                -> shop.status NOT NULL            DEFAULT
  ship_to    <- shipTo                -> shop.address                    NULL
  tags       <- tags                  -> text[]                          NULL
  boxes      <- boxes                 -> box[]                           NULL
  addresses  <- addresses             -> shop.address[]                  NULL
  seen_at    <- seen as epoch-millis  -> timestamp(3) without time zone  NULL
  paid_on    <- paidOn                -> date                            NULL
  picture    <- picture as hex        -> bytea                           NULL
  is_new     <- isNew                 -> boolean                         NULL
  weight     <- weight                -> real                            NULL
  raw        <- $value                -> json                            NULL
  host       <- $header.host          -> inet                            NULL
  amount     <- amount                -> numeric(10,2) NOT NULL          dead letter
  left to PostgreSQL: takes (NULL), doubled (generated)
  NOT NULL, seen record by record: key_id, line_no, counted, sku, status, amount`);
  });

  testSincePostgres(16, 'and a key is shown with what its rows come to', async () => {
    const columns = { moods: false, present: { from: '$key' }, price: { from: 'cost', as: 'decimal(2)' } } as const;
    const entry = keyedEntry('shop.customers', ['tenant', 'id'], { columns, fields: 'camelCase' });
    const mapping: CheckedMapping = JSON.parse(asShop(JSON.stringify(await mappingOf(entry))));
    expect(mappingLines(mapping).join('\n')).toBe(`orders -> shop.customers
  COLUMN   <- SOURCE              -> TYPE                 NO VALUE
  tenant   <- tenant, else $key   -> text NOT NULL        dead letter
  id       <- id, else $key       -> bigint NOT NULL      dead letter
  name     <- name                -> text NOT NULL        DEFAULT
  email    <- email               -> text                 NULL
  price    <- cost as decimal(2)  -> shop.price NOT NULL  DEFAULT
  present  <- $key                -> shop.present         NULL
  cost     <- cost                -> shop.money           DEFAULT
  key: tenant, id; rows that are there are replaced; tombstones delete them; through a temporary table
  left to PostgreSQL: line (identity), lower_name (generated), moods (NULL)
  NOT NULL, seen record by record: tenant, id, name, price`);
  });

  test('has types down to the elements, attributes and base types', async () => {
    const { columns } = await mappingOf({ table: 'shop.all_kinds', columns: { quantity: { from: 'quantity' } } });
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
    const address = (name: string) => ({
      kind: 'composite',
      name,
      attributes: [
        { name: 'street', type: { kind: 'text', name: 'text' } },
        { name: 'Zip code', type: { kind: 'text', name: 'character varying(9)' } },
        { name: 'since', type: { kind: 'date', name: 'date' } },
      ],
    });
    expect(JSON.parse(asShop(JSON.stringify(types)))).toMatchObject({
      sku: { kind: 'text', name: 'shop.sku' },
      quantity: { kind: 'integer', name: 'shop.quantity' },
      ship_to: address('shop.address'),
      addresses: { kind: 'array', name: 'shop.address[]', element: address('shop.address'), delimiter: ',' },
      tags: { kind: 'array', name: 'text[]', element: { kind: 'text', name: 'text' }, delimiter: ',' },
      boxes: { kind: 'array', name: 'box[]', element: { kind: 'other', name: 'box' }, delimiter: ';' },
      host: { kind: 'other', name: 'inet' },
      seen_at: { kind: 'timestamp', name: 'timestamp(3) without time zone' },
      amount: { kind: 'numeric', name: 'numeric(10,2)' },
    });
  });
});

/** A row of the mapping, by COPY in text format; `\N` is NULL. */
async function copyRow(entry: Entry, values: Readonly<Record<string, string>>, options = '') {
  const { columns } = await mappingOf(entry);
  const client = await connect();
  const names = columns.map(({ name }) => name);
  const row = columns.map(({ name, hasDefault }) => values[name] ?? (hasDefault ? '\\D' : '\\N')).join('\t');
  const stream = client.query(copyFrom(real(`COPY ${entry.table} (${names}) FROM STDIN (FORMAT text${options})`)));
  await pipeline([`${row}\n`], stream);
  return query(real(`SELECT * FROM ${entry.table}`));
}

testSincePostgres(
  16,
  'PostgreSQL has a default for each column that is said to have one, and for no other',
  async () => {
    const mapping = await mappingOf({ table: 'shop.all_kinds' });
    const needed = { sku: 'a', amount: '2' };
    const [row] = await copyRow({ table: 'shop.all_kinds' }, needed, ", DEFAULT '\\D'");
    expect(row).toMatchObject({ quantity: 1, status: 'open', line_no: 1, counted: 1, sku: 'a', doubled: '4.00' });
    const without = mapping.columns.filter(({ hasDefault, name }) => !hasDefault && !Object.hasOwn(needed, name));
    for (const { name } of without) {
      const copying = copyRow({ table: 'shop.all_kinds' }, { ...needed, [name]: '\\D' }, ", DEFAULT '\\D'");
      await expect(copying).rejects.toMatchObject({ code: '22P04' });
    }
  },
);

test('COPY takes values for an identity ALWAYS, unlike INSERT', async () => {
  const entry = { table: 'shop.computed', columns: { id: { from: 'id' } } };
  expect(await copyRow(entry, { id: '42' })).toEqual([{ id: '42', twice: '1' }]);
  const inserting = query(real('INSERT INTO shop.computed (id) VALUES (43)'));
  await expect(inserting).rejects.toMatchObject({ code: '428C9' });
});

test('COPY refuses a table with row-level security that applies to the role', async () => {
  const client = await connect();
  const copying = async () => {
    await client.query(real('SET ROLE shop_writer'));
    await pipeline(['1\n'], client.query(copyFrom(real('COPY shop.guarded (id) FROM STDIN'))));
  };
  await expect(copying()).rejects.toMatchObject({ code: '0A000' });
  expect((await resolve([{ table: 'shop.guarded' }])).problems).toEqual([]);
});

test.each([
  [{}, 'key: id; rows that are there are replaced; tombstones delete them; through a temporary table'],
  [
    { existing: 'keep', delete: 'never' },
    'key: id; rows that are there stay as they are; nothing deletes them; through a temporary table',
  ],
  [
    { delete: ['a.b', 0] },
    'key: id; rows that are there are replaced; tombstones delete them, and records whose /a.b/0 is true; through a temporary table',
  ],
] as const)('a key with %j is described in words', async (more, words) => {
  expect(mappingLines(await mappingOf(keyedEntry('shop.orders', ['id'], more)))).toContain(`  ${words}`);
});

test('a key as JSON has what deletes apart', async () => {
  const { delete: deletes, ...key } = { columns: ['id'], existing: 'keep' as const, delete: ['meta', 'deleted'] };
  const mapping = await mappingOf({ table: 'shop.orders', key: { ...key, delete: deletes } });
  expect(JSON.parse(mappingJson(mapping))).toMatchObject({
    key: { ...key, delete: { tombstones: true, field: 'meta.deleted' } },
    throughTemporaryTable: true,
    columns: expect.arrayContaining([expect.objectContaining({ name: 'id', from: 'id', else: '$key', notNull: true })]),
  });
  const never = await mappingOf(keyedEntry('shop.orders', ['id'], { delete: 'never' }));
  expect(JSON.parse(mappingJson(never))).toMatchObject({ key: { delete: { tombstones: false, field: null } } });
  const without = await mappingOf({ table: 'shop.orders' });
  expect(JSON.parse(mappingJson(without))).toMatchObject({ key: null, throughTemporaryTable: false });
});

test('row-level security that applies to the role is shown with the way that rows take', async () => {
  const { mappings } = await resolve([{ table: 'shop.guarded' }], 'writer');
  expect(mappings.flatMap((mapping) => mappingLines(mapping))).toContain(
    '  through a temporary table, as the table has row-level security',
  );
});

test('row triggers of the table and of its partitions are named', async () => {
  await query(
    real('CREATE TRIGGER of_partition BEFORE INSERT ON shop.parted_eu FOR EACH ROW EXECUTE FUNCTION shop.keep()'),
  );
  expect((await mappingOf({ table: 'shop.parted' })).relation.rowTriggers).toEqual(['of_partition']);
  const lines = mappingLines(await mappingOf({ table: 'shop.measures' })).join('\n');
  expect(lines).toContain('row triggers, which may change or drop rows: keep_some');
});

test('defaults are left to the server that is asked', async () => {
  const { columns } = await mappingOf({ table: 'shop.orders' });
  expect(columns.some(({ name }) => name === 'total')).toBe(POSTGRES_MAJOR >= 16);
});
