// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { tablesOf, topicsOf } from '../../../settings/sections/tables.ts';
import { folderWith } from './folder.ts';
import { load, problems, REQUIRED, yaml } from './loading.ts';

const { KAFKA_TOPICS: _left, ...REQUIRED_BUT_TOPICS } = REQUIRED;

const tables = (text: string, env: Readonly<Record<string, string>> = {}) =>
  tablesOf(load({ cwd: yaml(text), env: { ...REQUIRED, ...env } }));

const texts = (sources: Parameters<typeof problems>[0]): readonly string[] =>
  problems(sources).map((problem) => describeProblem(problem).split('\n')[0] ?? '');

const ORDERS = { topics: ['orders'], schema: 'public', table: 'orders', key: null, fields: 'same', columns: {} };

describe('tables in the YAML file', () => {
  test('have columns whose names stay as they are, false as a word, and sources as they are written', () => {
    const text = `
tables:
  - topic: [orders, orders-eu]
    table: public.Orders
    fields: camelCase
    columns:
      customer_name: customer.name
      Odd.Name-x: /a.b/0
      created_at: { from: createdAt, as: epoch-millis }
      tenant: $header.tenant
      line: 0123
      note: false
      nothing:
  - topic: bills
    table: public.bills
    columns: {}
`;
    expect(tables(text)).toEqual([
      {
        topics: ['orders', 'orders-eu'],
        schema: 'public',
        table: 'Orders',
        key: null,
        fields: 'camelCase',
        columns: {
          customer_name: { from: 'customer.name' },
          'Odd.Name-x': { from: '/a.b/0' },
          created_at: { from: 'createdAt', as: 'epoch-millis' },
          tenant: { from: '$header.tenant' },
          line: { from: '0123' },
          note: false,
        },
      },
      { ...ORDERS, topics: ['bills'], table: 'bills' },
    ]);
  });

  test('may name their topics in one text', () => {
    expect(tables('tables: [{ topic: "a, b", table: public.orders }]')).toEqual([{ ...ORDERS, topics: ['a', 'b'] }]);
  });

  test('may have keys in any of the usual ways, and a dotted one for a column', () => {
    const text = 'tables: [{ Topic: orders, TABLE: public.orders, FIELDS: camel-case, columns.the_id: $key.id }]';
    expect(tables(text)).toEqual([{ ...ORDERS, fields: 'camelCase', columns: { the_id: { from: '$key.id' } } }]);
  });

  test('may have a key, in one text or in a list, and what it does', () => {
    const key = { columns: ['tenant', 'Id'], existing: 'keep', delete: ['meta', 'deleted'] };
    const entry = 'topic: orders, table: public.orders, existing: Keep, delete: meta.deleted';
    expect(tables(`tables: [{ ${entry}, key: "tenant, Id" }]`)).toEqual([{ ...ORDERS, key }]);
    expect(tables(`tables: [{ ${entry}, key: [tenant, Id] }]`)).toEqual([{ ...ORDERS, key }]);
    expect(texts({ cwd: yaml('tables: [{ topic: a, table: x.a, existing: keep, delete: false }]') })).toEqual([
      expect.stringMatching(/^tables\[0\]\.existing is set without key: .*: "keep" \(application\.yml:1:44\)$/),
      expect.stringMatching(/^tables\[0\]\.delete is set without key: .*: "false" \(application\.yml:1:58\)$/),
      'tables[0].delete is the word false, and no path of a field: "false" (application.yml:1:58)',
    ]);
  });

  test('may have the primary key by a word, and a column of that name in a list', () => {
    const withKey = (key: string) => `tables: [{ topic: orders, table: public.orders, key: ${key} }]`;
    const key = { columns: null, existing: 'replace', delete: 'tombstones' };
    expect(tables(withKey('primary'))).toEqual([{ ...ORDERS, key }]);
    expect(tables(withKey('[primary]'))).toEqual([{ ...ORDERS, key: { ...key, columns: ['primary'] } }]);
    expect(tables('', { TABLES_0_TOPIC: 'orders', TABLES_0_TABLE: 'public.orders', TABLES_0_KEY: 'primary' })).toEqual([
      { ...ORDERS, key },
    ]);
    expect(texts({ cwd: yaml(withKey('Primary')), env: REQUIRED })).toEqual([
      'tables[0].key is not the word primary as it is written: "Primary" (application.yml:1:54)',
    ]);
  });

  test('may have conditions whose names stay as they are, and values that stay texts', () => {
    const text = `
tables:
  - topic: events
    table: public.orders
    when: { Type: [a, b], meta.count: 03, $header.Event-Type: true, /a.b/0: "a, b" }
    unmatched: Dead_Letter
`;
    expect(tables(text)).toEqual([
      {
        ...ORDERS,
        topics: ['events'],
        when: [
          { source: { kind: 'field', path: ['Type'] }, values: ['a', 'b'] },
          { source: { kind: 'field', path: ['meta', 'count'] }, values: ['03'] },
          { source: { kind: 'header', name: 'Event-Type' }, values: ['true'] },
          { source: { kind: 'field', path: ['a.b', 0] }, values: ['a', 'b'] },
        ],
        refusesUnmatched: true,
      },
    ]);
    const env = { TABLES_0_TOPIC: 'orders', TABLES_0_TABLE: 'public.orders', TABLES_0_WHEN_TYPE: 'a,b' };
    expect(tables('', env)).toEqual([
      { ...ORDERS, when: [{ source: { kind: 'field', path: ['type'] }, values: ['a', 'b'] }] },
    ]);
  });

  test('may be the only ones that name topics', () => {
    const cwd = yaml('tables: [{ topic: orders, table: public.orders }]');
    expect(topicsOf(load({ cwd, env: REQUIRED_BUT_TOPICS }))).toEqual(['orders']);
  });

  test('of several documents are those of the last one that has any', () => {
    const one = 'tables: [{ topic: a, table: x.a, columns: { a: b } }, { topic: b, table: x.b }]';
    const two = 'tables: [{ topic: c, table: x.c }]';
    expect(tables(`${one}\n---\n${two}\n---\nserver: { port: 1 }`)).toEqual([
      { ...ORDERS, topics: ['c'], schema: 'x', table: 'c' },
    ]);
    expect(tables(`${one}\n---\ntables: []`)).toEqual([]);
  });

  test('may hold placeholders, and a word of a source is none', () => {
    const text =
      'tables: [{ topic: "${TOPIC}", table: "${DB:public}.orders", columns: { a: { from: "${FROM:$key}" } } }]';
    expect(tables(text, { TOPIC: 'orders' })).toEqual([{ ...ORDERS, columns: { a: { from: '$key' } } }]);
    expect(texts({ cwd: yaml(`server: { port: 1 }\n${text}`), env: REQUIRED_BUT_TOPICS })).toEqual([
      'tables[0].topic refers to ${TOPIC}, which is not set (application.yml:2:19)',
    ]);
  });

  test('are told with the place of each mistake, down to the column', () => {
    const text = `tables:
  - topic: [orders, .]
    table: orders
  - { table: public.bills, fields: same }
  -
  - orders
  - topic: a
    table: public.a
    columns:
      b: { as: hex }
      c: { from: x, as: hexx }
      d: [x]
`;
    expect(texts({ cwd: yaml(text) })).toEqual([
      'tables[0].table is not well-formed: "orders" (application.yml:3:12)',
      'tables[1].topic is missing (application.yml:4:14)',
      'tables[2].topic is missing (application.yml:5:4)',
      'tables[2].table is missing (application.yml:5:4)',
      'tables[3] has the wrong type: "orders" (application.yml:6:5)',
      'tables[4].columns.b.from is missing (application.yml:10:16)',
      'tables[4].columns.c.as is not well-formed: "hexx" (application.yml:11:25)',
      'tables[4].columns.d is not allowed: ["x"] (application.yml:12:7)',
    ]);
  });

  test('are told with the place where a rule refuses them', () => {
    const text = `tables:
  - topic: orders
    table: public.orders
    columns: { a: x..y, b: { from: $offset, as: hex }, c: $hedder.x }
  - topic: [bills, orders]
    table: public.orders
`;
    expect(texts({ cwd: yaml(text) })).toEqual([
      'tables[1].topic[1] goes into the same table by tables[0] already: "orders" (application.yml:5:20)',
      'tables[0].columns.a has a dot without a name on one of its sides: "x..y" (application.yml:4:19)',
      'tables[0].columns.c begins with a $ word that is not known: "******" (application.yml:4:59); did you mean $header?',
      'tables[0].columns.b.as is not for $offset, of which Kafka says what it is: "hex" (application.yml:4:49)',
    ]);
  });

  test('that are no list have the wrong type', () => {
    expect(texts({ cwd: yaml('tables: orders') })).toEqual([
      'tables has the wrong type: "orders" (application.yml:1:9)',
    ]);
    expect(texts({ cwd: yaml('tables: { topic: orders }') })[0]).toMatch(/^tables has the wrong type: .*:1:1\)$/);
  });

  test('are not read from a config tree, which is for secrets', () => {
    const configTree = folderWith({ 'tables.0.topic': 'orders', tables: 'x' });
    expect(texts({ configTree })).toEqual([
      expect.stringMatching(/^tables has the wrong type: "x" \(config tree file .*\)$/),
    ]);
  });
});

describe('tables in the environment', () => {
  const ENTRY = { TABLES_0_TOPIC: 'orders', TABLES_0_TABLE: 'public.Orders' };

  test('have a number each, and columns in lower case', () => {
    const env = {
      ...ENTRY,
      TABLES_0_FIELDS: 'CAMEL_CASE',
      TABLES_0_COLUMNS_CUSTOMER_NAME: 'customer.name',
      TABLES_0_COLUMNS_CREATED_AT_FROM: '$key',
      TABLES_0_COLUMNS_NOTE: 'FALSE',
      TABLES_1_TOPIC: 'bills, refunds',
      TABLES_1_TABLE: 'public.bills',
      TABLES_2_TOPIC_0: 'a',
      TABLES_2_TOPIC_1: 'b',
      TABLES_2_TABLE: 'public.ab',
      TABLES_0_KEY: 'id',
      TABLES_0_EXISTING: 'KEEP',
      TABLES_1_KEY: 'tenant, id',
      TABLES_1_DELETE: 'never',
      TABLES_2_KEY_0: 'Tenant',
      TABLES_2_KEY_1: 'Id',
    };
    expect(tables('', env)).toEqual([
      {
        ...ORDERS,
        table: 'Orders',
        key: { columns: ['id'], existing: 'keep', delete: 'tombstones' },
        fields: 'camelCase',
        columns: { customer_name: { from: 'customer.name' }, created_at_from: { from: '$key' }, note: false },
      },
      {
        ...ORDERS,
        topics: ['bills', 'refunds'],
        table: 'bills',
        key: { columns: ['tenant', 'id'], existing: 'replace', delete: 'never' },
      },
      {
        ...ORDERS,
        topics: ['a', 'b'],
        table: 'ab',
        key: { columns: ['Tenant', 'Id'], existing: 'replace', delete: 'tombstones' },
      },
    ]);
  });

  test('are enough to name the topics', () => {
    expect(topicsOf(load({ env: { ...REQUIRED_BUT_TOPICS, ...ENTRY } }))).toEqual(['orders']);
  });

  test('take the place of all those in the file', () => {
    const text = 'tables: [{ topic: a, table: x.a, columns: { a: b } }, { topic: b, table: x.b }]';
    expect(tables(text, ENTRY)).toEqual([{ ...ORDERS, table: 'Orders' }]);
  });

  test('are told by their variables', () => {
    const env = { ...REQUIRED, ...ENTRY, TABLES_0_TABLE: 'orders', TABLES_0_COLUMNS_A: '' };
    expect(texts({ env })).toEqual([
      'tables[0].table is not well-formed: "orders" (environment variable TABLES_0_TABLE)',
      'tables[0].columns.a is not allowed: "" (environment variable TABLES_0_COLUMNS_A)',
    ]);
    expect(texts({ env: { ...REQUIRED, ...ENTRY, TABLES_0_TOPIC: 'a,..' } })).toEqual([
      'tables[0].topic[1] is not a name Kafka allows: ".." (environment variable TABLES_0_TOPIC)',
    ]);
  });

  test('with a number that is left out are told as incomplete, and none is dropped in silence', () => {
    const env = { ...REQUIRED, TABLES_1_TOPIC: 'orders', TABLES_1_TABLE: 'public.orders' };
    expect(texts({ env })).toEqual([
      'tables[0].topic is missing (environment variable TABLES_1_TOPIC)',
      'tables[0].table is missing (environment variable TABLES_1_TOPIC)',
    ]);
  });

  test.each(['TABLES', 'TABLES_0', 'TABLES_0_PORT', 'TABLES_00_TOPIC', 'TABLES_1000_TOPIC', 'TABLES_X_TOPIC'])(
    'are not named by %s',
    (name) => {
      expect(load({ env: { ...REQUIRED, [name]: 'x' } })).toEqual(load({}));
    },
  );
});
