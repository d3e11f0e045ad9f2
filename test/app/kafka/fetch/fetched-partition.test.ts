import { expect, test } from '@jest/globals';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';

test('a log is shown for its lag at once, and again a second later at the earliest', () => {
  const partition = new FetchedPartition({ topic: 'orders', partition: 0 }, new FetchedTopic('orders'));
  const shown = [0, 500, 999, 1_000, 1_999, 2_500].filter((now) => partition.isLookDue(now));
  expect(shown).toEqual([0, 1_000, 2_500]);
});

test('ends of the log are reported when they move, and again ten seconds later at the earliest', () => {
  const partition = new FetchedPartition({ topic: 'orders', partition: 0 }, new FetchedTopic('orders'));
  const looks: readonly (readonly [highWatermark: number, lastStableOffset: number, now: number])[] = [
    [5, 5, 0],
    [5, 5, 9_999],
    [5, 5, 10_000],
    [6, 5, 10_001],
    [6, 6, 10_002],
    [6, 6, 20_001],
    [6, 6, 20_002],
  ];
  expect(looks.filter((look) => partition.hasNewEnds(...look)).map(([, , now]) => now)).toEqual([
    0, 10_000, 10_001, 10_002, 20_002,
  ]);
});
