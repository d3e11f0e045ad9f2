import { expect, test } from '@jest/globals';
import {
  countOfText,
  countText,
  durationText,
  momentText,
  rateText,
  sinceText,
} from '../../../../app/management/page/markup.ts';

const NOW = new Date('2026-11-26T00:03:05Z');

test.each([
  [0, '< 1 s'],
  [-5_000, '< 1 s'],
  [999, '< 1 s'],
  [12_900, '12 s'],
  [60_000, '1 min'],
  [61_000, '1 min 1 s'],
  [7_205_000, '2 h'],
  [93_600_000, '1 d 2 h'],
])('%i ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [0, '0'],
  [0.04, '< 0.1'],
  [0.1, '0.1'],
  [12.34, '12.3'],
  [1_234.5, '1,235'],
])('%d a second is %s', (rate, text) => {
  expect(rateText(rate)).toBe(text);
});

test('counts are grouped, also those beyond what a number holds', () => {
  expect(countText(9_007_199_254_740_993n)).toBe('9,007,199,254,740,993');
  expect([countOfText(1, 'partition'), countOfText(1_000, 'partition')]).toEqual(['1 partition', '1,000 partitions']);
});

test('a moment of today has its time alone, another one its day, too', () => {
  expect(momentText(new Date('2026-11-26T00:00:05.678Z'), NOW).text).toBe(
    '<time datetime="2026-11-26T00:00:05.678Z">00:00:05 UTC</time>',
  );
  expect(sinceText(new Date('2026-11-25T23:59:05Z'), NOW).text).toBe(
    'since <time datetime="2026-11-25T23:59:05.000Z">2026-11-25 23:59:05 UTC</time> (4 min)',
  );
});
