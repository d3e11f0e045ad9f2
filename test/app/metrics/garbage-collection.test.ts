import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from '@jest/globals';
import { GarbageCollection } from '../../../app/metrics/garbage-collection.ts';

const collection = new GarbageCollection();

afterEach(() => collection.stop());

const totalCount = () => collection.sources.gcPause().reduce((sum, { count = 0 }) => sum + count, 0);

/** Resolves once Node has reported a collection to its observers. */
function nextCollection(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new PerformanceObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe({ entryTypes: ['gc'] });
  });
}

test('every kind of pause is there with count 0 before the first, and counts from the start on', async () => {
  expect(collection.sources.gcPause()).toHaveLength(4);
  expect(totalCount()).toBe(0);
  expect(collection.sources.gcPauseMax().map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  collection.start();
  setFlagsFromString('--expose-gc');
  const seen = nextCollection();
  runInNewContext('gc')();
  await seen;
  const major = ({ labels }: { labels: Readonly<Record<string, string>> }) => labels['cause'] === 'mark sweep compact';
  const pause = collection.sources.gcPause().find(major);
  const longest = collection.sources.gcPauseMax().find(major)?.value ?? 0;
  expect(pause?.count).toBeGreaterThan(0);
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(10);
  expect(pause?.value).toBeGreaterThanOrEqual(longest);
});
