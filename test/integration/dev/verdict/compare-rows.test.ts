import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lastStates } from '../../../../dev/orders/sample-producer.ts';
import { CUSTOMERS, creationOf, expectedRow, ORDERS, type SampleTable } from '../../../../dev/orders/sample-tables.ts';
import { customerChange, tableOrder } from '../../../../dev/orders/table-records.ts';
import { compareRows, goodRecords } from '../../../../dev/verdict/compare-rows.ts';
import { loadExpected } from '../../../../dev/verdict/compare-tables.ts';
import { query, withDatabase } from '../../stack/database.ts';
import { randomName } from '../../stack/random-name.ts';

const RECORDS = 400;
const schema = randomName('rows');
const produced = (recordAt: typeof tableOrder) =>
  Array.from({ length: RECORDS }, (_, index) => ({ ...recordAt(3, index, 1), offset: BigInt(index) }));
const good = produced(tableOrder).filter(({ reason }) => reason === undefined);
const EXPECTED = {
  orders: { table: ORDERS, records: good },
  customers: { table: CUSTOMERS, records: [...lastStates(produced(customerChange)).values()] },
};
const RECORDS_OF = goodRecords('expected', 'topic');

/** The tables hold what PostgreSQL makes of the records. */
async function fill(table: SampleTable, records: (typeof EXPECTED)['orders']['records']): Promise<void> {
  await withDatabase(async ({ client }) => {
    await client.query(creationOf(schema, table));
    await loadExpected(client, 'topic', records);
    await client.query(
      `INSERT INTO ${schema}.${table.name} SELECT row_of.* FROM (${RECORDS_OF}) r, ${expectedRow(schema, table)} row_of`,
    );
  });
}

beforeAll(async () => {
  await query(`CREATE SCHEMA ${schema}`);
  await fill(ORDERS, EXPECTED.orders.records);
  await fill(CUSTOMERS, EXPECTED.customers.records);
});
afterAll(() => query(`DROP SCHEMA ${schema} CASCADE`));

/** What the comparison finds after a change, which is undone afterwards. */
const findingAfter = (name: keyof typeof EXPECTED, change: string, isWhole = true) =>
  withDatabase(async ({ client }) => {
    const { table, records } = EXPECTED[name];
    await client.query(`BEGIN; SET LOCAL search_path TO ${schema}, pg_temp`);
    await client.query(change);
    await loadExpected(client, 'topic', records);
    const finding = await compareRows(client, { schema, table, records: RECORDS_OF, isWhole });
    await client.query('ROLLBACK');
    return { ...finding, details: finding.details.map((detail) => detail.replaceAll(schema, 'shop')) };
  });

describe('the comparison of a table with the rows that records have to be', () => {
  test.each(['orders', 'customers'] as const)('is content with %s as PostgreSQL makes them', async (name) => {
    const number = `${EXPECTED[name].records.length}`;
    expect(await findingAfter(name, 'SELECT 1')).toMatchObject({
      isWell: true,
      expected: number,
      found: number,
      details: [],
    });
  });

  test.each<[string, keyof typeof EXPECTED, string, RegExp]>([
    [
      'a missing row',
      'orders',
      'DELETE FROM orders WHERE "offset" = 2',
      /^1 missing in shop\.orders; partition\/offset 0\/2$/,
    ],
    [
      'a number that lost its last digit',
      'orders',
      'UPDATE orders SET order_id = order_id - 1 WHERE "offset" = 2',
      /^1 another order_id; partition\/offset 0\/2: expected 9007199254740995, got 9007199254740994$/,
    ],
    [
      'another amount',
      'orders',
      'UPDATE orders SET total = 0.1 WHERE "offset" = 2',
      /^1 another total; partition\/offset 0\/2: expected [\d.]+, got 0\.10$/,
    ],
    [
      'a time that is a microsecond off',
      'orders',
      `UPDATE orders SET placed_at = placed_at + interval '1 microsecond' WHERE "offset" = 2`,
      /^1 another placed_at; partition\/offset 0\/2: expected "2026/,
    ],
    [
      'NULL in place of a UUID',
      'orders',
      'UPDATE orders SET payment_id = NULL WHERE "offset" = 2',
      /^1 another payment_id; .* got null$/,
    ],
    [
      'the content of a list',
      'orders',
      `UPDATE orders SET items = items || '[1]' WHERE "offset" = 2`,
      /^1 another items; partition\/offset 0\/2: expected \[\{/,
    ],
    [
      'a customer who was deleted',
      'customers',
      `INSERT INTO customers SELECT -1, name, tier, credit, address, subscribed, changed_at FROM customers LIMIT 1`,
      /^1 in shop\.customers, and not expected there; id -1$/,
    ],
    [
      'another state',
      'customers',
      `UPDATE customers SET tier = 'gold', credit = 0`,
      /^\d+ another tier; id \d+: expected "s\w+", got "gold", /,
    ],
  ])('finds %s', async (_, name, change, expected) => {
    const { isWell, details } = await findingAfter(name, change);
    expect(isWell).toBe(false);
    expect(details).toContainEqual(expect.stringMatching(expected));
  });

  test('passes over rows of other records where it is told that there are some', async () => {
    const other =
      'INSERT INTO orders SELECT order_id, total, customer_id, customer_name, items, currency, status, placed_at, gift, payment_id, 7, "offset" FROM orders LIMIT 3';
    expect(await findingAfter('orders', other)).toMatchObject({ isWell: false });
    expect(await findingAfter('orders', other, false)).toMatchObject({ isWell: true });
  });
});
