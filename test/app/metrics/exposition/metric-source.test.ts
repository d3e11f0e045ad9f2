import { expect, test } from '@jest/globals';
import { oncePerScrape } from '../../../../app/metrics/exposition/metric-source.ts';

test('what is read at once is read once, and later anew', async () => {
  let reads = 0;
  const read = oncePerScrape(() => {
    reads += 1;
    return reads;
  });
  expect([read(), read(), read()]).toEqual([1, 1, 1]);
  await Promise.resolve();
  expect([read(), read()]).toEqual([2, 2]);
});
