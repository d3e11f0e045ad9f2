import { describe, expect, test } from '@jest/globals';
import type { OnBrokenBatch } from '../../../app/stream/partition/positions.ts';
import type { UnreadableBatch } from '../../../app/stream/ports/record-source.ts';
import { OTHER, setUpAssigned, WAITING } from './partition/waiting-pipeline.ts';
import { aBatch, PARTITION } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp, setUpOpened } from './simulation.ts';

describe('a batch that cannot be read', () => {
  const BATCH = { ...PARTITION, offset: 3n, code: 'CORRUPT_BATCH', reason: 'its CRC-32C is another one' } as const;

  /** Three records are delivered, and the batch behind them is not. */
  const aDamagedLog = async (onBrokenBatch: OnBrokenBatch = 'stop') => {
    const parts = await setUpOpened(12n, new SimulatedSink(), 'fail', { onBrokenBatch });
    parts.clock.holdWaits();
    parts.pipeline.onFetched(aBatch(0n, 3n));
    parts.pipeline.onUnreadable(BATCH);
    parts.source.told.length = 0;
    return parts;
  };

  test('is reported, while the records before it are written and nothing behind it is', async () => {
    const { sink, pipeline, fatal } = await aDamagedLog();
    pipeline.onFetched(aBatch(4n, 6n));
    await answerAll(sink);
    expect(sink.rows).toEqual([0n, 1n, 2n]);
    expect(sink.stored).toBe(3n);
    expect(pipeline.report().partitions).toMatchObject([{ nextOffset: 3n, unreadable: BATCH }]);
    expect(fatal).toEqual([]);
  });

  test('is read again every 10 s, and not reported any more once it was read', async () => {
    const { source, sink, pipeline, clock } = await aDamagedLog();
    await answerAll(sink);
    expect(clock.endWaits()).toEqual([10_000]);
    await settle();
    expect(source.told).toEqual(['seek 3', 'resume']);
    pipeline.onUnreadable(BATCH);
    expect(clock.endWaits()).toEqual([10_000]);
    await settle();
    expect(pipeline.report().partitions).toMatchObject([{ unreadable: BATCH }]);
    pipeline.onFetched(aBatch(3n, 6n));
    await answerAll(sink);
    expect(sink.rows).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect(pipeline.report().partitions[0]).not.toHaveProperty('unreadable');
  });

  describe('where such batches are skipped', () => {
    const WITH_END = { ...BATCH, nextOffset: 6n };

    /** The damaged log, read as far as the batch for the second time. */
    const readTwice = async (first: UnreadableBatch, second = first, onBrokenBatch: OnBrokenBatch = 'skip') => {
      const parts = await aDamagedLog(onBrokenBatch);
      await answerAll(parts.sink);
      parts.clock.endWaits();
      await settle();
      parts.pipeline.onUnreadable(first);
      expect(parts.clock.endWaits()).toEqual([10_000]);
      await settle();
      parts.pipeline.onUnreadable(second);
      await answerAll(parts.sink);
      return parts;
    };

    test('is a gap once it was the same two times, and what is behind it is written', async () => {
      const { sink, pipeline, source, listener } = await readTwice(WITH_END);
      expect(sink.gaps).toMatchObject([{ expectedOffset: 3n, nextOffset: 6n }]);
      expect(listener.skipped).toMatchObject([{ expectedOffset: 3n, nextOffset: 6n, broken: WITH_END }]);
      expect(source.told.slice(-2)).toEqual(['seek 6', 'resume']);
      expect(pipeline.report().partitions[0]).not.toHaveProperty('unreadable');
      pipeline.onFetched(aBatch(6n, 9n));
      await answerAll(sink);
      expect(sink.rows).toEqual([0n, 1n, 2n, 6n, 7n, 8n]);
      expect(sink.stored).toBe(9n);
    });

    test.each([
      ['its end is not certain', BATCH, BATCH],
      ['its end is another one the second time', WITH_END, { ...WITH_END, nextOffset: 9n }],
      ['it ends in front of the position', { ...WITH_END, nextOffset: 3n }, { ...WITH_END, nextOffset: 3n }],
    ])('is no gap when %s: it is read again', async (_, first, second) => {
      const { sink, clock } = await readTwice(first, second);
      expect(clock.endWaits()).toEqual([10_000]);
      expect(sink).toMatchObject({ stored: 3n, gaps: [] });
    });

    test('is no gap where it is not allowed', async () => {
      const { sink, clock } = await readTwice(WITH_END, WITH_END, 'stop');
      expect(clock.endWaits()).toEqual([10_000]);
      expect(sink).toMatchObject({ stored: 3n, gaps: [] });
    });
  });

  test('is not waited for by the end', async () => {
    const { source, sink, pipeline } = await aDamagedLog();
    const drained = pipeline.drain();
    await answerAll(sink);
    await drained;
    await pipeline.close();
    expect(sink.rows).toEqual([0n, 1n, 2n]);
    expect(source.told).toEqual(['pause']);
  });

  test('is nothing to a partition whose position is not known', async () => {
    const { pipeline, source } = setUp(12n);
    pipeline.onUnreadable(BATCH);
    assignAnew(pipeline, [PARTITION]);
    pipeline.onUnreadable(BATCH);
    await settle();
    expect(source.told).toEqual(['seek 0', 'resume']);
    expect(pipeline.report().partitions[0]).not.toHaveProperty('unreadable');
  });
});

test('a topic that may not be read waits, and goes on once a fetch of it is answered, without a record too', async () => {
  const { pipeline, source, deliver, lookAgain, waits, goesOn, fatal } = await setUpAssigned();
  const forbid = (partition: typeof WAITING) =>
    pipeline.onUnreadable({ ...partition, offset: 0n, code: 'TOPIC_FORBIDDEN', reason: 'Kafka forbids it' });
  forbid(WAITING);
  forbid(PARTITION);
  await settle();
  expect([waits, fatal]).toMatchObject([[{ topic: WAITING.topic, code: 'TOPIC_FORBIDDEN' }], []]);
  expect([source.of(OTHER).isPaused, await deliver(OTHER)]).toEqual([true, false]);
  const unreadable = pipeline.report().partitions.map((partition) => 'unreadable' in partition);
  expect(unreadable).toEqual([true, false, false]);
  pipeline.onReadable(WAITING);
  await lookAgain();
  forbid(OTHER);
  await lookAgain();
  expect([goesOn, waits.length]).toEqual([[], 1]);
  pipeline.onReadable(WAITING);
  expect(goesOn).toEqual([`${WAITING.topic} after 20 s`]);
});
