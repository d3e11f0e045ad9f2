import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../../settings/schema/problem.ts';
import { tablesOf } from '../../../../settings/sections/tables.ts';
import { checkSettings } from '../../../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], groupId: 'events-to-postgres' },
  database: { url: 'postgresql://localhost/events' },
} as const;

const ORDERS = { topic: 'events', table: 'public.orders', when: { type: 'order' } } as const;
const PAYMENTS = { topic: 'events', table: 'public.payments', when: { type: 'payment' } } as const;

const check = (tables: readonly object[], topics: readonly string[] = []) =>
  checkSettings({ ...SMALLEST, kafka: { ...SMALLEST.kafka, topics }, tables });

function entryOf(entry: object) {
  const checked = check([{ ...ORDERS, ...entry }]);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return tablesOf(checked.value)[0];
}

function problemsOf(tables: readonly object[], topics?: readonly string[]): readonly string[] {
  const checked = check(tables, topics);
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

const firstLines = (problems: readonly string[]) => problems.map((problem) => problem.split('\n')[0]);

describe('the conditions of an entry', () => {
  test('are none where it has no when', () => {
    expect(entryOf({ when: undefined })).not.toHaveProperty('when');
  });

  test('are texts that a field, a header or an operation may have', () => {
    const when = { type: 'order', 'meta.count': [3, '4'], '/a.b/0': true, '$header.Event-Type': ['a', 'b'] };
    expect(entryOf({ when })?.when).toEqual([
      { source: { kind: 'field', path: ['type'] }, values: ['order'] },
      { source: { kind: 'field', path: ['meta', 'count'] }, values: ['3', '4'] },
      { source: { kind: 'field', path: ['a.b', 0] }, values: ['true'] },
      { source: { kind: 'header', name: 'Event-Type' }, values: ['a', 'b'] },
    ]);
    expect(entryOf({ when: { $op: ['c', 'u'] }, envelope: 'debezium', key: 'id' })?.when).toEqual([
      { source: { kind: 'event', path: ['op'] }, values: ['c', 'u'] },
    ]);
  });

  const SOURCES = 'the path of a field, such as type or meta.type; $header.<name>; or $op';

  test.each([
    [{ 'a..b': 'x' }, 'tables[0].when.a..b has a dot without a name on one of its sides', SOURCES],
    [
      { $headers: 'x' },
      'tables[0].when.$headers begins with a $ word that is not known; did you mean $header?',
      SOURCES,
    ],
    [{ $value: 'x' }, 'tables[0].when.$value is nothing that a condition looks at', SOURCES],
    [{ $key: 'x' }, 'tables[0].when.$key is nothing that a condition looks at', SOURCES],
    [{ $topic: 'x' }, 'tables[0].when.$topic is nothing that a condition looks at', SOURCES],
    [{ '$source.db': 'x' }, 'tables[0].when.$source.db is nothing that a condition looks at', SOURCES],
    [{ $op: 'c' }, 'tables[0].when.$op looks at a part of a change event, and the entry has not envelope', 'envelope'],
    [{}, 'tables[0].when has no condition: {}', SOURCES],
    [{ type: [] }, 'tables[0].when.type is not allowed: []', 'a text, a whole number, true or false; or a list'],
    [{ type: null }, 'tables[0].when.type is not allowed: null', 'a text, a whole number, true or false; or a list'],
    [{ type: 1.5 }, 'tables[0].when.type is not allowed: 1.5', 'a text, a whole number, true or false; or a list'],
    [{ type: { is: 'x' } }, 'tables[0].when.type is not allowed', 'a text, a whole number, true or false; or a list'],
  ])('are not %j', (when, text, allowed) => {
    const [problem, ...others] = problemsOf([{ ...ORDERS, when }]);
    expect(others).toEqual([]);
    expect(problem).toContain(text);
    expect(problem).toContain(`\n  allowed: ${allowed}`);
  });

  test('name operations that change events have', () => {
    const entry = { ...ORDERS, envelope: 'debezium', key: 'id', when: { $op: ['c', 'create'] } };
    expect(problemsOf([entry])).toEqual([
      'tables[0].when.$op has a value that no change event has: ["c","create"]\n  allowed: c, r, u, d, t',
    ]);
  });

  test('are all reported at once', () => {
    const problems = problemsOf([
      { ...ORDERS, when: { $value: 'x', 'a..b': 'x' } },
      { ...PAYMENTS, when: {} },
    ]);
    expect(firstLines(problems)).toEqual([
      'tables[0].when.$value is nothing that a condition looks at',
      'tables[0].when.a..b has a dot without a name on one of its sides',
      'tables[1].when has no condition: {}',
    ]);
  });
});

describe('what becomes of a record that no table takes', () => {
  test('is counted, or it is a dead letter', () => {
    expect(entryOf({})).not.toHaveProperty('refusesUnmatched');
    expect(entryOf({ unmatched: 'count' })).not.toHaveProperty('refusesUnmatched');
    expect(entryOf({ unmatched: 'dead-letter' })).toMatchObject({ refusesUnmatched: true });
  });

  test('is said in one entry of the topic, or alike in several', () => {
    expect(problemsOf([{ ...ORDERS, unmatched: 'dead-letter' }, PAYMENTS])).toEqual([]);
    expect(problemsOf([ORDERS, { ...PAYMENTS, unmatched: 'dead-letter' }])).toEqual([]);
    expect(problemsOf([ORDERS, PAYMENTS].map((entry) => ({ ...entry, unmatched: 'count' })))).toEqual([]);
    const other = [
      { ...ORDERS, unmatched: 'count' },
      { ...PAYMENTS, unmatched: 'dead-letter' },
    ];
    expect(problemsOf(other)).toEqual([
      'tables[1].unmatched is another one for the topic events than that of tables[0]: "dead-letter"\n  allowed: the same in all entries of a topic, or in one of them',
    ]);
  });

  test('is not said without when', () => {
    const entry = { ...ORDERS, when: undefined, unmatched: 'dead-letter' };
    expect(problemsOf([entry])).toEqual([
      'tables[0].unmatched is set without when: the table takes all records of its topics: "dead-letter"\n  allowed: nothing here; or when beside it',
    ]);
  });

  test('is not said of a topic whose records are all taken', () => {
    const orders = { ...ORDERS, unmatched: 'dead-letter' };
    const never = 'tables[0].unmatched never comes to pass for the topic events';
    expect(firstLines(problemsOf([orders], ['events']))).toEqual([
      `${never}: kafka.topics takes all of its records: "dead-letter"`,
    ]);
    expect(firstLines(problemsOf([orders, { ...PAYMENTS, when: undefined }]))).toEqual([
      `${never}: tables[1] takes all of its records: "dead-letter"`,
    ]);
    expect(problemsOf([orders, { ...PAYMENTS, topic: 'others', when: undefined }], ['more'])).toEqual([]);
  });
});
