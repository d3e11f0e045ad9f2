import { beforeEach, expect, test } from '@jest/globals';
import { OldestUnwritten, PartitionProgress, StallWatch } from '../../../app/stream/lag.ts';
import { OutageError } from '../../../app/stream/stream-errors.ts';
import { aBatch, aRecord, PARTITION } from './records.ts';
import { answerAll, settle, setUp } from './simulation.ts';

const HOUR_MS = 3_600_000;

test('a partition whose position was not read yet has no lag and no position to tell Kafka', async () => {
  const { sink, pipeline } = setUp(12n);
  let answer: (() => void) | undefined;
  sink.positions = () =>
    new Promise((resolve) => {
      answer = () => resolve([{ ...PARTITION, offset: 3n }]);
    });
  pipeline.onAssigned([PARTITION]);
  await settle();
  pipeline.observeLog({ ...PARTITION, start: 0n, end: 12n });
  expect(pipeline.positions()).toEqual([]);
  expect(pipeline.report().partitions).toMatchObject([{ nextOffset: null, lag: null }]);
  answer?.();
  await settle();
  expect(pipeline.positions()).toEqual([{ ...PARTITION, offset: 3n }]);
});

test('a partition whose every write fails is stalled, although the sink answers', async () => {
  const { source, sink, pipeline, clock } = setUp(100n);
  pipeline.onAssigned([PARTITION]);
  await settle();
  sink.write = async () => {
    throw new OutageError('it never fits');
  };
  for (let round = 0; round < 20; round += 1) {
    pipeline.observeLog({ ...PARTITION, start: 0n, end: 100n });
    const batch = source.fetch(20);
    if (batch) pipeline.onBatch(batch);
    await settle();
    clock.pass(5_000);
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toEqual(new Date(0));
});

test('a partition that stands still after a write is stalled since then', async () => {
  const { source, sink, pipeline, clock } = setUp(100n);
  pipeline.onAssigned([PARTITION]);
  await settle();
  const look = () => pipeline.observeLog({ ...PARTITION, start: 0n, end: 100n });
  look();
  clock.pass(1_000);
  pipeline.onBatch(source.fetch(20) ?? aBatch(0n, 0n));
  await answerAll(sink);
  for (let round = 0; round < 20; round += 1) {
    clock.pass(5_000);
    look();
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toEqual(new Date(1_000));
});

test('a clock that is set forward is no stall, and one that is set back hides none and tells its time', async () => {
  const { pipeline, clock } = setUp(100n);
  pipeline.onAssigned([PARTITION]);
  await settle();
  const stalledSince = () => pipeline.report().partitions[0]?.stalledSince;
  const look = () => pipeline.observeLog({ ...PARTITION, start: 0n, end: 100n });
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

test('lag is the log end less the stored offset, unknown until the log was asked, and never negative', async () => {
  const { sink, pipeline } = setUp(12n);
  sink.stored = 4n;
  pipeline.onAssigned([PARTITION]);
  await settle();
  const lag = () => pipeline.report().partitions[0]?.lag;
  expect(lag()).toBeNull();
  pipeline.observeLog({ ...PARTITION, start: 0n, end: 12n });
  expect(lag()).toBe(8n);
  pipeline.observeLog({ ...PARTITION, start: 6n, end: 12n });
  expect(lag()).toBe(6n);
  pipeline.observeLog({ ...PARTITION, start: 0n, end: 2n });
  expect(lag()).toBe(0n);
});

test('a partition is not stalled while the sink cannot even tell its position', async () => {
  const { sink, pipeline, clock } = setUp(100n);
  pipeline.onAssigned([PARTITION]);
  await settle();
  pipeline.observeLog({ ...PARTITION, start: 0n, end: 100n });
  clock.holdWaits();
  pipeline.onBatch(aBatch(0n, 3n));
  await answerAll(sink, 'cut before');
  sink.positions = async () => {
    throw new OutageError('PostgreSQL is away');
  };
  clock.endWaits();
  await settle();
  for (let looks = 0; looks < 20; looks += 1) {
    clock.pass(5_000);
    pipeline.observeLog({ ...PARTITION, start: 0n, end: 100n });
  }
  expect(pipeline.report().partitions[0]?.stalledSince).toBeUndefined();
});

const STALL_MS = 5_000;
const NEXT = 10n;
const millisecond = (ms: number): Date => new Date(ms);

let progress: PartitionProgress;

beforeEach(() => {
  progress = new PartitionProgress(STALL_MS, millisecond(0));
  progress.opened(millisecond(0));
});

const lookAt = (ms: number, start = 0n) =>
  progress.looked({ ...PARTITION, start, end: 30n }, NEXT, millisecond(ms), millisecond(ms));
const reportAt = (ms: number) => progress.report(NEXT, undefined, millisecond(ms), millisecond(ms));

test('lag without a write for longer than the time-out is a stall, until something is written', () => {
  lookAt(0);
  lookAt(STALL_MS + 1);
  expect(reportAt(STALL_MS + 1)).toMatchObject({ lag: 20n, stalledSince: millisecond(0) });
  progress.written(millisecond(STALL_MS + 2));
  expect(reportAt(STALL_MS + 2)).not.toHaveProperty('stalledSince');
});

test('while the sink is away nothing is stalled, and the time begins anew when it is back', () => {
  lookAt(0);
  lookAt(STALL_MS + 1);
  progress.sinkIsAway();
  expect(reportAt(STALL_MS + 1)).not.toHaveProperty('stalledSince');
  progress.sinkIsBack(millisecond(STALL_MS + 2));
  expect(reportAt(STALL_MS + 3)).not.toHaveProperty('stalledSince');
  expect(reportAt(2 * STALL_MS + 3)).toMatchObject({ stalledSince: millisecond(STALL_MS + 2) });
});

test('a sink that was never away excuses nothing', () => {
  lookAt(0);
  lookAt(STALL_MS + 1);
  progress.sinkIsBack(millisecond(STALL_MS + 1));
  expect(reportAt(STALL_MS + 1)).toMatchObject({ stalledSince: millisecond(0) });
});

test('offsets that the log does not hold any more are no lag', () => {
  lookAt(0, 25n);
  expect(reportAt(0)).toMatchObject({ nextOffset: NEXT, lag: 5n });
});

test('without a stored position nothing is behind', () => {
  progress.looked({ ...PARTITION, start: 0n, end: 30n }, null, millisecond(0), millisecond(0));
  expect(progress.report(null, undefined, millisecond(STALL_MS + 1), millisecond(STALL_MS + 1))).toEqual({
    nextOffset: null,
    lag: null,
    behindSince: null,
  });
});

const timeOf = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);

const made = (offset: bigint, seconds: number) => aRecord(offset, { timestamp: BigInt(timeOf(seconds).getTime()) });

test('without lag, or while it is not known, nobody waits', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(0n, 5n, made(4n, 0))).toBeNull();
  expect(oldest.since(null, 5n, made(4n, 0))).toBeNull();
});

test('a record that is being written waits longer than those behind it', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(9n, 5n, made(5n, 10))).toEqual(timeOf(10));
  oldest.writing(made(5n, 10));
  expect(oldest.since(9n, 5n, made(6n, 20))).toEqual(timeOf(10));
  oldest.written();
  expect(oldest.since(8n, 6n, made(6n, 20))).toEqual(timeOf(20));
});

test('a write that failed leaves its record waiting, though nothing is fetched any more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  oldest.looked(3n, timeOf(500));
  expect(oldest.since(3n, 5n, undefined)).toEqual(timeOf(10));
});

test('a record that another writer wrote meanwhile waits no more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  expect(oldest.since(3n, 7n, made(7n, 30))).toEqual(timeOf(30));
});

test('where nothing is fetched, or there is no timestamp, it is since the partition was seen behind', () => {
  const oldest = new OldestUnwritten();
  oldest.looked(0n, timeOf(1));
  oldest.looked(2n, timeOf(3));
  oldest.looked(4n, timeOf(5));
  expect(oldest.since(4n, 0n, undefined)).toEqual(timeOf(3));
  expect(oldest.since(4n, 0n, aRecord(0n, { timestamp: -1n }))).toEqual(timeOf(3));
  oldest.written();
  oldest.looked(1n, timeOf(9));
  expect(oldest.since(1n, 3n, undefined)).toEqual(timeOf(9));
});

const second = (seconds: number) => new Date(seconds * 1_000);

/** A watch with a time-out of 60 s, looked at every 5 s from 0 s on with the lag given. */
function watchUntil(end: number, lagAt: (time: number) => bigint): StallWatch {
  const watch = new StallWatch(60_000, second(0));
  for (let time = 0; time <= end; time += 5) {
    watch.looked(lagAt(time), second(time));
  }
  return watch;
}

test('lag without progress for longer than the time-out is a stall, from when it last moved', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(9n, second(60))).toBeNull();
  expect(watch.stalledSince(9n, second(66))).toEqual(second(0));
});

test('progress begins the time anew', () => {
  const watch = watchUntil(65, () => 9n);
  watch.moved(second(50));
  expect(watch.stalledSince(9n, second(66))).toBeNull();
});

test('time without lag does not count: the first record after a quiet hour is no stall', () => {
  const watch = watchUntil(3_600, (time) => (time < 3_590 ? 0n : 1n));
  expect(watch.stalledSince(1n, second(3_601))).toBeNull();
});

test('a partition without lag, or whose lag is unknown, is not stalled', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(0n, second(66))).toBeNull();
  expect(watch.stalledSince(null, second(66))).toBeNull();
});

test('nobody is stalled while the log cannot be looked at, nor right after', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(9n, second(90))).toBeNull();
  watch.looked(9n, second(90));
  expect(watch.stalledSince(9n, second(91))).toBeNull();
});
