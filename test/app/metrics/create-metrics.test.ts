import { expect, test } from '@jest/globals';
import type { WaitingTopic } from '../../../app/stream/partition/consumer-state.ts';
import { METRICS } from '../../../contract/metrics.ts';
import { RUNNING } from '../management/running-management.ts';
import { runningMetrics } from './running-metrics.ts';

test('the time that Kafka keeps what is unread of a topic that waits is 0 once it is over, and is left out if unknown', async () => {
  const waits = { code: 'TABLES_DO_NOT_FIT', message: '', since: new Date(0), isIgnored: false } as const;
  const waiting: WaitingTopic[] = [
    { topic: 'shop.a', ...waits, keptUntil: new Date(Date.now() + 3_600_000) },
    { topic: 'shop.b', ...waits, keptUntil: new Date(Date.now() - 3_600_000) },
    { topic: 'shop.c', ...waits },
  ];
  const metrics = runningMetrics({ report: () => ({ ...RUNNING, waiting }) });
  const text = await metrics.write('text', new Set([METRICS.topicWaitingRetention.name]));
  const values = [...text.matchAll(/^\w+\{.*topic="([^"]+)"\} (\S+)$/gm)].map(([, topic, value]) => [
    topic,
    Math.round(Number(value) / 60),
  ]);
  expect(values).toEqual([
    ['shop.a', 60],
    ['shop.b', 0],
  ]);
});
