import { expect, test } from '@jest/globals';
import type { Table } from '../../../../app/store/tables/table.ts';
import { TopicTables, type UserTable } from '../../../../app/store/transaction/topic-tables.ts';

const RECORDS = { name: 'records' } as Table;

/** The user's own tables by the topics that they take, and those of them that had a deadlock. */
function open(all: Readonly<Record<string, readonly string[]>>, recordTopics: readonly string[] = []) {
  const deadlocked: string[] = [];
  const tables = Object.entries(all).map(
    ([name, topics]) => ({ name, topics, deadlocked: () => deadlocked.push(name) }) as unknown as UserTable,
  );
  const of = (topic: string) => {
    if (topic === 'misfit') {
      throw new Error('a table of it does not fit');
    }
    return tables.filter(({ topics }) => topics.includes(topic));
  };
  return { topicTables: new TopicTables(RECORDS, () => recordTopics, { all: tables, of }), tables, deadlocked };
}

const PARENT_AND_CHILD = { customers: ['orders', 'people'], lines: ['orders'] };

const names = (tables: readonly Table[]) => tables.map(({ name }) => name);

test('a topic without a table of the user goes to records, one with tables to these alone', () => {
  const { topicTables } = open(PARENT_AND_CHILD);
  const all = ['orders', 'people', 'others'].map((topic) => names(topicTables.of(topic)));
  expect(all).toEqual([['customers', 'lines'], ['customers'], ['records']]);
});

test('a topic of kafka.topics goes to records, too', () => {
  const { topicTables } = open(PARENT_AND_CHILD, ['people']);
  const all = ['orders', 'people'].map((topic) => names(topicTables.of(topic)));
  expect(all).toEqual([
    ['customers', 'lines'],
    ['records', 'customers'],
  ]);
  expect(topicTables.topicsWithoutRecords).toEqual(['orders']);
});

test('the names are those of the tables that fit, also where another one of the topic does not', () => {
  const { topicTables } = open({ ...PARENT_AND_CHILD, fits: ['misfit'] });
  expect(() => topicTables.of('misfit')).toThrow('does not fit');
  expect(['misfit', 'people'].map((topic) => topicTables.namesOf(topic))).toEqual([['fits'], ['customers']]);
});

test.each([
  ['records alone', {}, ['orders'], true],
  ['one table of the user', { lines: ['orders', 'people'] }, [], true],
  ['records and one table of the user', { lines: ['orders'] }, ['people'], false],
  ['two tables of the user', PARENT_AND_CHILD, [], false],
])('all topics have the same table, or not: %s', (_, tables, recordTopics, areOne) => {
  expect(open(tables, recordTopics).topicTables.areOne).toBe(areOne);
});

test('tables of several topics are in the order of each topic: records, and a parent before what refers to it', () => {
  const { topicTables, tables } = open(PARENT_AND_CHILD, ['orders']);
  const [customers = RECORDS, lines = RECORDS] = tables;
  for (const mixed of [
    [lines, RECORDS, customers],
    [customers, lines, RECORDS],
  ]) {
    expect(names(topicTables.inOrder(new Set(mixed)))).toEqual(['records', 'customers', 'lines']);
  }
});

test('a deadlock concerns the tables of the topics of the transaction', () => {
  const { topicTables, deadlocked } = open({ ...PARENT_AND_CHILD, other: ['elsewhere'] });
  topicTables.deadlocked(['people']);
  topicTables.deadlocked(['orders', 'nothing']);
  expect(deadlocked).toEqual(['customers', 'customers', 'lines']);
});
