import { expect, test } from '@jest/globals';
import { type CommittedBatch, notifyAll, type StreamListener } from '../../../../app/stream/ports/stream-listener.ts';
import { aBatch, PARTITION } from '../records.ts';
import { AFTER_HANDOVER_MS, answerAll, assignAnew, settle, setUp } from '../simulation.ts';

const opened = async () => {
  const parts = setUp(12n);
  assignAnew(parts.pipeline, [PARTITION]);
  await settle();
  return parts;
};

test('a write that fails pauses, the position is read again, and then the pause is over', async () => {
  const { source, sink, pipeline, listener } = await opened();
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  sink.pending.shift()?.('cut before');
  await settle();
  expect(listener.failed).toHaveLength(1);
  expect(listener.retries).toBe(1);
  expect(listener.pauses).toEqual([true, false]);
});

test('being fenced is no pause, but the position is read again', async () => {
  const { source, sink, pipeline, listener, clock } = await opened();
  clock.pass(AFTER_HANDOVER_MS);
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  sink.stored = 1n;
  sink.pending.shift()?.('answered');
  await settle();
  expect(listener.retries).toBe(1);
  expect(listener.pauses).toEqual([]);
});

test('a committed transaction tells its rows, its records, when they were fetched and when it was committed', async () => {
  const { source, sink, pipeline, listener, clock } = await opened();
  const told: CommittedBatch[] = [];
  listener.onCommitted = (batch) => told.push(batch);
  clock.pass(1_000);
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  clock.pass(250);
  await answerAll(sink);
  expect(told).toMatchObject([
    { records: 3, rows: new Map([['copy', 3]]), fetchedAt: new Date(1_000), committedAt: new Date(1_250) },
  ]);
  expect(told[0]?.written).toHaveLength(3);
});

test('a clock that is set while records are written changes nothing in how long that took', async () => {
  const { source, sink, pipeline, listener, clock } = await opened();
  const told: CommittedBatch[] = [];
  listener.onCommitted = (batch) => told.push(batch);
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  clock.set(3_600_000);
  clock.pass(250);
  await answerAll(sink);
  expect(told).toMatchObject([{ fetchedAt: new Date(3_600_000), committedAt: new Date(3_600_250) }]);
});

test('the report says since when the oldest record waits, until it is written', async () => {
  const { source, sink, pipeline, clock } = await opened();
  clock.set(1_800_000_000_000);
  const behindSince = () => pipeline.report().partitions[0]?.behindSince;
  pipeline.onLog({ ...PARTITION, start: 0n, end: 3n });
  expect(behindSince()).toEqual(new Date(1_800_000_000_000));
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  expect(behindSince()).toEqual(new Date(1_700_000_000_000));
  await answerAll(sink);
  expect(behindSince()).toBeNull();
});

test('each listener gets each event, in order, with what it is about', () => {
  const given = {
    onCommitted: [{ ...PARTITION, records: 5 }],
    onFenced: [PARTITION],
    onHandover: [PARTITION],
    onSkipped: [{ ...PARTITION, expectedOffset: 3n, nextOffset: 9n }],
    onFailed: [PARTITION, new Error('no')],
    onRetry: [],
    onPaused: [true],
  } as const;
  const events = Object.keys(given) as (keyof typeof given)[];
  const heard: unknown[] = [];
  const named = (name: string) =>
    Object.fromEntries(
      events.map((event) => [event, (...about: readonly unknown[]) => heard.push([name, event, ...about])]),
    ) as unknown as StreamListener;
  const all = notifyAll([named('a'), named('b')]) as unknown as Record<string, (...about: readonly unknown[]) => void>;
  for (const event of events) {
    all[event]?.(...given[event]);
  }
  expect(heard).toEqual(events.flatMap((event) => ['a', 'b'].map((name) => [name, event, ...given[event]])));
});
