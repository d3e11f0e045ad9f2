import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { createKafkaCheck, retentionIn } from '../../../app/kafka/kafka-admin.ts';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';

test.each<[string | null, string | null, number | null]>([
  ['604800000', 'delete', 604_800_000],
  ['604800000', 'compact,delete', 604_800_000],
  ['604800000', 'delete, compact', 604_800_000],
  ['0', 'delete', 0],
  ['604800000', 'compact', null],
  ['-1', 'delete', null],
  [null, 'delete', null],
  ['', 'delete', null],
  ['604800000', null, null],
])('a topic with retention.ms %s and cleanup.policy %s deletes records by time: %s', (ms, policy, expected) => {
  const entries = [
    { configName: 'cleanup.policy', configValue: policy },
    { configName: 'retention.ms', configValue: ms },
  ];
  expect(retentionIn(entries)).toBe(expected);
});

test('a broker that does not answer one of the two leaves it open', () => {
  expect(retentionIn([{ configName: 'retention.ms', configValue: '1' }])).toBeNull();
  expect(retentionIn([{ configName: 'cleanup.policy', configValue: 'delete' }])).toBeNull();
});

test('the check goes on with the bootstrap address after those that failed', async () => {
  // Nothing listens on ports this low, and a check gives up after three of them.
  const ports = [1, 2, 3, 4];
  const { Kafka, logLevel } = loadKafkajs();
  const asked = new Set<number>();
  const check = createKafkaCheck(
    () =>
      new Kafka({
        brokers: ports.map((port) => `127.0.0.1:${port}`),
        retry: { retries: 0 },
        logLevel: logLevel.NOTHING,
        socketFactory: ({ host, port }) => {
          asked.add(port);
          return connect({ host, port });
        },
      }),
  );
  await expect(check.check()).rejects.toThrow('ECONNREFUSED');
  await expect(check.check()).rejects.toThrow('ECONNREFUSED');
  await check.close();
  expect([...asked].toSorted()).toEqual(ports);
});
