import { expect, test } from '@jest/globals';
import { sendCommitHints } from '../../../app/stream/commit-hints.ts';
import type { Position } from '../../../app/stream/record-source.ts';

const at = (...offsets: readonly bigint[]): Position[] =>
  offsets.map((offset, partition) => ({ topic: 'orders', partition, offset }));

/** The hints that are given while the positions are, one after the other, these; a hint fails where `fails` says so. */
async function hintsFor(rounds: readonly Position[][], fails: (hint: number) => boolean = () => false) {
  const ending = new AbortController();
  const hints: (readonly Position[])[] = [];
  let round = -1;
  const clock = {
    now: () => new Date(0),
    steady: () => new Date(0),
    wait: async () => {
      round += 1;
      if (round === rounds.length - 1) ending.abort();
    },
  };
  const source = {
    commitHint: async (positions: readonly Position[]) => {
      hints.push(positions);
      if (fails(hints.length)) throw new Error('the group is rebalancing');
    },
  };
  await sendCommitHints(source, { positions: () => rounds[round] ?? [] }, clock, ending.signal);
  return hints;
}

test('Kafka is told where PostgreSQL stands, and then only what moved', async () => {
  expect(await hintsFor([at(1n, 5n), at(1n, 5n), at(1n, 7n)])).toEqual([at(1n, 5n), at(1n, 7n).slice(1)]);
});

test('a hint that failed is given again, with what moved meanwhile', async () => {
  expect(await hintsFor([at(1n), at(2n), at(2n)], (hint) => hint === 1)).toEqual([at(1n), at(2n)]);
});

test('a partition that was lost and is owned again is told anew', async () => {
  expect(await hintsFor([at(1n), [], at(1n)])).toEqual([at(1n), at(1n)]);
});
