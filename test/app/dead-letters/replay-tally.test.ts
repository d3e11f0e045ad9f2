import { describe, expect, test } from '@jest/globals';
import type { ReplayOutcome } from '../../../app/dead-letters/dead-letters-replay.ts';
import { ReplayTally } from '../../../app/dead-letters/replay-tally.ts';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';

const outcome = (kind: ReplayOutcome['kind'], reason: DeadLetterReason = 'invalid_json'): ReplayOutcome => ({
  kind,
  letter: { groupId: 'g', topic: 't', partition: 0, offset: 0n, reason, error: 'e', failedAt: new Date(0) },
});

function tallyOf(outcomes: readonly ReplayOutcome[], isDryRun = false): ReplayTally {
  const tally = new ReplayTally(1_234, isDryRun);
  for (const each of outcomes) {
    tally.add(each);
  }
  return tally;
}

describe('the summary of a replay', () => {
  test('counts what was moved', () => {
    const tally = tallyOf([outcome('moved'), outcome('moved')]);
    expect(tally.summary()).toBe('2 of 1,234 dead letters, 2 moved');
    expect(tally.isClean).toBe(true);
  });

  test('counts what stayed by its reason, the most frequent first', () => {
    const tally = tallyOf([
      outcome('moved'),
      outcome('refused', 'key_not_text'),
      outcome('refused'),
      outcome('refused'),
      outcome('present'),
    ]);
    expect(tally.summary()).toBe(
      '5 of 1,234 dead letters, 1 moved, 3 still refused (2 invalid_json, 1 key_not_text), 1 in records already',
    );
    expect(tally.isClean).toBe(false);
  });

  test('of a dry run says that nothing was changed', () => {
    expect(tallyOf([outcome('moved')], true).summary()).toBe(
      '1 of 1,234 dead letters, 1 would be moved; nothing was changed (--dry-run)',
    );
  });
});

test.each(['refused', 'present'] as const)('a letter that is %s is one that stayed', (kind) => {
  expect(tallyOf([outcome('moved'), outcome(kind)]).isClean).toBe(false);
});
