import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { readAhead } from '../../../app/metrics/read-ahead.ts';

test('the first value is read when it is asked for, each further one when the scrape before is answered', async () => {
  let reads = 0;
  const read = readAhead(() => {
    reads += 1;
    return reads;
  });
  expect(reads).toBe(0);
  expect([read(), read(), read()]).toEqual([1, 1, 1]);
  expect(reads).toBe(1);
  await setImmediate();
  expect(reads).toBe(2);
  expect([read(), read()]).toEqual([2, 2]);
  expect(reads).toBe(2);
  await setImmediate();
  expect(read()).toBe(3);
});

test('what is older than a minute is read at once', async () => {
  let [reads, time] = [0, 0];
  const read = readAhead(
    () => {
      reads += 1;
      return reads;
    },
    () => time,
  );
  read();
  await setImmediate();
  time += 60_000;
  expect(read()).toBe(2);
  await setImmediate();
  time += 60_001;
  expect(read()).toBe(4);
});

test('nothing is read while nobody scrapes', async () => {
  let reads = 0;
  const read = readAhead(() => {
    reads += 1;
  });
  read();
  for (let turn = 0; turn < 5; turn += 1) {
    await setImmediate();
  }
  expect(reads).toBe(2);
});
