import { describe, expect, test } from '@jest/globals';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { type Entry, openShop } from './shop.ts';

const { asShop, resolve } = openShop();

const column = (name: string, setting: NonNullable<Entry['columns']>[string], table = 'shop.orders'): Entry => ({
  table,
  columns: { [name]: setting },
});

const measure = (name: string, from: string, as?: 'epoch-millis' | 'epoch-days' | 'base64' | 'hex' | 'decimal(2)') =>
  column(name, as === undefined ? { from } : { from, as }, 'shop.measures');

const OF_OWNER: readonly (readonly [name: string, entry: Entry])[] = [
  ['a table whose name is mistyped', { table: 'shop.ordres' }],
  ['a table whose name has other capitals', { table: 'shop.Orders' }],
  ['a table of another schema', { table: 'shop.invoices_of_shop' }],
  ['a table unlike any other', { table: 'shop.zzzzzzzzzzzz' }],
  ['a schema whose name is mistyped', { table: 'shopp_other.invoices_of_shop' }],
  ['a view', { table: 'shop.open_orders' }],
  ['a materialized view', { table: 'shop.order_totals' }],
  ['a foreign table', { table: 'shop.elsewhere' }],
  ['a sequence', { table: 'shop.numbers' }],
  ['an index', { table: 'shop.orders_by_total' }],
  ['a composite type', { table: 'shop.address' }],
  ['a system catalog', { table: 'pg_catalog.pg_class' }],
  ['a view of the information schema', { table: 'information_schema.tables' }],
  ['our own records', { table: 'shop_own.records' }],
  ['a partition of our own records', { table: 'shop_own.records_orders' }],
  ['our own list of migrations', { table: 'shop_own.schema_migrations' }],
  ['an unlogged table', { table: 'shop.cached' }],
  ['a table with an unlogged partition', { table: 'shop.half_logged' }],
  ['a table with a foreign partition of a partition', { table: 'shop.half_foreign' }],
  ['a column that is mistyped', column('customer_nam', { from: 'name' })],
  ['a column that is mistyped and never written', column('nott', false)],
  ['a column that is unlike any other', column('zzzzzzzz', { from: 'z' })],
  ['a column of the system', column('ctid', { from: 'id' })],
  ['a generated column', column('gross', { from: 'gross' })],
  ['a NOT NULL column without default that is never written', column('customer_name', false)],
  ['a column whose domain is NOT NULL, never written', column('sku', false, 'shop.all_kinds')],
  ['columns that PostgreSQL alone writes', { table: 'shop.computed' }],
  ['columns that are all never written', { table: 'shop.parted', columns: { id: false, region: false } }],
  ['types that no text is read for', { table: 'shop.tree' }],
  ['the whole value for an integer', measure('n', '$value')],
  ['the whole value for a point in time', measure('at', '$value')],
  ['the whole value for a domain over an integer', column('quantity', { from: '$value' }, 'shop.all_kinds')],
  ['the topic for an integer', measure('n', '$topic')],
  ['the offset for a boolean', measure('b', '$offset')],
  ['the partition for a date', measure('day', '$partition')],
  ['the timestamp for an integer', measure('n', '$timestamp')],
  ['milliseconds for a text', measure('label', 'at', 'epoch-millis')],
  ['days for a time', measure('clock', 'at', 'epoch-days')],
  ['base64 for an integer', measure('n', 'n', 'base64')],
  ['hex for a text', measure('label', 'n', 'hex')],
  ['a decimal for bytes', measure('img', 'n', 'decimal(2)')],
  ['milliseconds for a list of texts', column('tags', { from: 'tags', as: 'epoch-millis' }, 'shop.all_kinds')],
  [
    'several mistakes in one table',
    {
      table: 'shop.orders',
      columns: {
        custmer_name: { from: 'a' },
        customer_name: false,
        note: { from: 'b', as: 'hex' },
        gross: { from: 'c' },
      },
    },
  ],
];

const OF_WRITER: readonly (readonly [name: string, entry: Entry])[] = [
  ['a table without INSERT', { table: 'shop.granted_none' }],
  ['a table without INSERT whose name needs quotes', { table: 'shop.Granted none' }],
  ['a column without INSERT', { table: 'shop.granted_some' }],
  ['a schema without USAGE', { table: 'shop_hidden.secrets' }],
  ['a sequence without USAGE', { table: 'shop.numbered' }],
  ['a sequence without USAGE, of a column that is never written', { table: 'shop.numbered', columns: { id: false } }],
];

/** As `tables check` prints them. */
const problemsOf = async (entry: Entry, role: 'owner' | 'writer') => {
  const { mappings, problems } = await resolve([entry], role);
  expect(mappings).toEqual([]);
  return asShop(problems.map(describeProblem).join('\n'));
};

describe('what is reported of', () => {
  test.each(OF_OWNER)('%s', async (_, entry) => {
    expect(await problemsOf(entry, 'owner')).toMatchSnapshot();
  });

  test.each(OF_WRITER)('%s, as a role that may do little', async (_, entry) => {
    expect(await problemsOf(entry, 'writer')).toMatchSnapshot();
  });
});

test('all of it is reported at once, each problem at the place of its entry', async () => {
  const right = { table: 'shop.orders' };
  const entries = [right, ...OF_OWNER.map(([, entry]) => entry), right];
  const { mappings, problems } = await resolve(entries);
  expect(mappings).toHaveLength(2);
  const alone: (readonly Problem[])[] = [];
  for (const [, entry] of OF_OWNER) {
    alone.push((await resolve([entry])).problems);
  }
  const placed = alone.flatMap((of, nth) =>
    of.map((problem) => JSON.stringify(problem).replaceAll('tables[0]', `tables[${nth + 1}]`)),
  );
  expect(problems.map((problem) => JSON.stringify(problem))).toEqual(placed);
});

test.each([['owner'], ['writer']] as const)('as the %s, what may be written is no problem', async (role) => {
  const columns = { more: false } as const;
  const { problems } = await resolve([{ table: 'shop.granted_some', columns }], role);
  expect(problems).toEqual([]);
});
