import { describe, expect, test } from '@jest/globals';
import { type Selection, selectedRanges } from '../../../app/kafka/topic-reader.ts';

/** `partition/first-last` of what is selected of logs from one offset up to another. */
const selected = (logs: readonly (readonly [start: number, end: number])[], selection: Selection): string[] =>
  selectedRanges(
    logs.map(([start, end], partition) => ({ topic: 'orders', partition, start: BigInt(start), end: BigInt(end) })),
    selection,
  ).map(({ partition, start, end }) => `${partition}/${start}-${end - 1n}`);

describe('the offsets that are read of a topic', () => {
  test.each<[Selection, string[]]>([
    [{ from: 'latest', count: 10 }, ['0/95-99', '1/45-49']],
    [{ from: 'earliest', count: 10 }, ['0/0-4', '1/10-14']],
    [{ from: 'latest', count: 3 }, ['0/99-99', '1/48-49']],
    [{ from: 'latest', count: 1 }, ['1/49-49']],
    [{ from: 47n, count: 10 }, ['0/47-53', '1/47-49']],
    [{ from: 99n, count: 10 }, ['0/99-99']],
    [{ from: 500n, count: 10 }, []],
    [{ from: 'earliest', count: 1_000 }, ['0/0-99', '1/10-49']],
  ])('%j', (selection, expected) => {
    const logs = [
      [0, 100],
      [10, 50],
      [7, 7],
    ] as const;
    expect(selected(logs, selection)).toEqual(expected);
  });

  test('are none of a topic without records', () => {
    expect(selected([[5, 5]], { from: 'latest', count: 10 })).toEqual([]);
  });
});
