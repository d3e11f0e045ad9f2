import { expect, test } from '@jest/globals';
import { findPosition } from '../../../app/stream/positions.ts';
import type { LogRange } from '../../../app/stream/record-source.ts';
import { PARTITION } from './records.ts';

/** A clock that goes on by what is waited, and no faster; but the time of day is set forward each time that it is read. */
function steppingClock() {
  let now = 0;
  let hours = 0;
  return {
    now: () => {
      hours += 1;
      return new Date(hours * 3_600_000);
    },
    steady: () => new Date(now),
    wait: async (ms: number) => {
      now += ms;
    },
  };
}

const ranged = (...ranges: (Pick<LogRange, 'start' | 'end'> | Error)[]) => ({
  asked: 0,
  async logRanges() {
    const range = ranges[Math.min(this.asked, ranges.length - 1)];
    this.asked += 1;
    if (range instanceof Error || range === undefined) {
      throw range;
    }
    return [{ ...PARTITION, ...range }];
  },
});

const position = { ...PARTITION, offset: 100n };
const never = new AbortController().signal;

test('a log that starts above the position has lost records: it says which, and where to go on', async () => {
  const waiting = findPosition(ranged({ start: 130n, end: 500n }), position, 'fail', steppingClock(), never);
  await expect(waiting).rejects.toMatchObject({ code: 'OFFSETS_GONE' });
  await expect(waiting).rejects.toThrow('30 offsets (100 to 129) were deleted');
});

test('where gaps are skipped, a log that starts above the position is read from its start', async () => {
  const found = findPosition(ranged({ start: 130n, end: 500n }), position, 'skip', steppingClock(), never);
  expect(await found).toBe(130n);
});

test('a log that ends below the position for 30 s is another topic of the same name', async () => {
  const source = ranged({ start: 0n, end: 20n });
  const waiting = findPosition(source, position, 'fail', steppingClock(), never);
  await expect(waiting).rejects.toMatchObject({ code: 'STORED_OFFSET_AHEAD' });
  expect(source.asked).toBeGreaterThan(25);
});

test('a log that looks too short only for a moment is waited for', async () => {
  await findPosition(
    ranged({ start: 0n, end: 20n }, { start: 0n, end: 100n }),
    position,
    'fail',
    steppingClock(),
    never,
  );
});

test('brokers that cannot answer say nothing about the log', async () => {
  await findPosition(ranged(new Error('away'), { start: 0n, end: 100n }), position, 'fail', steppingClock(), never);
});

test('a first reading after a long silence of the brokers is not the last of 30 s: it may be stale', async () => {
  const silence = Array.from({ length: 40 }, () => new Error('away'));
  const source = ranged(...silence, { start: 0n, end: 20n }, { start: 0n, end: 100n });
  expect(await findPosition(source, position, 'fail', steppingClock(), never)).toBe(100n);
});

test('an end of the assignment ends the waiting', async () => {
  await findPosition(ranged({ start: 0n, end: 20n }), position, 'fail', steppingClock(), AbortSignal.abort());
});
