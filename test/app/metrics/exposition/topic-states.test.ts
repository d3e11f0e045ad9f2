import { expect, test } from '@jest/globals';
import type { ConsumerReport } from '../../../../app/stream/partition/consumer-state.ts';
import { METRICS } from '../../../../contract/metrics.ts';
import { RUNNING } from '../../management/running-management.ts';
import { runningMetrics } from '../running-metrics.ts';

test('a topic that waits is 1, one that nobody wants is 2, and there is no series of another one', async () => {
  const waits = { code: 'TABLES_DO_NOT_FIT', message: '', since: new Date(0) } as const;
  const waiting = ['shop.a', 'shop.b'].map((topic) => ({ topic, ...waits, isIgnored: topic === 'shop.b' }));
  const linesWith = async (report: ConsumerReport) =>
    (await runningMetrics({ report: () => report }).write('text', new Set([METRICS.topicsWaiting.name])))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
  expect(await linesWith({ ...RUNNING, waiting })).toEqual([
    'consumer_topics_waiting{application="orders-consumer",topic="shop.a"} 1',
    'consumer_topics_waiting{application="orders-consumer",topic="shop.b"} 2',
  ]);
  expect(await linesWith(RUNNING)).toEqual([]);
});

test('a topic is 1 when it is gone and 0 when it is there, and nothing is told of it before Kafka has answered', async () => {
  const topics = ['orders', 'payments'].map((topic) => ({ topic, isGone: topic === 'payments' }));
  const told = async (report: ConsumerReport) =>
    (await runningMetrics({ report: () => report }).write('text', new Set([METRICS.topicGone.name])))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
  expect(await told({ ...RUNNING, topics })).toEqual([
    'consumer_topic_gone{application="orders-consumer",topic="orders"} 0',
    'consumer_topic_gone{application="orders-consumer",topic="payments"} 1',
  ]);
  expect(await told({ ...RUNNING, topics: [] })).toEqual([]);
});

test.each([
  [METRICS.topicPartitions, 6],
  [METRICS.leaderlessPartitions, 2],
])('the number of partitions of a topic is left out where Kafka has not told it: $name', async ({ name }, value) => {
  const topics = [
    { topic: 'orders', isGone: false, partitions: 6, leaderless: 2 },
    { topic: 'payments', isGone: true },
  ];
  const metrics = runningMetrics({ report: () => ({ ...RUNNING, topics }) });
  const text = await metrics.write('text', new Set([name]));
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    `${name}{application="orders-consumer",topic="orders"} ${value}`,
  ]);
});
