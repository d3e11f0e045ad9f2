import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { aBatch, aRecord, PARTITION } from '../records.ts';
import type { SimulatedSink } from '../simulated-sink.ts';
import { AFTER_HANDOVER_MS, answerAll, assignAnew, settle, setUpOpened } from '../simulation.ts';

/** What each write asked for: the expected offset, and the one that follows. */
const ranges = ({ requests }: SimulatedSink) =>
  requests.map(({ expectedOffset, nextOffset }) => [Number(expectedOffset), Number(nextOffset)]);

describe('a batch', () => {
  test('that was delivered before writes nothing, and the source is sought to where the next one begins', async () => {
    const { source, sink, pipeline, fatal } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(0n, 3n));
    pipeline.onFetched(aBatch(0n, 3n));
    expect(source.fetchFrom).toBe(3n);
    await answerAll(sink);
    expect(ranges(sink)).toEqual([[0, 3]]);
    expect(fatal).toEqual([]);
  });

  test('that begins above the position is refused, and the source is sought back', async () => {
    const { source, sink, pipeline } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(4n, 6n));
    expect(source.fetchFrom).toBe(0n);
    await answerAll(sink);
    expect(ranges(sink)).toEqual([]);
  });

  test('that begins below the position is written from the position on', async () => {
    const { sink, pipeline } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(0n, 3n));
    pipeline.onFetched(aBatch(1n, 5n));
    await answerAll(sink);
    expect(sink.rows).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(ranges(sink)).toEqual([
      [0, 3],
      [3, 5],
    ]);
  });
});

describe('a full queue', () => {
  test('stays paused until half of its bytes are written, and is resumed once', async () => {
    const { source, sink, pipeline } = await setUpOpened(100n);
    source.told.length = 0;
    pipeline.onFetched(aBatch(0n, 20n));
    await settle();
    const told: string[] = [];
    while (sink.pending.length > 0) {
      sink.pending.shift()?.('answered');
      await settle();
      told.push(`${sink.stored}: ${source.told.at(-1)}`);
    }
    // 84 bytes for a record, 1,000 for the queue: it is half empty with five records left.
    expect(told).toEqual(['5: pause', '10: pause', '15: resume', '20: resume']);
    expect(source.told).toEqual(['pause', 'resume']);
  });

  test.each([
    [926, []],
    [927, ['pause']],
  ])(
    'is one that has as many bytes as the setting (a value of %d bytes beside the 64 of each record and its 9 bytes of lengths)',
    async (size, told) => {
      const { source, pipeline } = await setUpOpened(100n);
      source.told.length = 0;
      const records = [aRecord(0n, { key: null, value: Buffer.alloc(size) })];
      pipeline.onFetched({ ...PARTITION, records: recordsOf(records), fetchedOffset: 0n, nextOffset: 1n });
      expect(source.told).toEqual(told);
    },
  );

  test('is paused once, however many batches were on their way', async () => {
    const { source, pipeline } = await setUpOpened(100n);
    source.told.length = 0;
    pipeline.onFetched(aBatch(0n, 20n));
    pipeline.onFetched(aBatch(20n, 40n));
    expect(source.told).toEqual(['pause']);
  });

  test('that was dropped is full no longer: the next one that fills is paused again', async () => {
    const { source, sink, pipeline } = await setUpOpened(100n);
    pipeline.onFetched(aBatch(0n, 20n));
    await answerAll(sink, 'cut before');
    source.told.length = 0;
    pipeline.onFetched(aBatch(0n, 20n));
    expect(source.told).toEqual(['pause']);
  });
});

describe('a transaction that was cut while draining', () => {
  test('is the last one: what comes after it is not written over a hole', async () => {
    const { sink, pipeline } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(0n, 12n));
    const drained = pipeline.drain();
    await settle();
    sink.pending.shift()?.('cut before');
    await answerAll(sink);
    await drained;
    expect(ranges(sink)).toEqual([[0, 5]]);
    expect(sink).toMatchObject({ stored: 0n, rows: [] });
  });

  test('and has committed is not repeated either', async () => {
    const { sink, pipeline } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(0n, 12n));
    const drained = pipeline.drain();
    await settle();
    sink.pending.shift()?.('cut after');
    await answerAll(sink);
    await drained;
    expect(sink.rows).toEqual([0n, 1n, 2n, 3n, 4n]);
  });
});

describe('draining', () => {
  test('pauses, takes nothing in any more and neither seeks nor resumes', async () => {
    const { source, sink, pipeline } = await setUpOpened(40n);
    pipeline.onFetched(aBatch(0n, 20n));
    source.told.length = 0;
    const drained = pipeline.drain();
    pipeline.onFetched(aBatch(20n, 25n));
    pipeline.onFetched(aBatch(30n, 35n));
    await answerAll(sink);
    await drained;
    expect(sink.stored).toBe(20n);
    expect(source.told).toEqual(['pause']);
  });

  test('while the position is read neither seeks nor resumes', async () => {
    const { source, sink, pipeline, fatal } = await setUpOpened(12n);
    let answer: () => void = () => undefined;
    sink.positions = () =>
      new Promise((resolve) => {
        answer = () => resolve([{ ...PARTITION, offset: 2n }]);
      });
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    const drained = pipeline.drain();
    source.told.length = 0;
    answer();
    await drained;
    expect(source.told).toEqual([]);
    expect(fatal).toEqual([]);
    expect(pipeline.positions()).toEqual([{ ...PARTITION, offset: 2n }]);
  });

  test('after being fenced reads no position', async () => {
    const { source, sink, pipeline, listener, clock } = await setUpOpened(12n);
    clock.pass(AFTER_HANDOVER_MS);
    pipeline.onFetched(aBatch(0n, 12n));
    await settle();
    const drained = pipeline.drain();
    sink.stored = 7n;
    const { reads } = sink;
    source.told.length = 0;
    await answerAll(sink);
    await drained;
    expect(listener.fenced).toEqual([PARTITION]);
    expect(ranges(sink)).toEqual([[0, 5]]);
    expect(sink.reads).toBe(reads);
    expect(source.told).toEqual([]);
  });

  test('ends the wait for a sink that is away, and the outage is over', async () => {
    const { sink, pipeline, clock, listener } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    expect(listener.pauses).toEqual([true]);
    const { reads } = sink;
    await pipeline.drain();
    expect(listener.pauses).toEqual([true, false]);
    expect(sink.reads).toBe(reads);
  });
});

test('a partition that was taken away writes nothing of what it has queued', async () => {
  const { sink, pipeline } = await setUpOpened(12n);
  pipeline.onFetched(aBatch(0n, 12n));
  await settle();
  assignAnew(pipeline, []);
  await answerAll(sink);
  await pipeline.close();
  expect(ranges(sink)).toEqual([[0, 5]]);
});

describe('a writer that was fenced', () => {
  test('reads the stored offset, pauses meanwhile, and goes on from there', async () => {
    const { source, sink, pipeline, clock } = await setUpOpened(12n);
    clock.pass(AFTER_HANDOVER_MS);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 12n));
    await settle();
    source.told.length = 0;
    sink.stored = 7n;
    await answerAll(sink);
    expect(source.told).toEqual(['pause']);
    clock.endWaits();
    await settle();
    expect(source.told).toEqual(['pause', 'seek 7', 'resume']);
    pipeline.onFetched(aBatch(7n, 9n));
    await answerAll(sink);
    expect(ranges(sink)).toEqual([
      [0, 5],
      [7, 9],
    ]);
  });

  test('again and again waits longer each time, and briefly again once a transaction has committed', async () => {
    const { sink, pipeline, clock } = await setUpOpened(100n);
    clock.pass(AFTER_HANDOVER_MS);
    clock.holdWaits();
    const waits: number[] = [];
    const writeFenced = async () => {
      pipeline.onFetched(aBatch(sink.stored, sink.stored + 2n));
      await settle();
      sink.stored += 1n;
      await answerAll(sink);
      waits.push(...clock.endWaits().filter((ms) => ms < AFTER_HANDOVER_MS - 1));
      await settle();
    };
    for (let times = 0; times < 3; times += 1) await writeFenced();
    pipeline.onFetched(aBatch(sink.stored, sink.stored + 2n));
    await answerAll(sink);
    await writeFenced();
    const [first = 0, second = 0, third = 0, afterCommit = 0] = waits;
    expect(first).toBeLessThanOrEqual(100);
    expect(second).toBeGreaterThanOrEqual(100);
    expect(third).toBeGreaterThanOrEqual(200);
    expect(afterCommit).toBeLessThanOrEqual(100);
  });
});

describe('an error that nobody knows', () => {
  test('counts in a row only: a transaction that commits in between begins the count anew', async () => {
    const { sink, pipeline, fatal } = await setUpOpened(100n);
    const write = sink.write.bind(sink);
    for (let round = 0; round < 4; round += 1) {
      sink.write = async () => {
        throw new OutageError('what is this', { attempts: 3 });
      };
      for (let times = 0; times < 2; times += 1) {
        pipeline.onFetched(aBatch(sink.stored, sink.stored + 2n));
        await settle();
      }
      sink.write = write;
      pipeline.onFetched(aBatch(sink.stored, sink.stored + 2n));
      await answerAll(sink);
    }
    expect(fatal).toEqual([]);
    expect(sink.stored).toBe(8n);
  });

  test('counts in a row only: a known outage in between begins the count anew', async () => {
    const { sink, pipeline, fatal } = await setUpOpened(100n);
    for (const attempts of [3, 3, Number.POSITIVE_INFINITY, 3, 3]) {
      sink.write = async () => {
        throw new OutageError('what is this', { attempts });
      };
      pipeline.onFetched(aBatch(0n, 2n));
      await settle();
    }
    expect(fatal).toEqual([]);
  });

  test('that is given up leaves the records ahead of the stored offset, and takes nothing in any more', async () => {
    const { sink, pipeline, fatal } = await setUpOpened(100n);
    let writes = 0;
    sink.write = async () => {
      writes += 1;
      throw new OutageError('what is this', { attempts: 1 });
    };
    pipeline.onFetched(aBatch(0n, 12n));
    await settle();
    pipeline.onFetched(aBatch(12n, 20n));
    await settle();
    expect(fatal).toMatchObject([{ code: 'DATABASE_REFUSED', message: 'what is this; it failed 1 times in a row' }]);
    expect({ writes, stored: sink.stored }).toEqual({ writes: 1, stored: 0n });
  });
});
