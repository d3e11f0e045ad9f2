import { describe, expect, test } from '@jest/globals';
import { aBatch, PARTITION } from './records.ts';
import { answerAll, settle, setUp, setUpOpened } from './simulation.ts';

describe('a batch that cannot be read', () => {
  const BATCH = { ...PARTITION, offset: 3n, code: 'CORRUPT_BATCH', reason: 'its CRC-32C is another one' } as const;

  /** Three records are delivered, and the batch behind them is not. */
  const aDamagedLog = async () => {
    const parts = await setUpOpened(12n);
    parts.clock.holdWaits();
    parts.pipeline.onBatch(aBatch(0n, 3n));
    parts.pipeline.onUnreadable(BATCH);
    parts.source.told.length = 0;
    return parts;
  };

  test('is reported, while the records before it are written and nothing behind it is', async () => {
    const { sink, pipeline, fatal } = await aDamagedLog();
    pipeline.onBatch(aBatch(4n, 6n));
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
    pipeline.onBatch(aBatch(3n, 6n));
    await answerAll(sink);
    expect(sink.rows).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect(pipeline.report().partitions[0]).not.toHaveProperty('unreadable');
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
    pipeline.onAssigned([PARTITION]);
    pipeline.onUnreadable(BATCH);
    await settle();
    expect(source.told).toEqual(['seek 0', 'resume']);
    expect(pipeline.report().partitions[0]).not.toHaveProperty('unreadable');
  });
});
