import { describe, expect, test } from '@jest/globals';
import { consumerHealth, type PartsHealth } from '../../../app/health/consumer-health.ts';
import type { Status } from '../../../app/health/health.ts';
import type { Awaited, ConsumerReport, ConsumerState } from '../../../app/stream/partition/consumer-state.ts';

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

const REACHABLE: PartsHealth = { kafkaIsDown: false, areReachable: true };
const JUST_BACK: PartsHealth = { kafkaIsDown: false, areReachable: false };
const WITHOUT_KAFKA: PartsHealth = { kafkaIsDown: true, areReachable: false };

test.each(cases)('%s is %s, and %s while Kafka is away', (state, status, withoutKafka) => {
  expect(consumerHealth({ ...IDLE, state }, REACHABLE).status).toBe(status);
  expect(consumerHealth({ ...IDLE, state }, WITHOUT_KAFKA).status).toBe(withoutKafka);
});

const AWAITED: readonly Awaited[] = ['stored offset', 'log end', 'next offset in the log'];

test.each(AWAITED)('running is not UP while a partition awaits its %s, and the details say so', (awaits) => {
  const partitions = [
    { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n },
    { topic: 'orders', partition: 1, nextOffset: 1n, lag: null, awaits },
  ];
  const health = consumerHealth({ ...IDLE, partitions }, REACHABLE);
  expect(health.status).toBe('OUT_OF_SERVICE');
  expect(health.details).toMatchObject({ lag: null, awaiting: [{ topic: 'orders', partition: 1, awaits }] });
  expect(consumerHealth({ ...IDLE, partitions }, WITHOUT_KAFKA).status).toBe('UNKNOWN');
});

test('the lag is null, not a number, when the end of a log is older than 15 s and before the first join', () => {
  const partitions = [{ topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n, logEndAgeMs: 15_000 }];
  expect(consumerHealth({ ...IDLE, partitions }, REACHABLE).details).toMatchObject({ lag: 5 });
  const older = partitions.map((partition) => ({ ...partition, logEndAgeMs: 15_001 }));
  expect(consumerHealth({ ...IDLE, partitions: older }, REACHABLE).details).toMatchObject({ lag: null });
  expect(consumerHealth({ ...IDLE, unjoined: new Map() }, REACHABLE).details).toMatchObject({ lag: null });
});

test.each(['running', 'paused'] as const)(
  'a partition that stands still (%s) makes it DOWN and is named, but not while a part is away or just back',
  (state) => {
    const stalledSince = new Date('2026-11-21T11:00:00Z');
    const partitions = [
      { topic: 'orders', partition: 0, nextOffset: 1n, lag: 0n },
      { topic: 'orders', partition: 1, nextOffset: 7n, lag: 5n, stalledSince },
      { topic: 'orders', partition: 2, nextOffset: 7n, lag: 5n, logEndAgeMs: 20_000, stalledSince },
    ];
    const health = consumerHealth({ ...IDLE, state, partitions }, REACHABLE);
    expect(health.status).toBe('DOWN');
    const stalled = { topic: 'orders', since: '2026-11-21T11:00:00.000Z', nextOffset: '7' };
    expect(health.details).toMatchObject({
      stalled: [
        { ...stalled, partition: 1, lag: 5 },
        { ...stalled, partition: 2, lag: null },
      ],
    });
    expect(consumerHealth({ ...IDLE, state, partitions }, JUST_BACK).status).toBe('UP');
    expect(consumerHealth({ ...IDLE, state, partitions }, WITHOUT_KAFKA).status).toBe('UP');
  },
);

describe('a batch that cannot be read', () => {
  const stalledSince = new Date('2026-11-21T11:00:00Z');
  const unreadable = { topic: 'orders', partition: 1, offset: 7n, code: 'CORRUPT_BATCH', reason: 'its CRC' } as const;
  const damaged = { topic: 'orders', partition: 1, nextOffset: 7n, lag: 5n, stalledSince, unreadable };
  const sound = { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n };

  test('is named, and does not make DOWN what goes on in the other partitions', () => {
    const health = consumerHealth({ ...IDLE, partitions: [sound, damaged] }, REACHABLE);
    expect(health.status).toBe('UP');
    expect(health.details).toMatchObject({
      unreadable: [{ topic: 'orders', partition: 1, offset: '7', code: 'CORRUPT_BATCH', reason: 'its CRC' }],
    });
  });

  test('hides no other stall, and is one where nothing else is left to read', () => {
    expect(consumerHealth({ ...IDLE, partitions: [{ ...sound, stalledSince }, damaged] }, REACHABLE).status).toBe(
      'DOWN',
    );
    expect(consumerHealth({ ...IDLE, partitions: [damaged] }, REACHABLE).status).toBe('DOWN');
  });
});

describe('a partition without a leader', () => {
  const leaderlessSince = new Date('2026-11-21T11:00:00Z');
  const led = { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n };
  const leaderless = { topic: 'orders', partition: 1, nextOffset: 7n, lag: null, leaderlessSince };
  const listed = [{ topic: 'orders', partition: 1, since: '2026-11-21T11:00:00.000Z' }];

  test('is named, its lag is left out, and the status stays', () => {
    const health = consumerHealth({ ...IDLE, partitions: [led, leaderless] }, REACHABLE);
    expect(health).toMatchObject({ status: 'UP', details: { lag: 5, leaderless: listed } });
    expect(consumerHealth({ ...IDLE, partitions: [led] }, REACHABLE).details).not.toHaveProperty('leaderless');
  });

  test('is none where it is the only one, with an offset or without one; nothing is known then', () => {
    for (const state of ['running', 'assigning'] as const) {
      for (const nextOffset of [7n, null]) {
        const health = consumerHealth({ ...IDLE, state, partitions: [{ ...leaderless, nextOffset }] }, REACHABLE);
        expect(health).toMatchObject({ status: 'UP', details: { lag: null, leaderless: listed } });
      }
    }
  });

  test('excuses neither an assignment of other partitions nor a write that does not end', () => {
    const assigning = { ...IDLE, state: 'assigning', partitions: [led, leaderless] } as const;
    expect(consumerHealth(assigning, REACHABLE).status).toBe('OUT_OF_SERVICE');
    const stalled = { ...leaderless, stalledSince: leaderlessSince };
    expect(consumerHealth({ ...IDLE, partitions: [led, stalled] }, REACHABLE).status).toBe('DOWN');
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
    expect(consumerHealth(without(), REACHABLE).details).not.toHaveProperty('goneTopics');
    const one = consumerHealth(without('payments'), REACHABLE);
    expect(one).toMatchObject({ status: 'UP', details: { goneTopics: ['payments'] } });
    const all = consumerHealth(without(...TOPICS), REACHABLE);
    expect(all).toMatchObject({ status: 'DOWN', details: { goneTopics: TOPICS } });
    expect(consumerHealth(without(...TOPICS), WITHOUT_KAFKA).status).toBe('UP');
  },
);

test.each(AWAITED)(
  'the partitions of a topic that is gone count neither by the %s that they await nor by a stall',
  (awaits) => {
    const stalledSince = new Date('2026-11-21T11:00:00Z');
    const report = (isGone: boolean): ConsumerReport => ({
      ...IDLE,
      topics: TOPICS.map((topic) => ({ topic, isGone: isGone && topic === 'payments' })),
      partitions: [
        { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n },
        { topic: 'payments', partition: 0, nextOffset: 1n, lag: null, awaits, stalledSince },
      ],
    });
    expect(consumerHealth(report(false), REACHABLE).status).toBe('DOWN');
    const health = consumerHealth(report(true), REACHABLE);
    expect(health).toMatchObject({ status: 'UP', details: { lag: 5, goneTopics: ['payments'] } });
    for (const reason of ['awaiting', 'stalled']) {
      expect(health.details).not.toHaveProperty(reason);
    }
  },
);

test.each(['assigning', 'running', 'paused'] as const)(
  'a consumer that is out of its group (%s) is DOWN, with or without leaders, but not while a part is away or just back',
  (state) => {
    const outOfGroupSince = new Date('2026-11-21T11:00:00Z');
    const leaderless = { topic: 'orders', partition: 0, nextOffset: null, lag: null, leaderlessSince: outOfGroupSince };
    for (const partitions of [[], [leaderless]]) {
      const health = consumerHealth({ ...IDLE, state, partitions, outOfGroupSince }, REACHABLE);
      expect(health).toMatchObject({ status: 'DOWN', details: { outOfGroupSince: '2026-11-21T11:00:00.000Z' } });
    }
    const report = { ...IDLE, state, partitions: [leaderless], outOfGroupSince };
    expect(consumerHealth(report, JUST_BACK).status).toBe('UP');
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
    lastErrorAt: new Date('2026-11-21T12:00:05Z'),
  };
  expect(consumerHealth(report, REACHABLE).details).toEqual({
    state: 'paused',
    groupId: 'orders-consumer',
    assignedPartitions: { orders: [2, 10], refunds: [0] },
    lag: 12,
    lastProgressAt: '2026-11-21T12:00:00.000Z',
    lastError: 'Error: no route to postgres://orders:******@db/orders',
    lastErrorAt: '2026-11-21T12:00:05.000Z',
  });
});

test('what is not known is left out of the details', () => {
  expect(consumerHealth(IDLE, REACHABLE).details).toEqual({
    state: 'running',
    groupId: 'orders-consumer',
    assignedPartitions: {},
    lag: 0,
  });
});

const WAITS = {
  code: 'TABLES_DO_NOT_FIT',
  message: 'there is no table',
  since: new Date('2026-11-21T11:00:00Z'),
  isIgnored: false,
} as const;

test('a topic that waits changes nothing while another one may be read, and is in the details', () => {
  const partitions = [
    { topic: 'orders', partition: 0, nextOffset: 1n, lag: 5n },
    { topic: 'shop.a', partition: 0, nextOffset: null, lag: null },
  ];
  const report = { ...IDLE, partitions, waiting: [{ topic: 'shop.a', ...WAITS }] };
  const { status, details } = consumerHealth(report, REACHABLE);
  expect(status).toBe('UP');
  expect(details).toMatchObject({
    lag: 5,
    waitingTopics: [
      { topic: 'shop.a', code: 'TABLES_DO_NOT_FIT', since: '2026-11-21T11:00:00.000Z', error: 'there is no table' },
    ],
  });
});

test('a process that owns nothing is UP while a topic waits that nobody owns', () => {
  const report = { ...IDLE, partitions: [], waiting: [{ topic: 'shop.c', ...WAITS }] };
  expect(consumerHealth(report, REACHABLE)).toMatchObject({
    status: 'UP',
    details: { waitingTopics: [{ topic: 'shop.c' }] },
  });
});

test('the details have until when Kafka keeps what is unread of a topic that waits, where that is known', () => {
  const waiting = [
    { topic: 'shop.a', ...WAITS, keptUntil: new Date('2026-11-28T11:00:00Z') },
    { topic: 'shop.b', ...WAITS },
  ];
  const { waitingTopics } = consumerHealth({ ...IDLE, waiting }, REACHABLE).details ?? {};
  expect(waitingTopics).toMatchObject([
    { topic: 'shop.a', keptUntil: '2026-11-28T11:00:00.000Z' },
    { topic: 'shop.b' },
  ]);
  expect(JSON.stringify(waitingTopics).match(/keptUntil/g)).toHaveLength(1);
});

test.each(['running', 'paused'] as const)(
  '%s is DOWN when all topics wait, and not when a topic may be read',
  (state) => {
    const partitions = [{ topic: 'shop.a', partition: 0, nextOffset: null, lag: null }];
    const report = { ...IDLE, state, partitions, waiting: [{ topic: 'shop.a', ...WAITS }] };
    const of = (topic: string, isGone: boolean) => ({ topic, isGone });
    const statusWith = (...topics: ReturnType<typeof of>[]) => consumerHealth({ ...report, topics }, REACHABLE).status;
    expect(statusWith()).toBe('DOWN');
    expect(statusWith(of('shop.a', false), of('orders', true))).toBe('DOWN');
    expect(statusWith(of('shop.a', false), of('orders', false))).toBe('UP');
    const ignored = { topic: 'orders', ...WAITS, isIgnored: true };
    const statusBeside = (...waiting: NonNullable<ConsumerReport['waiting']>) =>
      consumerHealth({ ...report, topics: [of('shop.a', false), of('orders', false)], waiting }, REACHABLE).status;
    expect(statusBeside(...report.waiting, ignored)).toBe('DOWN');
    expect(statusBeside({ ...ignored, topic: 'shop.a' }, ignored)).toBe('UP');
  },
);
