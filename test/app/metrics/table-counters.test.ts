import { describe, expect, test } from '@jest/globals';
import { ConsumerCounters } from '../../../app/metrics/consumer-counters.ts';
import type { Sample } from '../../../app/metrics/metric-source.ts';
import type { TableOperation } from '../../../contract/metrics/definition.ts';
import { managementOptions, RUNNING } from '../management/running-management.ts';
import { aCommit } from '../stream/records.ts';
import { startedMetrics } from './running-metrics.ts';

const entry = (table: string, ...topics: string[]) => ({ topic: topics, table, fields: 'same' as const, columns: {} });

const TABLES = [entry('public.orders', 'orders'), entry('public.bills', 'orders', 'bills')];

const counting = () => new ConsumerCounters(() => RUNNING, ['orders', 'bills'], undefined, TABLES);

const valuesBy = (label: string, samples: readonly Sample[]) =>
  Object.fromEntries(samples.map(({ labels, value }) => [labels[label], value]));

test('the topics of tables have the series of topics from the start', async () => {
  const { settings } = managementOptions();
  const metrics = await startedMetrics({
    settings: { ...settings, tables: [entry('public.bills', 'bills', 'orders')] },
  });
  const topics = (await metrics.write('text')).split('\n').flatMap((line) => /[{,]topic="(.*?)"/.exec(line)?.[1] ?? []);
  expect([...new Set(topics)].sort()).toEqual(['bills', 'orders']);
});

describe('records in tables of the user', () => {
  test('are counted by table and operation from 0 on, in configured tables alone', () => {
    const counters = counting();
    const count = (table: string, operation: TableOperation, records: number) =>
      counters.onCommitted(
        aCommit({ records, tables: { operations: [{ table, operation, records }], unmappedFields: 0 } }),
      );
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
      counters.onCommitted(aCommit({ topic, tables: { operations: [], unmappedFields } }));
    count('bills', 3);
    count('bills', 4);
    count('others', 5);
    expect(valuesBy('topic', counters.sources.unmappedFields())).toEqual({ orders: 0, bills: 7 });
  });
});
