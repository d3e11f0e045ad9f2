import { describe, expect, test } from '@jest/globals';
import { FatalError, OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { OTHER, setUpWaiting, WAITING } from './partition/waiting-pipeline.ts';
import { aBatch, PARTITION } from './records.ts';
import type { SimulatedSink } from './simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp, setUpOpened } from './simulation.ts';

/** A sink that cannot return the stored offsets, once for each of these errors. */
function failing(sink: SimulatedSink, errors: readonly Error[]) {
  const left = [...errors];
  const positions = sink.positions.bind(sink);
  sink.positions = async (topics) => {
    const error = left.shift();
    if (error) {
      throw error;
    }
    return positions(topics);
  };
}

const known = () => new OutageError('PostgreSQL is away');
const unknown = () => new OutageError('what is this', { attempts: 3 });

describe('positions that cannot be read', () => {
  test('are asked for after a longer time each time, and one partition tells of it', async () => {
    const { sink, pipeline, listener, clock } = setUp(12n);
    failing(sink, Array.from({ length: 4 }, known));
    clock.holdWaits();
    assignAnew(pipeline, [PARTITION, { ...PARTITION, partition: 1 }]);
    const waits: number[] = [];
    for (let times = 0; times < 4; times += 1) {
      await settle();
      waits.push(...clock.endWaits().filter((ms) => ms < 5_000));
    }
    expect(listener.failed).toHaveLength(4);
    expect(waits.map((ms, nth) => ms >= 50 * 2 ** nth && ms <= 100 * 2 ** nth)).toEqual([true, true, true, true]);
  });

  test('for a known reason are asked for again and again, and one unknown error after many is not the last', async () => {
    const { sink, pipeline, listener, fatal } = setUp(12n);
    failing(sink, [...Array.from({ length: 20 }, known), unknown(), unknown(), known(), unknown(), unknown()]);
    assignAnew(pipeline, [PARTITION]);
    await settle();
    expect(fatal).toEqual([]);
    expect(pipeline.report().state).toBe('running');
    expect([listener.failed.length, listener.retries]).toEqual([25, 25]);
  });

  test('for an unknown reason several times in a row stop the consumer', async () => {
    const { sink, pipeline, fatal } = setUp(12n);
    failing(sink, [unknown(), unknown(), unknown()]);
    assignAnew(pipeline, [PARTITION]);
    await settle();
    expect(fatal).toMatchObject([{ code: 'DATABASE_REFUSED', message: 'what is this; it failed 3 times in a row' }]);
  });

  test('for an unknown reason several times in a row stop the consumer after a failed transaction, too', async () => {
    const { sink, pipeline, fatal } = await setUpOpened(12n);
    failing(sink, [unknown(), unknown(), unknown()]);
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    expect(fatal).toMatchObject([{ code: 'DATABASE_REFUSED', message: 'what is this; it failed 3 times in a row' }]);
    expect(sink.stored).toBe(0n);
  });

  test('for a known reason after a failed transaction are asked for until they are told', async () => {
    const { sink, pipeline, listener, fatal } = await setUpOpened(12n);
    failing(sink, [unknown(), unknown(), known(), unknown(), unknown()]);
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink, 'cut before');
    expect(fatal).toEqual([]);
    expect(listener.pauses).toEqual([true, false]);
    pipeline.onFetched(aBatch(0n, 3n));
    await answerAll(sink);
    expect(sink.stored).toBe(3n);
  });
});

test('a position that cannot be read is an outage, also after a wait for the lock that a change of owners explains', async () => {
  const { sink, pipeline, clock } = await setUpOpened(20n);
  sink.write = async () => {
    throw new OutageError('the lock is held', { isLockWait: true });
  };
  failing(sink, [known()]);
  clock.holdWaits();
  pipeline.onFetched(aBatch(0n, 3n));
  const states: string[] = [];
  for (let wait = 0; wait < 3; wait += 1) {
    await settle();
    states.push(pipeline.report().state);
    clock.endWaits();
  }
  expect(states).toEqual(['running', 'paused', 'running']);
});

test('positions are read again where the claim failed for a topic that waits already', async () => {
  const parts = setUpWaiting();
  const forbidden = new FatalError('TOPIC_FORBIDDEN', 'Kafka forbids it', { topic: WAITING.topic });
  let claims = 0;
  parts.source.claim = async () => {
    claims += 1;
    if (claims <= 4) {
      throw forbidden;
    }
  };
  assignAnew(parts.pipeline, [PARTITION, WAITING, OTHER]);
  await settle();
  expect([claims, await parts.deliver(PARTITION), parts.waits.length]).toEqual([2, false, 1]);
  await parts.lookAgain();
  expect(await parts.deliver(PARTITION)).toBe(false);
  await parts.lookAgain();
  expect([await parts.deliver(PARTITION), await parts.deliver(), parts.fatal]).toEqual([true, true, []]);
});
