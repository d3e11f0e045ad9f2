import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { captured, DdlShop, valuesOf } from './ddl-shop.ts';

const shop = new DdlShop();

beforeAll(() => shop.start());

afterAll(() => shop.stop());

const ORDERS = valuesOf(
  '{"id": 1, "amount": 12.50, "created_at": "2026-11-26T10:00:00Z", "paid": true, "note": null, "lines": [1], "seen": 1795443421556}',
  '{"id": 2, "amount": 7, "created_at": "2026-11-26T11:00:00.5+01:00", "note": null, "customer": {"name": "Ada"}, "seen": 1795443421557}',
  null,
);

describe('tables ddl prints a table that the consumer then writes into, by records:', () => {
  test('with a key, each guess marked, and statements for the role that runs it', async () => {
    const table = {
      topic: 'orders',
      table: 'shop.orders',
      key: 'id',
      columns: { customer: 'customer.name', at: '$offset' },
    };
    expect(await shop.printed([table], { topics: { orders: ORDERS } })).toMatchSnapshot();
  });

  test('with a version, and conditions that choose among records of several types', async () => {
    const table = { topic: 'orders', table: 'shop.orders', key: 'id', version: 'seen', when: { paid: true } };
    expect(await shop.printed([table], { topics: { orders: ORDERS } })).toMatchSnapshot();
  });

  test('of a topic of several types of events: each table has the columns of the records that it takes', async () => {
    const topics = {
      events: [
        ...valuesOf({ type: 'order', id: 1, amount: 12.5 }, { type: 'refund', id: 2, because: 'late' }),
        ...valuesOf({ type: 'order', id: 3, amount: 1 }),
      ],
    };
    const orders = { topic: 'events', table: 'shop.orders', key: 'id', when: { type: 'order' } };
    const refunds = { topic: 'events', table: 'shop.refunds', when: { type: ['refund', 'claim'] } };
    const text = await shop.printed([orders, refunds], { topics });
    const [first = '', second = ''] = text.split(/(?=-- shop\.refunds|CREATE TABLE shop\.refunds)/).slice(-2);
    expect(first).toContain('amount numeric');
    expect(first).not.toContain('because');
    expect(second).toContain('because text');
    expect(second).not.toContain('amount');
    expect(text).toContain('2 of them match when');
    expect(text).toContain('1 of them match when');
  });

  test('and no column by records that no condition matches', async () => {
    const table = { topic: 'orders', table: 'shop.orders', when: { paid: 'never' } };
    const { stdout, code } = await shop.ddl([table], { topics: { orders: ORDERS.slice(0, 2) } });
    expect(code).toBe(0);
    expect(stdout).toContain('REVIEW: 0 of them match when');
    expect(stdout).not.toContain('amount');
  });

  test('and what is wrong with a version beside it', async () => {
    const fields = [
      { field: 'id', type: 'int32', optional: false },
      { field: 'doc', type: 'string', name: 'io.debezium.data.Xml', optional: true },
    ];
    const value = { schema: { type: 'struct', fields }, payload: { id: 1, doc: '<a/>' } };
    const table = { topic: 'orders', table: 'shop.orders', key: 'id', envelope: 'connect' };
    const topics = { orders: valuesOf(value) };
    const { stdout } = await shop.ddl([{ ...table, version: 'doc' }], { topics });
    expect(stdout).toContain('-- REVIEW: tables[0].version is of the type xml, whose values PostgreSQL cannot order');
    expect((await shop.ddl([{ ...table, version: 'dock' }], { topics })).stdout).toContain('did you mean doc?');
    expect((await shop.ddl([{ ...table, version: 'id2' }], { topics: { orders: ORDERS } })).stdout).toMatch(
      /^-- REVIEW: .*is no column of the table/m,
    );
  });

  test('without a key', async () => {
    expect(
      await shop.printed([{ topic: 'orders', table: 'shop.orders' }], { topics: { orders: ORDERS } }),
    ).toMatchSnapshot();
  });

  test('with names that have to be quoted, and never more than a comment of what is in a record', async () => {
    const value = {
      user: 1,
      Größe: 2,
      'a"b': 3,
      'x\n); DROP TABLE y; --': 4,
      select: 'x',
      [`${'long'.repeat(16)}`]: 5,
    };
    const table = { topic: 'odd', table: 'shop.order', key: 'user' };
    expect(await shop.printed([table], { topics: { odd: valuesOf(value) } })).toMatchSnapshot();
  });

  test('in camelCase, which not every field has a column by', async () => {
    const value = { orderId: 1, customerName: 'Ada', URL: 'x', line2: 3 };
    const table = { topic: 'camel', table: 'shop.camel', key: 'order_id', fields: 'camelCase' };
    expect(await shop.printed([table], { topics: { camel: valuesOf(value) } })).toMatchSnapshot();
  });

  test('of several topics and entries, whose types differ', async () => {
    const tables = [
      { topic: ['eu', 'us'], table: 'shop.all' },
      { topic: 'more', table: 'shop.all', columns: { source: '$topic', raw: '$value', gone: false } },
    ];
    const topics = {
      eu: valuesOf({ id: 1, amount: 1, code: 'a', when: '2026-01-01', part: 1 }),
      us: valuesOf({ id: 2, amount: 1.5, code: 7, when: '2026-01-02', part: {} }),
      more: valuesOf({ id: 12345678901234567890n.toString() }, '{"id": 12345678901234567890}'),
    };
    expect(await shop.printed(tables, { topics })).toMatchSnapshot();
  });

  test('with a key that the record key alone has', async () => {
    const records = [
      { key: '{"id": 7, "tenant": "a"}', value: '{"name": "Ada"}' },
      { key: '{"id": 8, "tenant": "b"}', value: null },
    ];
    const tables = [
      { topic: 'keyed', table: 'shop.pairs', key: ['tenant', 'id'] },
      {
        topic: 'plain',
        table: 'shop.plain',
        key: 'id',
        columns: { whole: '$key', agent: '$header.agent', day: { from: 'd', as: 'epoch-days' } },
      },
    ];
    const topics = { keyed: records, plain: [{ key: '17', value: '{"d": 20000}' }] };
    expect(await shop.printed(tables, { topics })).toMatchSnapshot();
  });

  test('with a primary key by the keys of records, which is a guess', async () => {
    const entry = { topic: 'items', table: 'shop.items', key: 'primary', envelope: 'debezium' };
    const place = await shop.place([{ ...entry, columns: { item: 'line' } }], {
      topics: { items: captured('json', 'items') },
    });
    const { code, stdout } = await place.run(['ddl']);
    const lines = stdout.split('\n').filter((line) => /primary key/i.test(line));
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(/^-- REVIEW: a guess for the primary key: items is keyed by order_id, item: \d+ records/),
        '  PRIMARY KEY (order_id, item)',
      ],
    });
    expect(await shop.printed([entry], { topics: { items: captured('json', 'items') } })).toMatch(
      /PRIMARY KEY \(order_id, line\)\n\);/,
    );
  });

  test('without a primary key where no record key has fields, with a remark, and one of another entry', async () => {
    const topics = { orders: ORDERS };
    const entry = { topic: 'orders', table: 'shop.orders', key: 'primary' };
    expect((await shop.ddl([entry], { topics })).stdout).toMatchSnapshot();
    const both = [{ ...entry, key: 'id' }, entry].map((each, nth) => ({ ...each, topic: `orders${nth}` }));
    expect(await shop.printed(both, { topics: { orders0: ORDERS, orders1: ORDERS } })).toContain('PRIMARY KEY (id)');
  });

  test('of texts and bytes, which have no fields', async () => {
    const tables = [
      { topic: 'notes', table: 'shop.notes', columns: { note: '$value', written: '$timestamp' } },
      { topic: 'files', table: 'shop.files', columns: { content: '$value', part: '$partition' } },
    ];
    const topics = { notes: valuesOf('hello'), files: valuesOf('hello') };
    expect(await shop.printed(tables, { topics, formats: { notes: 'text', files: 'bytes' } })).toMatchSnapshot();
  });

  test('of change events of Debezium without schemas, flattened ones, and a history of them', async () => {
    const tables = [
      {
        topic: 'items',
        table: 'shop.items',
        key: ['order_id', 'line'],
        envelope: 'debezium',
        columns: { changed: '$source.ts_ms' },
      },
      { topic: 'flat', table: 'shop.flat', key: 'id', envelope: 'debezium-flat' },
      { topic: 'history', table: 'shop.history', envelope: 'debezium', columns: { event: '$value', op: '$op' } },
    ];
    const topics = {
      items: captured('json', 'items'),
      flat: captured('flat', 'orders'),
      history: captured('json', 'orders'),
    };
    expect(await shop.printed(tables, { topics })).toMatchSnapshot();
  });
});

describe('tables ddl adds what a table lacks:', () => {
  test('columns, privileges on them, and remarks on what no statement mends', async () => {
    await shop.execute(`CREATE SCHEMA shop; CREATE TABLE shop.orders (id bigint, amount numeric, other int NOT NULL);
      GRANT USAGE ON SCHEMA shop TO consumer_role; GRANT INSERT (id, amount) ON shop.orders TO consumer_role`);
    const table = { topic: 'orders', table: 'shop.orders', key: 'id' };
    const { code, stdout } = await shop.ddl([table], { topics: { orders: ORDERS } });
    await shop.execute('DROP SCHEMA shop CASCADE');
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('nothing for a primary key that is there, and what the records are keyed by where there is none', async () => {
    const records = [{ key: '{"id":1,"tenant":"a"}', value: '{"id":1,"tenant":"a","name":"x"}' }];
    const run = async (constraint: string) => {
      await shop.execute(`CREATE SCHEMA shop; CREATE TABLE shop.orders (id bigint, tenant text, name text${constraint});
        GRANT USAGE ON SCHEMA shop TO consumer_role; GRANT ALL ON shop.orders TO consumer_role`);
      const answer = await shop.ddl([{ topic: 'orders', table: 'shop.orders', key: 'primary' }], {
        topics: { orders: records },
      });
      await shop.execute('DROP SCHEMA shop CASCADE');
      return answer.stdout;
    };
    expect(await run(', PRIMARY KEY (id)')).toMatch(/^(--.*\n)*-- each field has a column\n$/);
    expect(await run('')).toMatchSnapshot();
  });

  test('nothing where each field has a column', async () => {
    await shop.execute(`CREATE SCHEMA shop; CREATE TABLE shop.orders (id bigint);
      GRANT USAGE ON SCHEMA shop TO consumer_role; GRANT INSERT ON shop.orders TO consumer_role`);
    const { code, stdout } = await shop.ddl([{ topic: 'orders', table: 'shop.orders' }], {
      topics: { orders: valuesOf({ id: 1 }) },
    });
    await shop.execute('DROP SCHEMA shop CASCADE');
    expect({ code, stdout }).toMatchSnapshot();
  });
});

describe('tables ddl', () => {
  const TABLES = [
    { topic: 'orders', table: 'shop.orders' },
    { topic: 'empty', table: 'shop.empty' },
  ];

  test('prints the tables of the named topics alone, from as many records as it is asked for', async () => {
    const args = ['--topic', 'orders', '--records', '1', '--from', 'records'];
    const { code, stdout } = await shop.ddl(TABLES, {
      topics: { orders: valuesOf({ a: 1 }, { b: 2 }), empty: [] },
      args,
    });
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('says that a topic has no records', async () => {
    const { code, stdout } = await shop.ddl(TABLES, {
      topics: { orders: ORDERS, empty: [] },
      args: ['--topic', 'empty'],
    });
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('is code 78 for a topic that the settings do not have, and for schemas of a topic without', async () => {
    const { code, stdout, stderr } = await shop.ddl(TABLES, { args: ['--topic', 'order', '--from', 'registry'] });
    expect({ code, stdout, stderr }).toMatchSnapshot();
    expect((await shop.ddl(TABLES, { args: ['--from', 'registry'] })).stderr).toMatchSnapshot();
  });

  test('says what to write where no table is set', async () => {
    const { code, stdout, stderr } = await shop.ddl([], { env: { KAFKA_TOPICS: 'orders' } });
    expect({ code, stdout, stderr }).toMatchSnapshot();
  });

  test.each([
    ['Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, 'Kafka could not report the offsets of'],
    ['PostgreSQL', { DATABASE_URL: 'postgresql://u@127.0.0.1:1/d' }, 'PostgreSQL cannot do it for now'],
    ['the registry', { SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }, 'the schema registry cannot answer'],
  ])('is code 1 while %s is away, and prints nothing but that', async (_, env, words) => {
    const formats = { orders: 'SCHEMA_REGISTRY_URL' in env ? 'registry' : 'json' };
    const { code, stdout, stderr } = await shop.ddl(TABLES.slice(0, 1), { topics: { orders: [] }, env, formats });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`stream-consumer tables ddl: ${words}`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
