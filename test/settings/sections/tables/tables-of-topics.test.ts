import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeProblem } from '../../../../settings/schema/problem.ts';
import { tablesOfTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import { checkSettings, type Settings } from '../../../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], groupId: 'replica' },
  database: { url: 'postgresql://localhost/replica' },
} as const;

const SHOP = { topic: 'shop.{schema}.{table}', table: '{schema}.{table}' } as const;

const check = (tables: readonly object[], topics: readonly string[] = []) =>
  checkSettings({ ...SMALLEST, kafka: { ...SMALLEST.kafka, topics }, tables });

function settingsOf(...given: Parameters<typeof check>): Settings {
  const checked = check(...given);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return checked.value;
}

const problemsOf = (...given: Parameters<typeof check>): readonly string[] => {
  const checked = check(...given);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
};

function madeOf(settings: Settings, topics: readonly string[]) {
  const { tables, inRecords, waiting } = tablesOfTopics(settings, topics);
  return {
    tables: tables.map(({ path, topics: of, schema, table }) => `${path} ${of.join(',')} -> ${schema}.${table}`),
    inRecords,
    waiting: Object.fromEntries([...waiting].map(([topic, { path, message }]) => [topic, `${path} ${message}`])),
  };
}

const made = (tables: readonly object[], topics: readonly string[], records: readonly string[] = []) =>
  madeOf(settingsOf(tables, records), topics);

describe('a template of tables', () => {
  test('makes an entry with its settings for each topic that matches, and leaves out what except has', () => {
    const entry = { ...SHOP, except: ['shop.public.audit', 'shop.tmp.{any}'], key: 'primary', envelope: 'debezium' };
    const topics = ['shop.public.orders', 'shop.Sales.Items-2', 'shop.tmp.x', 'shop.public.audit', 'shop.x', 'other'];
    const { tables } = tablesOfTopics(settingsOf([entry]), topics);
    expect(tables).toEqual([
      {
        ...{ path: 'tables[0]', topics: ['shop.public.orders'], schema: 'public', table: 'orders', fields: 'same' },
        ...{ key: { columns: null, existing: 'replace', delete: 'tombstones' }, columns: {} },
        envelope: { format: 'debezium', unavailableValue: '__debezium_unavailable_value' },
      },
      expect.objectContaining({ topics: ['shop.Sales.Items-2'], schema: 'Sales', table: 'Items-2' }),
    ]);
  });

  test('makes one entry for all topics where the table has no braces, beside names that Kafka may not have', () => {
    const entry = { topic: ['orders', 'orders.us', 'orders.{region}'], table: 'public.orders' };
    expect(made([entry], ['orders.eu', 'orders.us', 'orders.eu.old'])).toEqual({
      ...{ inRecords: [], waiting: {} },
      tables: ['tables[0] orders,orders.us,orders.eu -> public.orders'],
    });
  });

  test('of kafka.topics is apart: its topics go into records, too', () => {
    expect(made([SHOP], ['shop.public.orders', 'shop.x'], ['shop.{any}.{any}', 'audit'])).toEqual({
      tables: ['tables[0] shop.public.orders -> public.orders'],
      inRecords: ['audit', 'shop.public.orders'],
      waiting: {},
    });
  });

  test('goes with entries of the same text, and with those that name the topic', () => {
    const tables = [SHOP, { ...SHOP, table: 'history.{table}' }, { topic: 'shop.public.orders', table: 'public.all' }];
    expect(made(tables, ['shop.public.orders'])).toMatchObject({
      waiting: {},
      tables: [
        'tables[0] shop.public.orders -> public.orders',
        'tables[1] shop.public.orders -> history.orders',
        'tables[2] shop.public.orders -> public.all',
      ],
    });
  });
});

describe('a topic waits, and no other with it, where', () => {
  test('two templates of another text match it', () => {
    const tables = [SHOP, { topic: 'shop.public.{table}', table: 'public.{table}' }];
    expect(made(tables, ['shop.public.orders', 'shop.sales.orders'])).toEqual({
      tables: ['tables[0] shop.sales.orders -> sales.orders'],
      inRecords: [],
      waiting: {
        'shop.public.orders':
          'tables[0].topic takes a topic that two templates match: shop.public.{table} and shop.{schema}.{table}',
      },
    });
    const apart = [{ ...SHOP, except: 'shop.public.{any}' }, tables[1] ?? SHOP];
    expect(made(apart, ['shop.public.orders', 'shop.sales.orders']).waiting).toEqual({});
  });

  test('a table with braces would be one for it and another topic', () => {
    const entry = { ...SHOP, table: 'public.{table}' };
    const one = { topic: 'named', table: 'public.items' };
    const topics = ['shop.a.orders', 'shop.b.orders', 'shop.a.items', 'shop.a.bills'];
    const { tables, waiting } = made([entry, one], topics);
    expect(tables).toEqual(['tables[0] shop.a.bills -> public.bills', 'tables[1] named -> public.items']);
    expect(waiting).toEqual({
      'shop.a.orders': 'tables[0].table is one table for several topics: shop.a.orders, shop.b.orders',
      'shop.b.orders': 'tables[0].table is one table for several topics: shop.a.orders, shop.b.orders',
      'shop.a.items': 'tables[0].table is one table for several topics: named, shop.a.items',
    });
  });

  test('an entry of its name has another envelope, or the same table', () => {
    const keyed = { ...SHOP, key: 'primary', envelope: 'debezium' };
    const topics = ['shop.public.orders'];
    expect(made([keyed, { topic: topics, table: 'public.all' }], topics).waiting).toEqual({
      'shop.public.orders': 'tables[0].topic takes a topic that entries with another envelope take, too',
    });
    expect(made([SHOP, { topic: topics, table: 'public.orders' }], topics).waiting).toEqual({
      'shop.public.orders': 'tables[0].topic puts a topic into a table twice',
    });
  });
});

describe('settings are refused where', () => {
  test.each<readonly [problem: string, entry: object]>([
    ['tables[0].topic has {a} twice', { topic: '{a}.{a}', table: 'public.x' }],
    ['tables[0].except[1] has a name in braces that is none: {}', { ...SHOP, except: ['a', '{}'] }],
    ['tables[0].except is beside topics that are named one by one', { topic: 'a', table: 'public.x', except: 'b' }],
    [
      'tables[0].table takes a name in braces that topic does not have: orders',
      { topic: ['orders', '{table}'], table: 'public.{table}' },
    ],
    [
      'tables[0].table takes a name in braces that topic does not have: {any}',
      { topic: '{any}', table: 'public.{any}' },
    ],
    ['tables[0].table has braces that are not around a name', { topic: '{a}', table: 'public.{a}}' }],
  ])('%s', (problem, entry) => {
    expect(problemsOf([entry])).toEqual([problem]);
  });

  test('kafka.topics has a template that is none', () => {
    expect(problemsOf([], ['a', 'b{c}'])).toEqual([
      'kafka.topics[1] has braces that are not around one whole part between dots',
    ]);
  });
});

test('each topic is in all of its tables or waits, whatever the order of topics and the other topics that never meet it', () => {
  const part = fc.constantFrom('a', 'b', 'c');
  const topic = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
  const entry = fc.constantFrom(
    { topic: '{x}.{y}', table: '{x}.{y}' },
    { topic: '{x}.{y}', table: 'one.{y}' },
    { topic: 'a.{y}', table: 'a.{y}' },
    { topic: '{x}.{y}.{z}', table: '{x}.{z}', except: 'b.{any}.{any}' },
    { topic: '{x}.{y}.{z}', table: 'public.all' },
    { topic: ['a.b', 'c'], table: 'one.b' },
  );
  const topics = fc
    .uniqueArray(topic, { maxLength: 12 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
  fc.assert(
    fc.property(fc.uniqueArray(entry, { minLength: 1, maxLength: 4 }), topics, (entries, [all, shuffled]) => {
      const settings = settingsOf(entries);
      const { tables, waiting } = tablesOfTopics(settings, all);
      const places = tables.flatMap((table) =>
        table.topics.map((of) => ({ of, table: `${table.schema}.${table.table}` })),
      );
      // No topic is twice in a table, none that waits is in any, and a table with braces has one topic.
      expect(new Set(places.map((place) => JSON.stringify(place))).size).toBe(places.length);
      expect(places.filter(({ of }) => waiting.has(of))).toEqual([]);
      for (const { topics: of, path, ...table } of tables) {
        const isMapped = String(entries[Number(path.slice(7, -1))]?.table).includes('{');
        const others = places.filter(
          (each) => each.table === `${table.schema}.${table.table}` && !of.includes(each.of),
        );
        expect(isMapped ? others : []).toEqual([]);
      }
      // What is asked of one topic alone is the same unless another one goes into its table.
      expect(madeOf(settings, shuffled).waiting).toEqual(madeOf(settings, all).waiting);
      const alone = all.map((of) => tablesOfTopics(settings, [of]));
      for (const [nth, of] of all.entries()) {
        expect(alone[nth]?.waiting.has(of) === true && !waiting.has(of)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});
