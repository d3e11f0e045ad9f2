import { describe, expect, test } from '@jest/globals';
import type { ConsumerReport, WaitingTopic } from '../../../app/stream/partition/consumer-state.ts';
import { WaitingTopics } from '../../../app/stream/partition/waiting-topics.ts';
import type { LogRange, PartitionLog, Position } from '../../../app/stream/ports/record-source.ts';
import { FatalError, OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { WaitingRetention } from '../../../app/stream/waiting-retention.ts';
import type { FatalCode } from '../../../contract/fatal-codes.ts';
import { SimulatedTime } from '../kafka/group/simulated-time.ts';

const TOPIC = 'shop.public.bills';
const OTHER = 'shop.public.items';
const DAY = 86_400_000;
const LOOK_MS = 5_000;
const ASK_AGAIN_MS = 120_000;

const log = (partition: number, start: bigint, end: bigint, topic = TOPIC): LogRange => ({
  topic,
  partition,
  start,
  end,
});
const position = (partition: number, offset: bigint): Position => ({ topic: TOPIC, partition, offset });
const waits = (topic = TOPIC, code: FatalCode = 'TABLES_DO_NOT_FIT', isIgnored = false): WaitingTopic => ({
  ...{ topic, code, isIgnored },
  ...{ message: '', since: new Date(0) },
});

/** Kafka and PostgreSQL as the test sets them: three partitions, of which two are owned and hold unread records. */
class SetUp {
  readonly clock = new SimulatedTime();
  retentionMs: number | null = 7 * DAY;
  failure: Error | null = null;
  logs: readonly PartitionLog[] = [log(0, 3n, 10n), log(1, 4n, 9n), log(2, 0n, 9n)];
  stored: readonly Position[] = [position(0, 5n), position(1, 0n), position(2, 1n)];
  /** By partition and offset. */
  readonly timestamps = new Map<string, number | null>(
    Object.entries({ '0@3': 1, '0@5': 3 * DAY, '1@4': 2 * DAY, '2@1': DAY }),
  );
  owned = [0, 1];
  waiting: readonly WaitingTopic[] = [waits()];
  asked = 0;
  readonly read: string[] = [];
  /** Topics of which no answer comes. */
  readonly silent = new Set<string>();
  readonly ending = new AbortController();
  readonly retention = new WaitingRetention({
    clock: this.clock,
    sink: { positions: async () => this.stored.slice() },
    logs: {
      retentionMs: async (topic) => {
        this.asked += 1;
        await (this.silent.has(topic) && new Promise(() => undefined));
        return this.failure ? Promise.reject(this.failure) : this.retentionMs;
      },
      logRanges: async (topic) => this.logs.map((each) => ({ ...each, topic })),
      firstTimestamps: async (_topic, ranges) => {
        const places = ranges.map(({ partition, start }) => [partition, `${partition}@${start}`] as const);
        this.read.push(...places.map(([, place]) => place));
        const found = places.map(([partition, place]) => [partition, this.timestamps.get(place)] as const);
        return new Map(found.flatMap(([partition, at]) => (at === undefined ? [] : [[partition, at] as const])));
      },
    },
  });

  report(): ConsumerReport {
    const own = [TOPIC, OTHER].flatMap((topic) => this.owned.map((partition) => ({ topic, partition })));
    const flowing = { topic: 'orders', partition: 2 };
    const partitions = [flowing, ...own].map((each) => ({ ...each, nextOffset: null, lag: null }));
    const idle = { state: 'running', groupId: 'g', lastProgressAt: null, lastError: null } as const;
    return { ...idle, partitions, waiting: this.waiting };
  }

  beginToWait(): void {
    for (const each of this.waiting) this.retention.begins(each);
  }

  /** The topics begin to wait, and are asked about once. */
  async begin(): Promise<this> {
    void this.retention.watch(this, this.ending.signal);
    this.beginToWait();
    await this.clock.pass(LOOK_MS);
    return this;
  }

  /** Milliseconds since the epoch. */
  until(topic = TOPIC): number | undefined {
    return this.retention.keptUntil(topic)?.getTime();
  }
}

const begun = (change: (parts: SetUp) => void = () => undefined): Promise<SetUp> => {
  const parts = new SetUp();
  change(parts);
  return parts.begin();
};

test('the first unread record of each owned partition counts, and of these the oldest', async () => {
  const parts = await begun();
  expect([parts.until(), parts.read]).toEqual([9 * DAY, ['0@5', '1@4']]);
});

test('a partition without a stored offset begins at the beginning of its log', async () => {
  const parts = await begun((each) => {
    each.stored = [position(1, 0n)];
  });
  expect([parts.until(), parts.read]).toEqual([7 * DAY + 1, ['0@3', '1@4']]);
});

test('the report of a topic that waits has it, and another reason to wait begins anew', () => {
  const begins: string[] = [];
  const retention = {
    begins: ({ code }: WaitingTopic) => begins.push(code),
    keptUntil: (topic: string) => (topic === TOPIC ? new Date(9 * DAY) : undefined),
  };
  const topics = new WaitingTopics({ mayWait: () => true, retention }, new SimulatedTime());
  topics.failed(TOPIC, new FatalError('TABLES_DO_NOT_FIT', 'there is no table'));
  topics.failed(TOPIC, new FatalError('TABLES_DO_NOT_FIT', 'there is no table'));
  topics.failed(TOPIC, new FatalError('TABLE_REFUSES_ROWS', 'refused'));
  topics.failed(OTHER, new FatalError('TABLE_REFUSES_ROWS', 'refused'));
  const [bills, items] = topics.report();
  expect(bills?.keptUntil).toEqual(new Date(9 * DAY));
  expect(items).not.toHaveProperty('keptUntil');
  expect(begins).toEqual(['TABLES_DO_NOT_FIT', 'TABLE_REFUSES_ROWS', 'TABLE_REFUSES_ROWS']);
});

test('it may be over already: that is known, and not left out', async () => {
  const parts = await begun(({ timestamps }) => timestamps.set('1@4', -8 * DAY));
  expect(parts.until()).toBe(-DAY);
});

test('a partition of which all is read, or that holds no record, is no limit', async () => {
  const one = await begun((parts) => {
    parts.logs = [log(0, 3n, 10n), log(1, 4n, 9n)];
    parts.stored = [position(0, 5n), position(1, 9n)];
  });
  expect([one.until(), one.read]).toEqual([10 * DAY, ['0@5']]);
  const empty = await begun(({ timestamps }) => timestamps.delete('1@4'));
  expect(empty.until()).toBe(10 * DAY);
  const none = await begun((parts) => {
    parts.stored = [position(0, 10n), position(1, 9n)];
  });
  expect(none.until()).toBeUndefined();
});

describe('it is not known, and left out', () => {
  test.each<[string, (parts: SetUp) => unknown]>([
    ['where the topic keeps its records for ever', (parts) => Object.assign(parts, { retentionMs: null })],
    ['where no date is as late', (parts) => Object.assign(parts, { retentionMs: Number('9223372036854775807') })],
    [
      'where the login may not ask',
      (parts) => Object.assign(parts, { failure: new FatalError('TOPIC_FORBIDDEN', '') }),
    ],
    [
      'while Kafka is away',
      (parts) => Object.assign(parts, { failure: new OutageError('', { reason: 'kafka_away' }) }),
    ],
    ['where the oldest record has no timestamp', ({ timestamps }) => timestamps.set('1@4', null)],
    ['where any first record has none', ({ timestamps }) => timestamps.set('0@5', null)],
    [
      'while a partition has no leader',
      (parts) => Object.assign(parts, { logs: [log(0, 3n, 10n), { topic: TOPIC, partition: 1, isLeaderless: true }] }),
    ],
    ['while Kafka does not report a partition', (parts) => Object.assign(parts, { logs: [log(0, 3n, 10n)] })],
  ])('%s', async (_name, change) => {
    const parts = await begun(change);
    expect([parts.asked, parts.until()]).toEqual([1, undefined]);
  });
});

describe('nobody is asked', () => {
  test('while no topic waits', async () => {
    const parts = await begun((each) => {
      each.waiting = [];
    });
    await parts.clock.pass(ASK_AGAIN_MS);
    expect(parts.asked).toBe(0);
  });

  test.each<[string, WaitingTopic]>([
    ['a topic that nobody wants', waits(TOPIC, 'TABLES_DO_NOT_FIT', true)],
    ['one whose stored offset is of another topic', waits(TOPIC, 'TOPIC_RECREATED')],
    ['one whose stored offset is ahead', waits(TOPIC, 'STORED_OFFSET_AHEAD')],
    ['one whose log was cut off', waits(TOPIC, 'LOG_TRUNCATED')],
  ])('about %s', async (_name, waiting) => {
    const parts = await begun((each) => {
      each.waiting = [waiting];
    });
    expect([parts.asked, parts.until()]).toEqual([0, undefined]);
  });

  test('more often than every two minutes, and each record is read once', async () => {
    const parts = await begun();
    await parts.clock.pass(ASK_AGAIN_MS - LOOK_MS);
    expect(parts.asked).toBe(1);
    parts.retentionMs = 14 * DAY;
    await parts.clock.pass(2 * LOOK_MS);
    expect([parts.asked, parts.until(), parts.read]).toEqual([2, 16 * DAY, ['0@5', '1@4']]);
  });
});

test('a record that could not be read is read again', async () => {
  const parts = await begun(({ timestamps }) => timestamps.set('1@4', null));
  parts.timestamps.set('1@4', 2 * DAY);
  await parts.clock.pass(ASK_AGAIN_MS + LOOK_MS);
  expect([parts.until(), parts.read]).toEqual([9 * DAY, ['0@5', '1@4', '1@4']]);
});

test('what was known stays in an outage, and goes with the right to ask', async () => {
  const parts = await begun();
  parts.failure = new OutageError('away', { reason: 'kafka_away' });
  await parts.clock.pass(ASK_AGAIN_MS + LOOK_MS);
  expect([parts.asked, parts.until()]).toEqual([2, 9 * DAY]);
  parts.failure = new FatalError('TOPIC_FORBIDDEN', 'denied');
  await parts.clock.pass(ASK_AGAIN_MS + LOOK_MS);
  expect([parts.asked, parts.until()]).toEqual([3, undefined]);
});

test('what was known is of one wait: a topic that went on and waits again is asked about anew', async () => {
  const parts = await begun();
  parts.stored = [position(0, 10n), position(1, 9n)];
  parts.retention.begins(waits(TOPIC, 'TABLE_REFUSES_ROWS'));
  expect(parts.until()).toBeUndefined();
  await parts.clock.pass(LOOK_MS);
  expect([parts.asked, parts.until()]).toEqual([2, undefined]);
  parts.waiting = [];
  await parts.clock.pass(ASK_AGAIN_MS + LOOK_MS);
  expect(parts.asked).toBe(2);
});

test('what was known is of the partitions that were owned', async () => {
  const parts = await begun();
  parts.owned = [0, 1, 2];
  parts.failure = new OutageError('away', { reason: 'kafka_away' });
  await parts.clock.pass(LOOK_MS);
  expect([parts.asked, parts.until()]).toEqual([2, undefined]);
  parts.failure = null;
  await parts.clock.pass(ASK_AGAIN_MS + LOOK_MS);
  expect(parts.until()).toBe(8 * DAY);
});

test('an answer that does not come holds up no other topic, nor the end', async () => {
  const parts = new SetUp();
  parts.waiting = [waits(), waits(OTHER)];
  parts.silent.add(TOPIC);
  parts.beginToWait();
  let isOver = false;
  const watching = parts.retention.watch(parts, parts.ending.signal).then(() => {
    isOver = true;
  });
  await parts.clock.pass(LOOK_MS + 30_000);
  expect([parts.until(), parts.until(OTHER)]).toEqual([undefined, 9 * DAY]);
  await parts.clock.pass(ASK_AGAIN_MS - 20_000);
  expect([parts.asked, isOver]).toEqual([3, false]);
  parts.ending.abort();
  await watching;
});
