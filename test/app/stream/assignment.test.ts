import { describe, expect, test } from '@jest/globals';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { aBatch, PARTITION } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp, setUpOpened } from './simulation.ts';

/** A sink that answers with its stored offsets when the test says so. */
function answeringByHand(sink: SimulatedSink) {
  const answers: ((offset: bigint) => void)[] = [];
  sink.positions = () =>
    new Promise<Position[]>((resolve) => {
      answers.push((offset) => resolve([{ ...PARTITION, offset }]));
    });
  return answers;
}

const unknown = () => new OutageError('what is this', { attempts: 3 });

describe('an assignment that was replaced while its positions were read', () => {
  test('leaves the next one assigning until its own are read', async () => {
    const { sink, pipeline } = setUp(12n);
    const answers = answeringByHand(sink);
    assignAnew(pipeline, [PARTITION]);
    await settle();
    assignAnew(pipeline, [PARTITION]);
    await settle();
    answers[0]?.(0n);
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'assigning', partitions: [{ nextOffset: null }] });
    answers[1]?.(3n);
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [{ nextOffset: 3n }] });
  });

  test('is no failure when they could not be read', async () => {
    const { sink, pipeline, fatal } = setUp(12n);
    let fail: (error: Error) => void = () => undefined;
    sink.positions = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    assignAnew(pipeline, [PARTITION]);
    await settle();
    assignAnew(pipeline, []);
    fail(new Error('the connection is closed'));
    await settle();
    expect(fatal).toEqual([]);
  });
});

describe('a transaction of the assignment before', () => {
  test('is over before the positions of the next one are read', async () => {
    const { sink, pipeline, clock } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await settle();
    const { reads } = sink;
    assignAnew(pipeline, [PARTITION]);
    await settle();
    expect(sink.reads).toBe(reads);
    await answerAll(sink);
    expect(sink.reads).toBe(reads + 1);
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [{ nextOffset: 3n }] });
  });

  test('is waited for 5 s and no longer', async () => {
    const { pipeline, clock } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await settle();
    assignAnew(pipeline, [PARTITION]);
    await settle();
    expect(clock.endWaits()).toEqual([5_000]);
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [{ nextOffset: 0n }] });
  });

  test('that cannot be waited for any longer does not hold up an assignment that came after the next one', async () => {
    const { sink, pipeline, clock } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await settle();
    assignAnew(pipeline, [PARTITION]);
    assignAnew(pipeline, []);
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [] });
    await answerAll(sink);
  });
});

describe('an outage', () => {
  test('of the assignment before that is over does not end the next one assigning', async () => {
    const { sink, pipeline, clock, listener } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    expect(pipeline.report().state).toBe('paused');
    const answers = answeringByHand(sink);
    assignAnew(pipeline, [PARTITION]);
    await settle();
    expect(listener.pauses).toEqual([true, false]);
    expect(pipeline.report().state).toBe('assigning');
    answers[0]?.(0n);
    await settle();
    expect(pipeline.report().state).toBe('running');
  });

  test('that draining ends is no failure', async () => {
    const { sink, pipeline, clock, fatal } = await setUpOpened(12n);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    await pipeline.drain();
    expect(pipeline.report().state).toBe('draining');
    await pipeline.close();
    expect(fatal).toEqual([]);
    expect(pipeline.report().state).toBe('stopped');
  });
});

describe('an offset that the broker does not hold', () => {
  test('is not gone back to when the transactions before it ended elsewhere', async () => {
    const { source, sink, pipeline, fatal } = await setUpOpened(12n);
    pipeline.onFetched(aBatch(0n, 3n));
    pipeline.onOutOfRange(PARTITION);
    await settle();
    source.told.length = 0;
    sink.stored = 7n;
    await answerAll(sink);
    expect(source.told).toEqual(['pause', 'seek 7', 'resume']);
    expect(pipeline.report().partitions).toMatchObject([{ nextOffset: 7n }]);
    expect(fatal).toEqual([]);
  });

  test('is read again where the broker holds it after all', async () => {
    const { source, sink, pipeline } = await setUpOpened(12n);
    source.told.length = 0;
    pipeline.onOutOfRange(PARTITION);
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink);
    expect(source.told).toEqual(['seek 0', 'resume']);
    expect(sink.rows).toEqual([]);
  });

  test('is looked for once, however often the broker says so', async () => {
    const { source, pipeline } = await setUpOpened(12n);
    let looks = 0;
    const logRanges = source.logRanges.bind(source);
    source.logRanges = (topic) => {
      looks += 1;
      return logRanges(topic);
    };
    pipeline.onOutOfRange(PARTITION);
    pipeline.onOutOfRange(PARTITION);
    await settle();
    expect(looks).toBe(1);
  });

  test('is not looked for before the position was read', async () => {
    const { sink, source, pipeline } = setUp(12n);
    answeringByHand(sink);
    assignAnew(pipeline, [PARTITION]);
    await settle();
    pipeline.onOutOfRange(PARTITION);
    await settle();
    expect(source.told).toEqual([]);
  });
});

describe('a gap that is skipped', () => {
  const aGap = async () => {
    const parts = await setUpOpened(12n, new SimulatedSink(), 'skip');
    parts.source.logStart = 8n;
    parts.pipeline.onOutOfRange(PARTITION);
    await settle();
    return parts;
  };

  test('by another writer first is not reported, and the stored offset is gone on from', async () => {
    const { source, sink, pipeline, listener } = await aGap();
    sink.stored = 9n;
    await answerAll(sink);
    expect(listener.skipped).toEqual([]);
    expect(source.fetchFrom).toBe(9n);
    pipeline.onFetched(aBatch(9n, 12n));
    await answerAll(sink);
    expect(sink.rows).toEqual([9n, 10n, 11n]);
  });

  test('in an outage is reported as failed, and found out by the stored offset', async () => {
    const { source, sink, listener } = await aGap();
    await answerAll(sink, 'cut after');
    expect(listener.failed).toEqual(['the connection was cut']);
    expect(listener.pauses).toEqual([true, false]);
    expect(listener.skipped).toEqual([]);
    expect(source.fetchFrom).toBe(8n);
  });

  test('and fails for an unknown reason too often stops the consumer', async () => {
    const { source, sink, pipeline, fatal } = await setUpOpened(12n, new SimulatedSink(), 'skip');
    source.logStart = 8n;
    sink.skip = async () => {
      throw unknown();
    };
    for (let times = 0; times < 3; times += 1) {
      pipeline.onOutOfRange(PARTITION);
      await settle();
    }
    expect(fatal).toMatchObject([{ code: 'DATABASE_REFUSED' }]);
  });

  test('is waited for by draining', async () => {
    const { sink, pipeline } = await aGap();
    let isDrained = false;
    const drained = pipeline.drain().then(() => {
      isDrained = true;
    });
    await settle();
    expect(isDrained).toBe(false);
    await answerAll(sink);
    await drained;
    expect(sink.stored).toBe(8n);
  });
});

test('who is expelled writes no more, is reported as before, and goes on from the stored offset with the next assignment', async () => {
  const { source, sink, pipeline } = await setUpOpened(20n);
  pipeline.onFetched(aBatch(0n, 3n));
  pipeline.onFetched(aBatch(3n, 6n));
  await settle();
  pipeline.onExpelled();
  await answerAll(sink);
  // The transaction under way was the first batch; the second one was queued.
  expect(sink.stored).toBe(3n);
  pipeline.onFetched(aBatch(6n, 9n));
  expect(sink.pending).toEqual([]);
  expect(pipeline.report()).toMatchObject({ partitions: [{ ...PARTITION, nextOffset: 3n }] });
  pipeline.onAssigned({ added: [PARTITION], owned: [PARTITION] });
  await settle();
  expect(source.fetchFrom).toBe(3n);
  pipeline.onFetched(aBatch(3n, 6n));
  await answerAll(sink);
  expect(sink.stored).toBe(6n);
});

test('nothing is read while the list of the cluster lacks a topic that Kafka has', async () => {
  const { source, pipeline, clock, fatal } = setUp(12n);
  clock.holdWaits();
  const asked: string[] = [];
  let isListed = false;
  source.topicIds = async () => new Map([[PARTITION.topic, 'an id']]);
  source.requireListed = async (topics) => {
    asked.push([...topics].join());
    if (!isListed) {
      throw new OutageError('another broker has it', { reason: 'kafka_away' });
    }
  };
  assignAnew(pipeline, [PARTITION]);
  await settle();
  expect([asked, pipeline.report().partitions[0]?.nextOffset]).toEqual([[PARTITION.topic], null]);
  isListed = true;
  clock.endWaits(() => true);
  await settle();
  expect([asked.length, pipeline.report().partitions[0]?.nextOffset, fatal]).toEqual([2, 0n, []]);
});
