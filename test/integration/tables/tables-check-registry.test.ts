import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';

const DECIMAL = { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 };

/** The row of an order, as Avro. */
const ORDER = {
  ...{ type: 'record', name: 'Order' },
  fields: [
    { name: 'id', type: 'long' },
    { name: 'total', type: ['null', DECIMAL] },
    { name: 'paid', type: { type: 'long', logicalType: 'timestamp-micros' } },
    { name: 'tags', type: { type: 'array', items: 'string' } },
    { name: 'coupon', type: 'string' },
  ],
};
const ORDER_KEY = { type: 'record', name: 'Key', fields: [{ name: 'number', type: 'long' }] };

let shop: string;
let registry: RegistryStub;

beforeAll(async () => {
  shop = randomName('shop');
  await query(`CREATE SCHEMA ${shop}; CREATE TABLE ${shop}.orders (
    id bigint PRIMARY KEY, total numeric NOT NULL, paid timestamptz, tags date, note text)`);
});

beforeEach(async () => {
  registry = await new RegistryStub().start();
});

afterEach(() => registry.stop());
afterAll(() => query(`DROP SCHEMA ${shop} CASCADE`));

const latest = (subject: string, id: number, schema: unknown, more: object = {}) =>
  registry.answer(
    `/subjects/${subject}/versions/latest`,
    json(200, { subject, id, version: 1, schema: JSON.stringify(schema), ...more }),
  );

/** What `tables check` prints of orders below the columns, and all else that a script sees of it. */
async function check(formats: object, table: object = {}, ...args: readonly string[]) {
  const settings = {
    tables: [{ topic: 'orders', table: `${shop}.orders`, ...table }],
    formats,
    schemaRegistry: { url: registry.url, timeout: '2s' },
  };
  const { code, stdout, stderr } = await runCommand(['tables', 'check', ...args], {
    env: databaseEnvironment(sharedDatabaseUrl(), randomName('schema')),
    files: { 'application.yml': stringify(settings) },
  });
  const about = stdout.split('\n').filter((line) => / schema/.test(line) && !line.startsWith('  the schema '));
  return { code, stderr, stdout, about: about.map((line) => line.trim()) };
}

describe('tables check asks the registry for the latest schema of a topic and compares it with the table:', () => {
  test('each column that it has no value for, or one that does not fit, and each field that no column takes', async () => {
    latest('orders-value', 7, ORDER);
    const { code, stderr, about } = await check({ orders: 'registry' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(about).toEqual([
      'WARNING: schema 7, the latest of the values of orders, has no field for the column note',
      'WARNING: schema 7, the latest of the values of orders, has list for the column tags, and date takes none',
      'schema 7, the latest of the values of orders, may have null for the column total, which is NOT NULL',
      'schema 7, the latest of the values of orders, has fields without a column: coupon',
    ]);
    expect(registry.paths).toEqual(['/subjects/orders-value/versions/latest']);
  });

  test('nothing but that all is well where it is', async () => {
    latest('orders-value', 7, { ...ORDER, fields: ORDER.fields.filter(({ name }) => ['id', 'paid'].includes(name)) });
    const columns = { total: { from: 'id' }, tags: false, note: false };
    expect((await check({ orders: 'registry' }, { columns })).about).toEqual([
      'schema 7, the latest of the values of orders, has what each column takes',
    ]);
  });

  test('the schema of the keys with the key of the table', async () => {
    latest('orders-value', 7, ORDER);
    latest('orders-key', 8, ORDER_KEY);
    const columns = { tags: false, note: false };
    const { about } = await check({ orders: { key: 'registry', value: 'registry' } }, { key: 'id', columns });
    expect(about.filter((line) => line.includes('keys'))).toEqual([
      'WARNING: schema 8, the latest of the keys of orders, has no field id: deletes are dead letters',
      'WARNING: schema 8, the latest of the keys of orders, has number, too: rows of one key may be in several partitions, without an order',
    ]);
  });

  test('a JSON Schema alike, and all of it as JSON for a script', async () => {
    const properties = { id: { type: 'integer' }, total: { type: 'number' }, extra: { type: 'string' } };
    latest('orders-value', 9, { type: 'object', properties }, { schemaType: 'JSON' });
    const columns = { paid: false, tags: false, note: false };
    const { stdout } = await check({ orders: 'registry' }, { columns }, '--json');
    const [found] = (JSON.parse(stdout) as { readonly schemas: readonly object[] }).schemas;
    expect(found).toMatchObject({ topic: 'orders', side: 'value', id: 9, missing: [], unfit: [], unmapped: ['extra'] });
  });

  test.each<[string, Parameters<RegistryStub['answer']>[1] | null, RegExp]>([
    ['has none', null, /^no value schema of orders was compared: the registry has no orders-value yet$/],
    ['is away', json(503, {}), /^no value schema of orders was compared: .*answered 503/],
    ['refuses', json(401, {}), /^no value schema of orders was compared: .*check the login of schemaRegistry/],
  ])('and says why there is nothing to compare where it %s', async (_, answer, line) => {
    if (answer !== null) {
      registry.answer('/subjects/orders-value/versions/latest', answer);
    }
    const { code, about } = await check({ orders: 'registry' });
    expect({ code, about }).toEqual({ code: 0, about: [expect.stringMatching(line)] });
  });
});
