import { describe, expect, test } from '@jest/globals';
import { consumerHealth } from '../../../app/health/consumer-health.ts';
import type { Status } from '../../../app/health/health.ts';
import type { ConsumerReport, ConsumerState } from '../../../app/stream/consumer-state.ts';

const IDLE: ConsumerReport = {
  state: 'running',
  groupId: 'orders-consumer',
  partitions: [],
  lastProgressAt: null,
  lastError: null,
};

const cases: readonly (readonly [ConsumerState, Status, Status])[] = [
  ['starting', 'OUT_OF_SERVICE', 'UNKNOWN'],
  ['assigning', 'OUT_OF_SERVICE', 'UNKNOWN'],
  ['running', 'UP', 'UP'],
  ['paused', 'UP', 'UP'],
  ['draining', 'OUT_OF_SERVICE', 'OUT_OF_SERVICE'],
  ['stopped', 'OUT_OF_SERVICE', 'OUT_OF_SERVICE'],
  ['failed', 'DOWN', 'DOWN'],
];

test.each(cases)('%s is %s, and %s while Kafka is away', (state, status, withoutKafka) => {
  expect(consumerHealth({ ...IDLE, state }, false).status).toBe(status);
  expect(consumerHealth({ ...IDLE, state }, true).status).toBe(withoutKafka);
});

test('running is not UP while the lag of a partition is not known', () => {
  const partitions = [
    { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n },
    { topic: 'orders', partition: 1, nextOffset: 1n, lag: null },
  ];
  const health = consumerHealth({ ...IDLE, partitions }, false);
  expect(health.status).toBe('OUT_OF_SERVICE');
  expect(health.details).not.toHaveProperty('lag');
  expect(consumerHealth({ ...IDLE, partitions }, true).status).toBe('UNKNOWN');
});

test.each(['running', 'paused'] as const)(
  'a partition that stands still (%s) makes it DOWN and is named, but not while Kafka is away',
  (state) => {
    const stalledSince = new Date('2026-11-21T11:00:00Z');
    const partitions = [
      { topic: 'orders', partition: 0, nextOffset: 1n, lag: 0n },
      { topic: 'orders', partition: 1, nextOffset: 7n, lag: 5n, stalledSince },
    ];
    const health = consumerHealth({ ...IDLE, state, partitions }, false);
    expect(health.status).toBe('DOWN');
    expect(health.details).toMatchObject({
      stalled: [{ topic: 'orders', partition: 1, since: '2026-11-21T11:00:00.000Z', nextOffset: '7', lag: 5 }],
    });
    expect(consumerHealth({ ...IDLE, state, partitions }, true).status).toBe('UP');
  },
);

describe('a batch that cannot be read', () => {
  const stalledSince = new Date('2026-11-21T11:00:00Z');
  const unreadable = { topic: 'orders', partition: 1, offset: 7n, code: 'CORRUPT_BATCH', reason: 'its CRC' } as const;
  const damaged = { topic: 'orders', partition: 1, nextOffset: 7n, lag: 5n, stalledSince, unreadable };
  const sound = { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n };

  test('is named, and does not make DOWN what goes on in the other partitions', () => {
    const health = consumerHealth({ ...IDLE, partitions: [sound, damaged] }, false);
    expect(health.status).toBe('UP');
    expect(health.details).toMatchObject({
      unreadable: [{ topic: 'orders', partition: 1, offset: '7', code: 'CORRUPT_BATCH', reason: 'its CRC' }],
    });
  });

  test('hides no other stall, and is one where nothing else is left to read', () => {
    expect(consumerHealth({ ...IDLE, partitions: [{ ...sound, stalledSince }, damaged] }, false).status).toBe('DOWN');
    expect(consumerHealth({ ...IDLE, partitions: [damaged] }, false).status).toBe('DOWN');
  });
});
const TOPICS = ['orders', 'payments'];

test.each(['running', 'paused'] as const)(
  'of the topics that are gone one is named, and all make it DOWN (%s)',
  (state) => {
    const without = (...gone: string[]): ConsumerReport => ({
      ...IDLE,
      state,
      topics: TOPICS.map((topic) => ({ topic, isGone: gone.includes(topic) })),
    });
    expect(consumerHealth(without(), false).details).not.toHaveProperty('goneTopics');
    const one = consumerHealth(without('payments'), false);
    expect(one).toMatchObject({ status: 'UP', details: { goneTopics: ['payments'] } });
    const all = consumerHealth(without(...TOPICS), false);
    expect(all).toMatchObject({ status: 'DOWN', details: { goneTopics: TOPICS } });
    expect(consumerHealth(without(...TOPICS), true).status).toBe('UP');
  },
);

test('the details tell who it is, what it owns, how far behind it is and what happened last', () => {
  const report: ConsumerReport = {
    state: 'paused',
    groupId: 'orders-consumer',
    partitions: [
      { topic: 'orders', partition: 10, nextOffset: 1n, lag: 5n },
      { topic: 'orders', partition: 2, nextOffset: 1n, lag: 7n },
      { topic: 'refunds', partition: 0, nextOffset: 1n, lag: 0n },
    ],
    lastProgressAt: new Date('2026-11-21T12:00:00Z'),
    lastError: 'Error: no route to postgres://orders:s3cr3t@db/orders',
  };
  expect(consumerHealth(report, false).details).toEqual({
    state: 'paused',
    groupId: 'orders-consumer',
    assignedPartitions: { orders: [2, 10], refunds: [0] },
    lag: 12,
    lastProgressAt: '2026-11-21T12:00:00.000Z',
    lastError: 'Error: no route to postgres://orders:******@db/orders',
  });
});

test('what is not known is left out of the details', () => {
  expect(consumerHealth(IDLE, false).details).toEqual({
    state: 'running',
    groupId: 'orders-consumer',
    assignedPartitions: {},
    lag: 0,
  });
});
