import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import type { PartitionReport } from '../../../app/stream/partition/consumer-state.ts';
import { pollLogEnds } from '../../../app/stream/poll-log-ends.ts';
import { type Clock, systemClock } from '../../../app/stream/ports/clock.ts';
import type { LogRange } from '../../../app/stream/ports/record-source.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';

const ROUNDS = 10;

/** The longest wait for an answer. */
const ANSWERED_MS = 1_000;

const immediately = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Ends the poll once the topic `told` was looked at often enough. */
function aPipeline(ending: AbortController) {
  const looks: string[] = [];
  const partitions = ['silent', 'failing', 'told'].map((topic) => ({ topic, partition: 0, nextOffset: 0n, lag: 0n }));
  return {
    looks,
    report: () => ({ state: 'running', groupId: 'group', partitions, lastProgressAt: null, lastError: null }) as const,
    onLog: ({ topic }: LogRange) => {
      if (looks.push(topic) === ROUNDS) ending.abort();
    },
  };
}

test('a topic whose answer does not come, or fails, leaves the others alone; none is asked twice at once', async () => {
  const ending = new AbortController();
  const pipeline = aPipeline(ending);
  const clock: Clock = { ...systemClock, wait: immediately };
  const asked: string[] = [];
  const logRanges = async (topic: string): Promise<LogRange[]> => {
    asked.push(topic);
    if (topic === 'silent') await new Promise(() => undefined);
    if (topic === 'failing') throw new OutageError('not authorized');
    return [{ topic, partition: 0, start: 0n, end: 0n }];
  };
  await pollLogEnds({ logRanges }, pipeline, clock, ending.signal);
  expect(pipeline.looks).toEqual(Array.from({ length: ROUNDS }, () => 'told'));
  const times = (topic: string) => asked.filter((each) => each === topic).length;
  expect({ silent: times('silent'), failing: times('failing') }).toEqual({ silent: 1, failing: ROUNDS });
});

test('waits that an answer has ended leave nothing behind', async () => {
  const ending = new AbortController();
  const wait = (ms: number, signal?: AbortSignal) =>
    ms === ANSWERED_MS ? systemClock.wait(ms, signal) : immediately();
  const pipeline = aPipeline(ending);
  const logRanges = async (topic: string): Promise<LogRange[]> => [{ topic, partition: 0, start: 0n, end: 0n }];
  let listeners = 0;
  const onLog = (range: LogRange) => {
    listeners = Math.max(listeners, getEventListeners(ending.signal, 'abort').length);
    pipeline.onLog(range);
  };
  const clock: Clock = { ...systemClock, wait };
  await pollLogEnds({ logRanges }, { ...pipeline, onLog }, clock, ending.signal);
  expect(listeners).toBe(1);
});

/** Asks for 60 s, and returns the seconds at which each topic was asked about. */
async function askedAt(partitions: (seconds: number) => readonly PartitionReport[]) {
  const [ending, asked] = [new AbortController(), new Map<string, number[]>()];
  let ms = 0;
  const clock: Clock = {
    ...systemClock,
    steady: () => new Date(ms),
    wait: async (wait, signal) => {
      // That of an answer ends with the answer.
      await immediately();
      if (wait !== ANSWERED_MS && !signal?.aborted) ms += wait;
      if (ms > 60_000) ending.abort();
    },
  };
  const logRanges = async (topic: string): Promise<LogRange[]> => {
    asked.set(topic, [...(asked.get(topic) ?? []), ms / 1_000]);
    return [];
  };
  const pipeline = { ...aPipeline(ending), onLog: () => undefined };
  const report = () => ({ ...pipeline.report(), partitions: partitions(ms / 1_000) });
  await pollLogEnds({ logRanges }, { ...pipeline, report }, clock, ending.signal);
  return Object.fromEntries(asked);
}

const of = (topic: string, partition: number, logEndAgeMs: number): PartitionReport => ({
  ...{ topic, partition, logEndAgeMs, nextOffset: 0n, lag: 0n },
});

test('a topic whose logs fetches show is asked about once in 20 s', async () => {
  const asked = await askedAt(() => [of('fetched', 0, 900), of('fetched', 1, 2_200), of('stuck', 0, 2_400)]);
  expect(asked).toEqual({
    fetched: [0, 20, 40, 60],
    stuck: Array.from({ length: 16 }, (_, nth) => nth * 4),
  });
});

test('a topic is asked about while one of its partitions is not shown by a fetch', async () => {
  const asked = await askedAt((seconds) => [of('orders', 0, 500), of('orders', 1, seconds < 9 ? 3_000 : 500)]);
  expect(asked).toEqual({ orders: [0, 4, 8, 28, 48] });
});

test('a topic of which a partition awaits the end of its log is asked about again and again', async () => {
  const awaiting = { ...of('orders', 0, 0), lag: null, awaits: 'log end' } as const;
  const asked = await askedAt((seconds) => [seconds < 0.25 ? awaiting : of('orders', 0, 0)]);
  expect(asked).toEqual({ orders: [0, 0.1, 0.2, expect.any(Number), expect.any(Number)] });
});
