import { beforeEach, expect, test } from '@jest/globals';
import { PartitionProgress } from '../../../app/stream/lag.ts';
import { PARTITION } from './records.ts';

const STALL_MS = 5_000;
const NEXT = 10n;
const at = (ms: number): Date => new Date(ms);

let progress: PartitionProgress;

beforeEach(() => {
  progress = new PartitionProgress(STALL_MS, at(0));
  progress.opened(at(0));
});

const look = (ms: number, start = 0n) => progress.looked({ ...PARTITION, start, end: 30n }, NEXT, at(ms), at(ms));
const report = (ms: number) => progress.report(NEXT, undefined, at(ms), at(ms));

test('lag without a write for longer than the time-out is a stall, until something is written', () => {
  look(0);
  look(STALL_MS + 1);
  expect(report(STALL_MS + 1)).toMatchObject({ lag: 20n, stalledSince: at(0) });
  progress.written(at(STALL_MS + 2));
  expect(report(STALL_MS + 2)).not.toHaveProperty('stalledSince');
});

test('while the sink is away nothing is stalled, and the time begins anew when it is back', () => {
  look(0);
  look(STALL_MS + 1);
  progress.sinkIsAway();
  expect(report(STALL_MS + 1)).not.toHaveProperty('stalledSince');
  progress.sinkIsBack(at(STALL_MS + 2));
  expect(report(STALL_MS + 3)).not.toHaveProperty('stalledSince');
  expect(report(2 * STALL_MS + 3)).toMatchObject({ stalledSince: at(STALL_MS + 2) });
});

test('a sink that was never away excuses nothing', () => {
  look(0);
  look(STALL_MS + 1);
  progress.sinkIsBack(at(STALL_MS + 1));
  expect(report(STALL_MS + 1)).toMatchObject({ stalledSince: at(0) });
});

test('offsets that the log does not hold any more are no lag', () => {
  look(0, 25n);
  expect(report(0)).toMatchObject({ nextOffset: NEXT, lag: 5n });
});

test('without a stored position nothing is behind', () => {
  progress.looked({ ...PARTITION, start: 0n, end: 30n }, null, at(0), at(0));
  expect(progress.report(null, undefined, at(STALL_MS + 1), at(STALL_MS + 1))).toEqual({
    nextOffset: null,
    lag: null,
    behindSince: null,
  });
});
