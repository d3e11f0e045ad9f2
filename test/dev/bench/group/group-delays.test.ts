import { describe, expect, test } from '@jest/globals';
import { groupDelays } from '../../../../dev/bench/group/group-delays.ts';

const WINDOW = { from: 10_000, to: 20_000 };

/** A record of a partition in each 100 ms of a stretch, committed after 10 ms. */
const steady = (partition: number, from: number, to: number) =>
  Array.from({ length: (to - from) / 100 }, (_, nth) => {
    const producedAt = from + nth * 100;
    return { partition, producedAt, committedAt: producedAt + 10 };
  });

describe('the delays of the records while members of a group come and go', () => {
  test('are those of the records of the window alone', () => {
    const records = [...steady(0, 0, 30_000), { partition: 0, producedAt: 2_000, committedAt: 9_000 }];
    expect(groupDelays(records, WINDOW)).toEqual({
      p99: 0.01,
      longest: 0.01,
      stalledPartitions: 0,
      stalledSeconds: 0,
      records: 101,
    });
  });

  test('count the records that waited when it began, and those that waited beyond its end', () => {
    const waited = [
      { partition: 0, producedAt: 8_000, committedAt: 10_500 },
      { partition: 0, producedAt: 19_500, committedAt: 23_500 },
    ];
    const { longest, records } = groupDelays([...steady(0, 0, 30_000), ...waited], WINDOW);
    expect([longest, records]).toEqual([4, 103]);
  });

  test('have a 99th percentile that one record in a hundred is above', () => {
    const records = Array.from({ length: 200 }, (_, nth) => {
      const producedAt = WINDOW.from + nth;
      return { partition: 0, producedAt, committedAt: producedAt + nth + 1 };
    });
    expect(groupDelays(records, WINDOW)).toMatchObject({ p99: 0.198, longest: 0.2, records: 200 });
  });

  test('sum up by how much each partition was without a commit for more than a second', () => {
    const records = [
      // From 11,910 to 15,010: 2.1 s beyond the second.
      ...[...steady(0, 0, 12_000), ...steady(0, 15_000, 30_000)],
      // Twice: from 9,910, before the window, to 11,510, and from 18,910 to beyond its end.
      ...[...steady(1, 0, 10_000), ...steady(1, 11_500, 19_000), ...steady(1, 21_000, 30_000)],
      // One second, and not more.
      ...[...steady(2, 0, 12_000), ...steady(2, 12_900, 30_000)],
    ];
    const { stalledPartitions, stalledSeconds } = groupDelays(records, WINDOW);
    expect(stalledPartitions).toBe(2);
    expect(stalledSeconds).toBeCloseTo(2.1 + 0.6 + 0.09, 5);
  });

  test('are not known where no record was written', () => {
    expect(groupDelays([], WINDOW)).toMatchObject({ p99: Number.NaN, longest: Number.NaN, records: 0 });
  });
});
