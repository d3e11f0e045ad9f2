import { describe, expect, test } from '@jest/globals';
import { ConsumerCounters } from '../../../../app/metrics/consumer/consumer-counters.ts';
import type { Sample } from '../../../../app/metrics/exposition/metric-source.ts';
import type { TableLetters } from '../../../../app/stream/ports/record-sink.ts';
import type { DeadLetterReason } from '../../../../contract/dead-letter-reasons.ts';
import type { TableOperation } from '../../../../contract/metrics/definition.ts';
import { SERIES_BUDGET } from '../../../../contract/metrics.ts';
import { RUNNING } from '../../management/running-management.ts';
import { aCommit } from '../../stream/records.ts';
import { startedMetrics } from '../running-metrics.ts';

const entry = (table: string, ...topics: string[]) => ({ topic: topics, table, fields: 'same' as const, columns: {} });

const TABLES = [entry('public.orders', 'orders'), entry('public.bills', 'orders', 'bills')];

const NOTHING = { operations: [], deadLetters: [], unmappedFields: 0, unmatched: 0 };

const counting = () =>
  new ConsumerCounters(
    () => RUNNING,
    () => ['orders', 'bills'],
    undefined,
    () => TABLES,
  );

const valuesBy = (label: string, samples: readonly Sample[]) =>
  Object.fromEntries(samples.map(({ labels, value }) => [labels[label], value]));

test('the topics of tables have the series of topics from the start', async () => {
  const tables = [entry('public.bills', 'bills', 'orders')];
  const metrics = await startedMetrics({ topics: { all: ['orders', 'bills'], settings: { tables } } });
  const topics = (await metrics.write('text')).split('\n').flatMap((line) => /[{,]topic="(.*?)"/.exec(line)?.[1] ?? []);
  expect([...new Set(topics)].sort()).toEqual(['bills', 'orders']);
});

test('a further table costs as many series as the budget says', async () => {
  const count = async (...names: string[]) => {
    const tables = names.map((name) => entry(name, 'orders'));
    const metrics = await startedMetrics({ topics: { all: ['orders'], settings: { tables } } });
    return (await metrics.write('text')).split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  };
  expect((await count('public.orders', 'public.bills')) - (await count('public.orders'))).toBe(SERIES_BUDGET.perTable);
});

describe('records in tables of the user', () => {
  test('are counted by table and operation from 0 on, in configured tables alone', () => {
    const counters = counting();
    const count = (table: string, operation: TableOperation, records: number) =>
      counters.onCommitted(aCommit({ records, tables: { ...NOTHING, operations: [{ table, operation, records }] } }));
    count('public.orders', 'append', 20);
    count('public.orders', 'append', 3);
    count('public.bills', 'upsert', 4);
    count('public.bills', 'delete', 2);
    count('public.bills', 'skip', 1);
    count('public.others', 'append', 9);
    const values = (table: string) =>
      valuesBy(
        'operation',
        counters.sources.tableRecords().filter(({ labels }) => labels['table'] === table),
      );
    expect(values('public.orders')).toEqual({ append: 23, upsert: 0, delete: 0, skip: 0 });
    expect(values('public.bills')).toEqual({ append: 0, upsert: 4, delete: 2, skip: 1 });
    expect(counters.sources.tableRecords()).toHaveLength(8);
  });

  test('have their unmapped fields counted by topic from 0 on, in topics of tables alone', () => {
    const counters = counting();
    const count = (topic: string, unmappedFields: number) =>
      counters.onCommitted(aCommit({ topic, tables: { ...NOTHING, unmappedFields } }));
    count('bills', 3);
    count('bills', 4);
    count('others', 5);
    expect(valuesBy('topic', counters.sources.unmappedFields())).toEqual({ orders: 0, bills: 7 });
  });
});

test('records that no table takes are counted by topic, from 0 on in topics with conditions alone', () => {
  const tables = [{ ...entry('public.orders', 'orders'), when: { type: 'order' } }, entry('public.bills', 'bills')];
  const counters = new ConsumerCounters(
    () => RUNNING,
    () => ['orders', 'bills'],
    undefined,
    () => tables,
  );
  expect(valuesBy('topic', counters.sources.unmatchedRecords())).toEqual({ orders: 0 });
  counters.onCommitted(aCommit({ topic: 'orders', tables: { ...NOTHING, unmatched: 3 } }));
  counters.onCommitted(aCommit({ topic: 'orders', tables: { ...NOTHING, unmatched: 4 } }));
  counters.onCommitted(aCommit({ topic: 'bills', tables: { ...NOTHING, unmatched: 5 } }));
  expect(valuesBy('topic', counters.sources.unmatchedRecords())).toEqual({ orders: 7 });
});

describe('dead letters of tables of the user', () => {
  const letter = (column: string, reason: DeadLetterReason, table = 'public.orders') => ({
    ...{ table, column, reason },
    records: 1,
  });
  const commit = (counters: ConsumerCounters, ...deadLetters: TableLetters[]) =>
    counters.onCommitted(aCommit({ tables: { ...NOTHING, deadLetters } }));

  test('are counted by table, column and reason, in configured tables alone, from 0 on where no column is named', () => {
    const counters = counting();
    const others = counters.sources.tableDeadLetters();
    expect(others.map(({ value }) => value)).toEqual(others.map(() => 0));
    commit(counters, letter('amount', 'value_does_not_fit'), letter('', 'no_value'));
    commit(counters, { ...letter('amount', 'value_does_not_fit'), records: 4 }, letter('amount', 'missing_value'));
    commit(counters, letter('amount', 'missing_value', 'public.others'));
    const counted = counters.sources.tableDeadLetters().filter(({ value }) => value > 0);
    const of = (column: string, reason: string) => ({ table: 'public.orders', column, reason });
    expect(counted).toEqual([
      { labels: of('', 'no_value'), value: 1 },
      { labels: of('amount', 'value_does_not_fit'), value: 5 },
      { labels: of('amount', 'missing_value'), value: 1 },
    ]);
  });

  test('have two hundred series that name a column, however many a trigger names, and lose no letter', () => {
    const counters = counting();
    for (let nth = 0; nth < 300; nth += 1) commit(counters, letter(`c${nth}`, 'constraint_violated'));
    commit(counters, letter('c7', 'constraint_violated'));
    const counted = counters.sources.tableDeadLetters().filter(({ value }) => value > 0);
    expect([counted.length, counted.reduce((sum, { value }) => sum + value, 0)]).toEqual([201, 301]);
    expect(valuesBy('column', counted)).toMatchObject({ c7: 2, c199: 1, '': 100 });
  });
});
