import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from '@jest/globals';
import {
  type Collection,
  GarbageCollection,
  HeapActivity,
  type HeapMoment,
} from '../../../../app/metrics/process/jvm-gc.ts';

const garbageCollection = new GarbageCollection();

afterEach(() => garbageCollection.stop());

const totalCount = () => garbageCollection.sources.gcPause().reduce((sum, { count = 0 }) => sum + count, 0);

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
  expect(garbageCollection.sources.gcPause()).toHaveLength(4);
  expect(totalCount()).toBe(0);
  expect(garbageCollection.sources.gcPauseMax().map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  garbageCollection.start();
  setFlagsFromString('--expose-gc');
  const seen = nextCollection();
  runInNewContext('gc')();
  await seen;
  const major = ({ labels }: { labels: Readonly<Record<string, string>> }) => labels['cause'] === 'mark sweep compact';
  const pause = garbageCollection.sources.gcPause().find(major);
  const longest = garbageCollection.sources.gcPauseMax().find(major)?.value ?? 0;
  expect(pause?.count).toBeGreaterThan(0);
  expect(longest).toBeGreaterThan(0);
  expect(pause?.value).toBeGreaterThanOrEqual(longest);
});

const heap = (young: number, old: number): HeapMoment => ({
  heapSpaceStatistics: [
    { spaceName: 'new_space', spaceUsedSize: young },
    { spaceName: 'old_space', spaceUsedSize: old },
    { spaceName: 'code_space', spaceUsedSize: 1_000_000 },
  ],
});

const collection = (gcType: string, beforeGC: HeapMoment, afterGC: HeapMoment): Collection => ({
  gcType,
  beforeGC,
  afterGC,
});

const value = (activity: HeapActivity, family: keyof HeapActivity['sources']) =>
  activity.sources[family]()[0]?.value ?? -1;

test('what the young spaces grew by between collections was allocated, what the old ones grew by in one was promoted', () => {
  const activity = new HeapActivity();
  activity.observe(collection('Scavenge', heap(0, 0), heap(0, 0)));
  const before = value(activity, 'gcAllocated');
  activity.observe(collection('Scavenge', heap(900, 0), heap(100, 300)));
  activity.observe(collection('Scavenge', heap(600, 300), heap(50, 350)));
  expect(value(activity, 'gcAllocated') - before).toBe(900 + 500);
  expect(value(activity, 'gcPromoted')).toBe(300 + 50);
});

test('neither ever falls: a full collection empties spaces', () => {
  const activity = new HeapActivity();
  activity.observe(collection('Scavenge', heap(900, 0), heap(100, 300)));
  const before = [value(activity, 'gcAllocated'), value(activity, 'gcPromoted')];
  activity.observe(collection('MarkSweepCompact', heap(0, 300), heap(0, 10)));
  expect([value(activity, 'gcAllocated'), value(activity, 'gcPromoted')]).toEqual(before);
});

test('live data is what a full collection leaves in the old spaces, and a share of the limit after each', () => {
  const activity = new HeapActivity();
  expect(value(activity, 'gcLiveData')).toBe(0);
  activity.observe(collection('MarkSweepCompact', heap(0, 9_000), heap(0, 4_000)));
  activity.observe(collection('Scavenge', heap(0, 4_000), heap(0, 5_000)));
  expect(value(activity, 'gcLiveData')).toBe(4_000);
  expect(value(activity, 'memoryAfterGc') * value(activity, 'gcMaxData')).toBeCloseTo(5_000);
});

test("what V8 tells has the shape that is read: a real collection's garbage was allocated before", () => {
  const activity = new HeapActivity();
  activity.start();
  const before = value(activity, 'gcAllocated');
  for (let round = 0; round < 200; round += 1) {
    Array.from({ length: 10_000 }, (_, index) => ({ index }));
  }
  activity.stop();
  expect(value(activity, 'gcAllocated') - before).toBeGreaterThan(10_000_000);
});
