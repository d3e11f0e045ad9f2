import { beforeEach, expect, test } from '@jest/globals';
import { PartitionProgress } from '../../../../app/stream/partition/lag.ts';
import type { FetchedRecord } from '../../../../app/stream/partition/record-queue.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { aBatch, PARTITION } from '../records.ts';
import { SimulatedSink } from '../simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp, setUpOpened } from '../simulation.ts';

const HOUR_MS = 3_600_000;

test('a partition whose position was not read yet has no lag and no position to tell Kafka', async () => {
  const { sink, pipeline } = setUp(12n);
  let answer: (() => void) | undefined;
  sink.positions = () =>
    new Promise((resolve) => {
      answer = () => resolve([{ ...PARTITION, offset: 3n }]);
    });
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onLog({ ...PARTITION, start: 0n, end: 12n });
  expect(pipeline.positions()).toEqual([]);
  expect(pipeline.report().partitions).toMatchObject([{ nextOffset: null, lag: null }]);
  answer?.();
  await settle();
  expect(pipeline.positions()).toEqual([{ ...PARTITION, offset: 3n }]);
});

test('a partition whose every write fails is stalled, although the sink answers', async () => {
  const { source, sink, pipeline, clock } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  sink.write = async () => {
    throw new OutageError('it never fits');
  };
  for (let round = 0; round < 20; round += 1) {
    pipeline.onLog({ ...PARTITION, start: 0n, end: 100n });
    const batch = source.fetch(20);
    if (batch) pipeline.onFetched(batch);
    await settle();
    clock.pass(5_000);
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toEqual(new Date(0));
});

test('a partition that stands still after a write is stalled since then', async () => {
  const { source, sink, pipeline, clock } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const look = () => pipeline.onLog({ ...PARTITION, start: 0n, end: 100n });
  look();
  clock.pass(1_000);
  pipeline.onFetched(source.fetch(20) ?? aBatch(0n, 0n));
  await answerAll(sink);
  for (let round = 0; round < 20; round += 1) {
    clock.pass(5_000);
    look();
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toEqual(new Date(1_000));
});

test('a clock that is set forward is no stall, and one that is set back hides none and tells its time', async () => {
  const { pipeline, clock } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const stalledSince = () => pipeline.report().partitions[0]?.stalledSince;
  const look = () => pipeline.onLog({ ...PARTITION, start: 0n, end: 100n });
  look();
  clock.pass(1_000);
  clock.set(HOUR_MS);
  look();
  expect(stalledSince()).toBeUndefined();
  clock.set(-2 * HOUR_MS);
  for (let round = 0; round < 20; round += 1) {
    clock.pass(5_000);
    look();
  }
  expect(stalledSince()).toEqual(new Date(-HOUR_MS));
});

test('lag is the log end less the stored offset, unknown until the log was asked and where it ends below that', async () => {
  const { sink, pipeline } = setUp(12n);
  sink.stored = 4n;
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const lag = () => pipeline.report().partitions[0]?.lag;
  expect(lag()).toBeNull();
  pipeline.onLog({ ...PARTITION, start: 0n, end: 12n });
  expect(lag()).toBe(8n);
  pipeline.onLog({ ...PARTITION, start: 6n, end: 12n });
  expect(lag()).toBe(6n);
  pipeline.onLog({ ...PARTITION, start: 0n, end: 2n });
  expect(lag()).toBeNull();
});

test('an answer to a question of before another look says nothing of the log, whatever it is', async () => {
  const { sink, pipeline, clock } = setUp(12n);
  sink.stored = 4n;
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const askedAt = clock.steady();
  clock.pass(500);
  pipeline.onLog({ ...PARTITION, start: 0n, end: 12n });
  pipeline.onLog({ ...PARTITION, start: 0n, end: 2n }, askedAt);
  pipeline.onLog({ ...PARTITION, isLeaderless: true }, askedAt);
  expect(pipeline.report()).toMatchObject({ partitions: [{ lag: 8n }] });
});

test('a sink that cannot even tell the position is no excuse for standing still: health knows of outages', async () => {
  const { sink, pipeline, clock } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onLog({ ...PARTITION, start: 0n, end: 100n });
  clock.holdWaits();
  pipeline.onFetched(aBatch(0n, 3n));
  await answerAll(sink, 'cut before');
  sink.positions = async () => {
    throw new OutageError('PostgreSQL has no connection left');
  };
  clock.endWaits();
  await settle();
  for (let looks = 0; looks < 20; looks += 1) {
    clock.pass(5_000);
    pipeline.onLog({ ...PARTITION, start: 0n, end: 100n });
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toEqual(new Date(0));
});

test('while the broker does not hold the next offset it is awaited, and the lag is not known', async () => {
  const sink = new SimulatedSink();
  sink.stored = 12n;
  const { source, pipeline, clock } = await setUpOpened(12n, sink);
  const report = () => pipeline.report().partitions[0];
  pipeline.onLog({ ...PARTITION, start: 0n, end: 12n });
  expect(report()).toMatchObject({ lag: 0n });
  expect(report()).not.toHaveProperty('awaits');
  clock.holdWaits();
  source.logRanges = async () => [{ ...PARTITION, start: 0n, end: 3n }];
  pipeline.onOutOfRange(PARTITION);
  await settle();
  expect(report()).toMatchObject({ lag: null, awaits: 'next offset in the log' });
});

test('before the first join a topic counts from when Kafka was first asked, and again from each answer that has it', () => {
  const { pipeline, clock } = setUp(12n, undefined, 'fail', { topics: () => ['orders', 'payments'] });
  const unjoined = () => Object.fromEntries(pipeline.report().unjoined ?? [['joined', -1]]);
  clock.pass(300_000);
  expect(unjoined()).toEqual({});
  pipeline.onAsked();
  clock.pass(7_000);
  expect(unjoined()).toEqual({ orders: 7_000, payments: 7_000 });
  pipeline.onFound(['orders']);
  clock.pass(1_000);
  expect(unjoined()).toEqual({ orders: 1_000, payments: 8_000 });
  assignAnew(pipeline, []);
  expect(unjoined()).toEqual({ joined: -1 });
});

test('the group counts as left when its coordinator was silent for stallTimeout', () => {
  const { pipeline, clock } = setUp(12n);
  clock.pass(7_000);
  assignAnew(pipeline, []);
  clock.pass(60_000);
  expect(pipeline.report()).not.toHaveProperty('outOfGroupSince');
  clock.pass(1);
  expect(pipeline.report()).toMatchObject({ outOfGroupSince: new Date(7_000) });
  pipeline.onHeartbeat();
  expect(pipeline.report()).not.toHaveProperty('outOfGroupSince');
});

const STALL_MS = 5_000;
const NEXT = 10n;
const millisecond = (ms: number): Date => new Date(ms);

let progress: PartitionProgress;

beforeEach(() => {
  progress = new PartitionProgress(STALL_MS, millisecond(0));
  progress.opened(NEXT, millisecond(0));
});

const lookAt = (ms: number, start = 0n, end = 30n) =>
  progress.looked({ ...PARTITION, start, end }, NEXT, millisecond(ms));
const reportAt = (ms: number, nextOffset: bigint | null = NEXT, queued?: FetchedRecord) =>
  progress.report({ nextOffset, isSought: false }, queued, millisecond(ms), millisecond(ms));

test('lag without a write for longer than the time-out is a stall, until something is written', () => {
  lookAt(0);
  lookAt(STALL_MS);
  expect(reportAt(STALL_MS)).not.toHaveProperty('stalledSince');
  expect(reportAt(STALL_MS + 1)).toMatchObject({ lag: 20n, stalledSince: millisecond(0) });
  progress.written(millisecond(STALL_MS + 2));
  expect(reportAt(STALL_MS + 2)).not.toHaveProperty('stalledSince');
});

test('a log that is seen at its end is no stall, however long nothing is written', () => {
  for (let ms = 0; ms <= 100_000; ms += 10_000) {
    lookAt(ms, 0n, NEXT);
    expect(reportAt(ms + 10_000)).toMatchObject({ lag: 0n });
    expect(reportAt(ms + 10_000)).not.toHaveProperty('stalledSince');
  }
});

test('no answer about the log for longer than the time-out, and than 15 s, is a stall, whatever the lag was', () => {
  lookAt(0, 0n, NEXT);
  expect(reportAt(15_000)).not.toHaveProperty('stalledSince');
  expect(reportAt(15_001)).toMatchObject({ stalledSince: millisecond(0) });
});

test('a record that is seen after a long time in which nothing was known of the log begins no time anew', () => {
  lookAt(0, 0n, NEXT);
  lookAt(15_001);
  expect(reportAt(15_001)).toMatchObject({ stalledSince: millisecond(0) });
});

test('time without lag does not count: the first record after it, seen or fetched, is no stall', () => {
  lookAt(0, 0n, NEXT);
  lookAt(5_000);
  expect(reportAt(5_000 + STALL_MS)).not.toHaveProperty('stalledSince');
  lookAt(20_000, 0n, NEXT);
  progress.fetched(31n, NEXT, millisecond(25_000));
  expect(reportAt(25_000 + STALL_MS)).not.toHaveProperty('stalledSince');
  progress.fetched(32n, NEXT, millisecond(26_000));
  expect(reportAt(25_001 + STALL_MS)).toMatchObject({ stalledSince: millisecond(25_000) });
});

test('time in which the log was not looked at counts, after a look without lag and after the opening', () => {
  lookAt(0, 0n, NEXT);
  lookAt(7_301);
  expect(reportAt(STALL_MS + 1)).toMatchObject({ stalledSince: millisecond(0) });
  progress.opened(NEXT, millisecond(20_000));
  lookAt(21_000);
  expect(reportAt(20_001 + STALL_MS)).toMatchObject({ stalledSince: millisecond(20_000) });
});

test('while the stored offset cannot be read, a lag of 0 by the one known before excuses nothing', () => {
  lookAt(0);
  progress.positionIsUnread();
  lookAt(STALL_MS + 1, 0n, NEXT);
  expect(reportAt(STALL_MS + 1)).toMatchObject({ stalledSince: millisecond(0) });
  progress.positionIsRead();
  expect(reportAt(STALL_MS + 1)).toMatchObject({ stalledSince: millisecond(0) });
  lookAt(STALL_MS + 2, 0n, NEXT);
  expect(reportAt(STALL_MS + 2)).not.toHaveProperty('stalledSince');
});

test('offsets that the log does not hold any more are no lag', () => {
  lookAt(0, 25n);
  expect(reportAt(0)).toMatchObject({ nextOffset: NEXT, lag: 5n });
});

test('a log that was fetched further than it was looked at ends there', () => {
  progress.fetched(40n, NEXT, millisecond(0));
  expect(reportAt(0)).toMatchObject({ lag: null, awaits: 'log end' });
  lookAt(0);
  progress.fetched(25n, NEXT, millisecond(0));
  expect(reportAt(0)).toMatchObject({ lag: 20n });
  progress.fetched(33n, NEXT, millisecond(0));
  expect(reportAt(0)).toMatchObject({ lag: 23n });
});

test('a log that ends below a stored offset known before the look leaves the lag unknown, until it is long enough', () => {
  lookAt(0, 0n, NEXT - 1n);
  expect(reportAt(0)).toMatchObject({ lag: null, awaits: 'next offset in the log' });
  lookAt(1, 0n, NEXT);
  expect(reportAt(1)).toMatchObject({ lag: 0n });
  expect(reportAt(1)).not.toHaveProperty('awaits');
});

test('a look that was overtaken by a write is no log that is cut', () => {
  lookAt(0);
  expect(reportAt(1, 31n)).toMatchObject({ lag: 0n });
  progress.looked({ ...PARTITION, start: 0n, end: 30n }, 31n, millisecond(2));
  expect(reportAt(2, 31n)).toMatchObject({ lag: 0n });
  expect(reportAt(2, 31n)).not.toHaveProperty('awaits');
});

test("the log's end tells its age, and after a minute there is no lag any more", () => {
  expect(reportAt(400)).toMatchObject({ lag: null, logEndAgeMs: 400, awaits: 'log end' });
  lookAt(1_000);
  expect(reportAt(61_000)).toMatchObject({ lag: 20n, logEndAgeMs: 60_000 });
  expect(reportAt(61_001)).toMatchObject({ lag: null, behindSince: null });
  expect(reportAt(61_001)).not.toHaveProperty('awaits');
});

test('a record in hand is known to wait, though the end of the log is not known any more', () => {
  lookAt(0);
  const queued = { offset: NEXT, timestamp: -1n, fetchedAt: millisecond(500) };
  expect(reportAt(61_001, NEXT, queued)).toMatchObject({ lag: null, behindSince: millisecond(500) });
});

test('without a stored position nothing is behind', () => {
  progress.looked({ ...PARTITION, start: 0n, end: 30n }, null, millisecond(0));
  expect(reportAt(STALL_MS + 1, null)).toEqual({
    nextOffset: null,
    lag: null,
    logEndAgeMs: STALL_MS + 1,
    awaits: 'stored offset',
    behindSince: null,
  });
});
