import { expect, test } from '@jest/globals';
import { OutageError } from '../../../app/stream/outage-error.ts';
import { aBatch, PARTITION } from './records.ts';
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
