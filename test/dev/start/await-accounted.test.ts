import { describe, expect, it } from '@jest/globals';
import { awaitAccounted } from '../../../dev/start/await-accounted.ts';
import type { Positions } from '../../../dev/verdict/positions.ts';

const ends = new Map([
  [0, 5n],
  [1, 3n],
]);

/** Answers with the given positions one after the other, and with the last one for ever. */
function reading(...answers: readonly (readonly [bigint, bigint])[]): () => Promise<Positions> {
  let asked = 0;
  return async () => {
    const [a, b] = answers[Math.min(asked, answers.length - 1)] ?? [0n, 0n];
    asked += 1;
    const next = new Map([
      [0, a],
      [1, b],
    ]);
    return {
      next,
      start: new Map([
        [0, 0n],
        [1, 0n],
      ]),
      end: ends,
      deadLetters: 0n,
    };
  };
}

describe('waiting until all is accounted for', () => {
  it('ends well when every partition has reached its end', async () => {
    const finding = await awaitAccounted(ends, reading([0n, 0n], [5n, 2n], [5n, 4n]), () => true);
    expect(finding).toMatchObject({ expected: '2', found: '2', isWell: true, details: [] });
  });

  it('gives up without progress and names the partitions that are behind', async () => {
    const finding = await awaitAccounted(ends, reading([1n, 1n], [5n, 2n]), () => true, 50);
    expect(finding).toMatchObject({ expected: '2', found: '1', isWell: false });
    expect(finding.details).toEqual(['no progress for 0.05 s', 'partition 1: stored position 2, log end 3']);
  });

  it('gives up at once when the consumer has ended', async () => {
    const finding = await awaitAccounted(ends, reading([0n, 3n]), () => false);
    expect(finding.details).toEqual(['the consumer has ended', 'partition 0: stored position 0, log end 5']);
  });
});
