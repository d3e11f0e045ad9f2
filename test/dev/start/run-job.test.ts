import { describe, expect, it } from '@jest/globals';
import { progressLine } from '../../../dev/start/run-job.ts';
import type { Positions } from '../../../dev/verdict/positions.ts';

const at = (next: [number, bigint][], deadLetters: bigint): Positions => ({
  next: new Map(next),
  start: new Map([
    [0, 100n],
    [1, 0n],
  ]),
  end: new Map([
    [0, 2_600n],
    [1, 50n],
  ]),
  deadLetters,
});

describe('the line of progress', () => {
  it('counts what came after the first look, dead letters apart, and what is still to come', () => {
    const first = at([[1, 10n]], 2n);
    const now = at(
      [
        [0, 1_600n],
        [1, 30n],
      ],
      7n,
    );
    expect(progressLine(2_540, first, now)).toBe('produced 2,540   in the table 1,515   dead letters 5   lag 1,020');
  });
});
