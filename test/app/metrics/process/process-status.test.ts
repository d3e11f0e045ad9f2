import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type ProcessStatus, processStatusSources } from '../../../../app/metrics/process/process-status.ts';

const threads = (states: Readonly<Record<string, string>>) =>
  Object.entries(states).map(([id, state]) => ({ id, state }));

const STATUS: ProcessStatus = {
  virtualMemory: 3_000,
  residentMemory: 2_000,
  swappedMemory: 1_000,
  openFiles: 21,
};

const THREADS = threads({ 1: 'R', 2: 'S', 3: 'S', 4: 'D', 5: 'I' });

const readings = { status: () => STATUS, threads: () => THREADS };

const first = (source: () => readonly { value: number }[]) => source()[0]?.value;

test('figures are those of the process, and threads are told apart by state', () => {
  const sources = processStatusSources(readings);
  const { processMemoryVss, processMemoryRss, processMemorySwap, filesOpen, processThreads } = sources;
  const figures = [processMemoryVss, processMemoryRss, processMemorySwap, filesOpen, processThreads].map(first);
  expect(figures).toEqual([3_000, 2_000, 1_000, 21, 5]);
  expect([first(sources.threadsLive), first(sources.threadsDaemon)]).toEqual([5, 4]);
  expect(Object.fromEntries(sources.threadsStates().map(({ labels, value }) => [labels['state'], value]))).toEqual({
    new: 0,
    runnable: 1,
    blocked: 1,
    waiting: 3,
    'timed-waiting': 0,
    terminated: 0,
  });
});

test('the peak stays when threads end, and each thread that was seen has started once', async () => {
  let known = THREADS;
  const sources = processStatusSources({ ...readings, threads: () => known });
  expect([first(sources.threadsPeak), first(sources.threadsStarted)]).toEqual([5, 5]);
  known = threads({ 1: 'R', 6: 'S' });
  await Promise.resolve();
  expect([first(sources.threadsLive), first(sources.threadsPeak), first(sources.threadsStarted)]).toEqual([2, 5, 6]);
});

test('where there is no /proc there are no series, and nothing is made up', () => {
  const { filesMax: _, ...sources } = processStatusSources({ status: () => null, threads: () => [] });
  for (const source of Object.values(sources)) {
    expect(source()).toEqual([]);
  }
});

(existsSync('/proc/self/status') ? test : test.skip)('the present process has threads, files and memory', () => {
  const sources = processStatusSources();
  const rss = process.memoryUsage.rss();
  expect(Math.abs((first(sources.processMemoryRss) ?? 0) - rss)).toBeLessThan(rss / 2);
  expect(first(sources.processMemoryVss)).toBeGreaterThan(rss);
  expect(first(sources.threadsLive)).toBeGreaterThan(4);
  expect(first(sources.filesOpen)).toBeGreaterThan(2);
  expect(first(sources.filesMax)).toBeGreaterThan(first(sources.filesOpen) ?? 0);
});
