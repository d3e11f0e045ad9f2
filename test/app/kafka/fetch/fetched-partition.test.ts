import { expect, test } from '@jest/globals';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';

test('a log is shown for its lag at once, and again a second later at the earliest', () => {
  const partition = new FetchedPartition({ topic: 'orders', partition: 0 }, new FetchedTopic('orders'));
  const shown = [0, 500, 999, 1_000, 1_999, 2_500].filter((now) => partition.isLookDue(now));
  expect(shown).toEqual([0, 1_000, 2_500]);
});
