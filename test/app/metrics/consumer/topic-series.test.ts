import { expect, test } from '@jest/globals';
import { ConsumerCounters } from '../../../../app/metrics/consumer/consumer-counters.ts';
import { KafkaClientMetrics } from '../../../../app/metrics/consumer/kafka-client.ts';
import type { MetricSource } from '../../../../app/metrics/exposition/metric-source.ts';
import { RUNNING } from '../../management/running-management.ts';
import { aCommit } from '../../stream/records.ts';

const entry = (topic: string) => ({ topic, table: `public.${topic}`, fields: 'same' as const, columns: {} });

/** Metrics of topics that come and go, each with a table. */
function metrics() {
  let topics: readonly string[] = ['orders'];
  let tables = [entry('orders')];
  const counters = new ConsumerCounters(
    () => RUNNING,
    () => topics,
    undefined,
    () => tables,
  );
  const identity = { clientId: 'mine', version: '1', topics: () => topics };
  const client = new KafkaClientMetrics(
    identity,
    () => RUNNING,
    () => undefined,
  );
  const read = (...now: string[]) => {
    topics = now;
    tables = now.map(entry);
  };
  return { counters, client, read };
}

const labelled = (source: MetricSource, label: string) => [
  ...new Set(source().map(({ labels }) => labels[label] ?? '')),
];

test('the series of a topic and of its table begin when it is read, and end when it is not', () => {
  const { counters, client, read } = metrics();
  const shown = () => [
    labelled(counters.sources.rowsWritten, 'topic'),
    labelled(counters.sources.endToEnd, 'topic'),
    labelled(counters.sources.unreadablePartitions, 'topic'),
    labelled(counters.sources.unmappedFields, 'topic'),
    labelled(client.sources.clientRecordsConsumed, 'topic'),
  ];
  const tables = () => [
    labelled(counters.sources.tableRecords, 'table'),
    labelled(counters.sources.tableDeadLetters, 'table'),
  ];
  expect([...shown(), ...tables()].flat()).toEqual([...Array(5).fill('orders'), ...Array(2).fill('public.orders')]);
  read('orders', 'items');
  expect(shown()).toEqual(Array(5).fill(['orders', 'items']));
  expect(tables()).toEqual(Array(2).fill(['public.orders', 'public.items']));
  read('items');
  expect(shown()).toEqual(Array(5).fill(['items']));
  expect(tables()).toEqual(Array(2).fill(['public.items']));
});

test('what is counted of a topic stays while others come and go, and is gone with the topic', () => {
  const { counters, client, read } = metrics();
  const letters = { table: 'public.orders', column: 'id', reason: 'invalid_json', records: 2 } as const;
  const counted = () => [
    counters.sources.rowsWritten().reduce((sum, { value }) => sum + value, 0),
    counters.sources.tableDeadLetters().reduce((sum, { value }) => sum + value, 0),
    client.sources.clientRecordsConsumed().reduce((sum, { value }) => sum + value, 0),
  ];
  counters.onCommitted(
    aCommit({
      topic: 'orders',
      records: 5,
      tables: { operations: [], deadLetters: [letters], unmappedFields: 0, unmatched: 0 },
    }),
  );
  client.onDelivered({ topic: 'orders', records: 7, bytes: 1 });
  expect(counted()).toEqual([5, 2, 7]);
  read('items', 'orders');
  expect(counted()).toEqual([5, 2, 7]);
  read('items');
  expect(counted()).toEqual([0, 0, 0]);
  read('orders');
  expect(counted()).toEqual([0, 0, 0]);
});
