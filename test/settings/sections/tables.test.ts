import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { tablesOf, topicsOf } from '../../../settings/sections/tables.ts';
import { checkSettings, type Settings } from '../../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], groupId: 'orders-to-postgres' },
  database: { url: 'postgresql://localhost/orders' },
} as const;

const ORDERS = { topic: 'orders', table: 'public.orders' } as const;

function settingsOf(tables: readonly unknown[], topics?: readonly string[]): Settings {
  const checked = checkSettings({ ...SMALLEST, kafka: { ...SMALLEST.kafka, ...(topics && { topics }) }, tables });
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return checked.value;
}

function problemsOf(tables: unknown, more: object = {}): readonly string[] {
  const checked = checkSettings({ ...SMALLEST, ...more, tables });
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

describe('an entry of tables', () => {
  test('needs a topic and a table, and every column takes the field of its name', () => {
    expect(tablesOf(settingsOf([ORDERS]))).toEqual([
      { topics: ['orders'], schema: 'public', table: 'orders', key: null, fields: 'same', columns: {} },
    ]);
  });

  test('keeps the sources as they were written, with and without a unit, and what is never written', () => {
    const columns = {
      customer_name: 'customer.name',
      created_at: { from: 'createdAt', as: 'epoch-millis' },
      amount: { from: '/a.b/0', as: 'decimal(2)' },
      'Odd.Name': { from: '$header.tenant' },
      internal_note: false,
    };
    const [table] = tablesOf(settingsOf([{ ...ORDERS, topic: ['orders', 'orders-eu'], fields: 'camelCase', columns }]));
    expect(table).toEqual({
      topics: ['orders', 'orders-eu'],
      schema: 'public',
      table: 'orders',
      key: null,
      fields: 'camelCase',
      columns: { ...columns, customer_name: { from: 'customer.name' } },
    });
  });

  test.each([
    ['public.Orders', 'public', 'Orders'],
    ['Sales.orders 2026', 'Sales', 'orders 2026'],
    ['public.orders.eu', 'public', 'orders.eu'],
    ['a.ü', 'a', 'ü'],
  ])('names %s as the catalog has it: the first dot ends the schema', (table, schema, name) => {
    expect(tablesOf(settingsOf([{ ...ORDERS, table }]))).toMatchObject([{ schema, table: name }]);
  });

  test.each(['orders', '.orders', 'public.', 'public."Orders"', '"public".orders', '', 'public.a\u0000'])(
    'refuses %j for a table',
    (table) => {
      expect(problemsOf([{ ...ORDERS, table }])).toEqual([
        expect.stringMatching(
          /^tables\[0\]\.table is not well-formed: .*\n {2}allowed: schema\.table, both names as the catalog has them, capitals included and without quotes$/s,
        ),
      ]);
    },
  );

  test.each(
    'epoch-seconds epoch-millis epoch-micros epoch-nanos epoch-days base64 hex decimal(0) decimal(9999)'.split(' '),
  )('has the unit %s', (as) => {
    expect(tablesOf(settingsOf([{ ...ORDERS, columns: { a: { from: 'a', as } } }]))[0]?.columns).toEqual({
      a: { from: 'a', as },
    });
  });

  test.each(['epoch-milis', 'decimal', 'decimal(-1)', 'decimal(01)', 'decimal(10000)', 'Hex', ''])(
    'has no unit %j',
    (as) => {
      expect(problemsOf([{ ...ORDERS, columns: { a: { from: 'a', as } } }])).toEqual([
        expect.stringMatching(
          /^tables\[0\]\.columns\.a\.as is not well-formed: .*\n {2}allowed: one of epoch-seconds, .*/,
        ),
      ]);
    },
  );
});

describe('the topics that are read', () => {
  test('are those of kafka.topics and those of tables, each once', () => {
    const tables = [ORDERS, { topic: ['bills', 'orders'], table: 'public.all' }];
    expect(topicsOf(settingsOf(tables, ['audit', 'bills']))).toEqual(['audit', 'bills', 'orders']);
  });

  test('may all be those of tables', () => {
    expect(topicsOf(settingsOf([ORDERS]))).toEqual(['orders']);
  });

  test('are at least one', () => {
    const problem =
      'kafka.topics names no topic, and tables has no entry that does\n  allowed: at least one topic, here or in tables';
    expect(problemsOf([])).toEqual([problem]);
    expect(problemsOf(undefined, { kafka: { ...SMALLEST.kafka, topics: [] } })).toEqual([problem]);
  });

  test('take no dead letters, where they are in tables as well', () => {
    const deadLetters = { to: 'topic', topic: 'orders' };
    expect(problemsOf([ORDERS], { deadLetters })).toEqual([
      'deadLetters.topic is a topic that is read: "orders"\n  allowed: any topic that is in neither kafka.topics nor tables',
    ]);
    expect(problemsOf([{ ...ORDERS, topic: 'a'.repeat(249) }], { deadLetters: { to: 'topic' } })).toHaveLength(1);
  });
});

describe('a topic and a table', () => {
  test.each([
    ['a topic into several tables', [ORDERS, { ...ORDERS, table: 'public.bills' }]],
    ['several topics into a table', [ORDERS, { ...ORDERS, topic: 'orders-eu' }]],
    [
      'a table in several entries with other columns each',
      [
        { ...ORDERS, columns: { a: 'x' } },
        { ...ORDERS, topic: 'b', columns: { a: false } },
      ],
    ],
    ['two tables that differ in a capital', [ORDERS, { ...ORDERS, table: 'public.Orders' }]],
  ])('may be %s', (_what, tables) => {
    expect(problemsOf(tables)).toEqual([]);
  });

  test('stand together in one entry', () => {
    const path = 'tables[2].topic[1]';
    expect(problemsOf([{ ...ORDERS, topic: 'a' }, ORDERS, { ...ORDERS, topic: ['b', 'orders'] }, ORDERS])).toEqual([
      `${path} goes into the same table by tables[1] already: "orders"\n  allowed: one entry for a topic and a table`,
      'tables[3].topic goes into the same table by tables[1] already: "orders"\n  allowed: one entry for a topic and a table',
    ]);
  });

  test.each([
    [{ table: 'public.orders' }, 'tables[0].topic is missing'],
    [{ topic: 'orders' }, 'tables[0].table is missing'],
    [{ ...ORDERS, topic: [] }, 'tables[0].topic is not allowed: []'],
    [{ ...ORDERS, topic: ['a', 'a'] }, 'tables[0].topic is not allowed: ["a","a"]'],
    [{ ...ORDERS, topic: 'a b' }, 'tables[0].topic is not allowed: '],
    [{ ...ORDERS, topic: '..' }, 'tables[0].topic is not a name Kafka allows: ".."\n  allowed: any name but . and ..'],
    [{ ...ORDERS, topic: ['a', '.'] }, 'tables[0].topic[1] is not a name Kafka allows: "."'],
    [{ ...ORDERS, topics: 'a' }, 'tables[0].topics is not a known key; did you mean tables[0].topic?'],
    [{ ...ORDERS, fields: 'snake_case' }, 'tables[0].fields is none of the known values'],
    [{ ...ORDERS, columns: { '': 'a' } }, 'tables[0].columns. has a name that is not allowed'],
    [{ ...ORDERS, columns: { a: '' } }, 'tables[0].columns.a is not allowed: ""'],
    [{ ...ORDERS, columns: { a: true } }, 'tables[0].columns.a is not allowed: true'],
    [{ ...ORDERS, columns: { a: { as: 'hex' } } }, 'tables[0].columns.a.from is missing'],
    [{ ...ORDERS, columns: { a: { from: 'a', unit: 'hex' } } }, 'tables[0].columns.a.unit is not a known key'],
    ['orders', 'tables[0] has the wrong type: "orders"'],
  ])('are refused as %j', (entry, text) => {
    expect(problemsOf([entry])).toEqual([expect.stringContaining(text)]);
  });
});

describe('the source of a column', () => {
  test('is told where it is wrong, at the text itself or at from, all at once and beside other problems', () => {
    const columns = {
      a: 'x..y',
      b: { from: 'x..y' },
      c: '$keys',
      d: 'false',
      e: ' False',
      f: { from: 'false' },
      g: false,
    };
    const problems = problemsOf([{ ...ORDERS, columns }, ORDERS]);
    expect(problems.map((problem) => problem.split('\n')[0])).toEqual([
      'tables[1].topic goes into the same table by tables[0] already: "orders"',
      'tables[0].columns.a has a dot without a name on one of its sides: "x..y"',
      'tables[0].columns.b.from has a dot without a name on one of its sides: "x..y"',
      'tables[0].columns.c begins with a $ word that is not known: "******"; did you mean $key?',
      'tables[0].columns.d is a text, and not the word false: "false"',
      'tables[0].columns.e is a text, and not the word false: "******"',
    ]);
    expect(problems.at(-1)).toContain(
      'allowed: false without quotes for a column that is never written; /false for the field of that name',
    );
  });

  test.each(['$topic', '$partition', '$offset', '$timestamp'])('has no unit where it is %s', (from) => {
    expect(problemsOf([{ ...ORDERS, columns: { a: { from, as: 'epoch-millis' } } }])).toEqual([
      `tables[0].columns.a.as is not for ${from}, of which Kafka says what it is: "epoch-millis"\n  allowed: nothing here; a unit goes with a field, $value, $key or $header`,
    ]);
  });

  test.each(['a', '/a/0', '$value', '$key', '$key.id', '$header.at'])('may have a unit where it is %s', (from) => {
    expect(problemsOf([{ ...ORDERS, columns: { a: { from, as: 'epoch-millis' } } }])).toEqual([]);
  });

  test('that is wrong has no second problem for its unit', () => {
    expect(problemsOf([{ ...ORDERS, columns: { a: { from: '$topics', as: 'hex' } } }])).toHaveLength(1);
  });
});

test('a mistake in the form of one column hides none in another', () => {
  const columns = { a: true, b: { as: 'hex' }, c: { from: 'x', as: 'hexx' }, d: ['x'] };
  expect(problemsOf([{ ...ORDERS, columns }]).map((problem) => problem.split('\n')[0])).toEqual([
    'tables[0].columns.a is not allowed: true',
    'tables[0].columns.b.from is missing',
    'tables[0].columns.c.as is not well-formed: "hexx"',
    'tables[0].columns.d is not allowed: ["x"]',
  ]);
});

test('what looks like a secret in a source shows nowhere', () => {
  const columns = { a: '$hunter2.Xk39dkfjw9', b: 'x..hunter2Xk39dkfjw9', c: { from: '$header/hunter2Xk39dkfjw9' } };
  expect(problemsOf([{ ...ORDERS, columns }]).join()).not.toContain('hunter2');
});
