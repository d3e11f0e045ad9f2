import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { pollLogEnds } from '../../../app/stream/partition/lag.ts';
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
    observeLog: ({ topic }: LogRange) => {
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
  const observeLog = (range: LogRange) => {
    listeners = Math.max(listeners, getEventListeners(ending.signal, 'abort').length);
    pipeline.observeLog(range);
  };
  const clock: Clock = { ...systemClock, wait };
  await pollLogEnds({ logRanges }, { ...pipeline, observeLog }, clock, ending.signal);
  expect(listeners).toBe(1);
});
