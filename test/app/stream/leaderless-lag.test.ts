import { beforeEach, expect, test } from '@jest/globals';
import { PartitionProgress } from '../../../app/stream/partition/lag.ts';
import { PARTITION } from './records.ts';

const STALL_MS = 5_000;
const NEXT = 10n;
const millisecond = (ms: number): Date => new Date(ms);

let progress: PartitionProgress;

beforeEach(() => {
  progress = new PartitionProgress(STALL_MS, millisecond(0));
  progress.opened(NEXT, millisecond(0));
});

const lookAt = (ms: number) => progress.looked({ ...PARTITION, start: 0n, end: 30n }, NEXT, millisecond(ms));
const reportAt = (ms: number, nextOffset: bigint | null = NEXT) =>
  progress.report({ nextOffset, isSought: false }, undefined, millisecond(ms), millisecond(ms));
const lookWithout = (ms: number, isWriting = false) => progress.lookedWithoutLeader(isWriting, millisecond(ms));

test('a partition without a leader has no lag, awaits nothing and is no stall, and its time begins anew after it', () => {
  lookAt(0);
  for (let ms = 1_000; ms <= 100_000; ms += 3_000) {
    lookWithout(ms);
    const report = reportAt(ms + 3_000);
    expect(report).toMatchObject({ lag: null, behindSince: null, leaderlessSince: millisecond(1_000) });
    expect(report).not.toHaveProperty('awaits');
    expect(report).not.toHaveProperty('stalledSince');
  }
  lookAt(103_000);
  expect(reportAt(103_000)).toMatchObject({ lag: 20n });
  expect(reportAt(103_000)).not.toHaveProperty('leaderlessSince');
  expect(reportAt(100_000 + STALL_MS)).not.toHaveProperty('stalledSince');
  expect(reportAt(100_001 + STALL_MS)).toMatchObject({ stalledSince: millisecond(100_000) });
});

test('without a leader a position that was not read yet is awaited only once the brokers are silent', () => {
  lookWithout(0);
  expect(reportAt(15_000, null)).toMatchObject({ leaderlessSince: millisecond(0) });
  expect(reportAt(15_000, null)).not.toHaveProperty('awaits');
  expect(reportAt(15_001, null)).toMatchObject({ awaits: 'stored offset' });
});

test('the lack of a leader excuses no silence of the brokers', () => {
  lookWithout(0);
  expect(reportAt(15_000)).not.toHaveProperty('stalledSince');
  expect(reportAt(15_001)).toMatchObject({ lag: null, logEndAgeMs: 15_001, stalledSince: millisecond(0) });
  expect(reportAt(15_001)).not.toHaveProperty('leaderlessSince');
});

test('the lack of a leader excuses no write that does not end', () => {
  lookAt(0);
  lookWithout(1_000, true);
  lookWithout(STALL_MS, true);
  expect(reportAt(STALL_MS + 1)).toMatchObject({ stalledSince: millisecond(0), leaderlessSince: millisecond(1_000) });
});
