import { expect, test } from '@jest/globals';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { sendCommitHints } from '../../../app/stream/stored-positions.ts';
import { milliseconds } from '../../../settings/schema/duration.ts';
import { MOST_LINGER } from '../../../settings/sections/kafka.ts';

const at = (...offsets: readonly bigint[]): Position[] =>
  offsets.map((offset, partition) => ({ topic: 'orders', partition, offset }));

/**
 * The hints that are given while the positions are, one after the other, these; a hint fails where `fails` says so. A
 * generation begins before each round that `begins` names.
 */
async function hintsFor(
  rounds: readonly Position[][],
  fails: (hint: number) => boolean = () => false,
  begins: readonly number[] = [],
) {
  const ending = new AbortController();
  const hints: (readonly Position[])[] = [];
  const waits: number[] = [];
  let round = -1;
  const clock = {
    now: () => new Date(0),
    steady: () => new Date(0),
    wait: async (ms: number) => {
      waits.push(ms);
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
  const pipeline = {
    get generation() {
      return begins.filter((begun) => begun <= round).length;
    },
    positions: () => rounds[round] ?? [],
  };
  await sendCommitHints(source, pipeline, clock, ending.signal);
  return { hints, waits };
}

test('Kafka is told where PostgreSQL stands, and then only what moved', async () => {
  const { hints } = await hintsFor([at(1n, 5n), at(1n, 5n), at(1n, 7n)]);
  expect(hints).toEqual([at(1n, 5n), at(1n, 7n).slice(1)]);
});

test('a hint that failed is given again, with what moved meanwhile', async () => {
  const { hints } = await hintsFor([at(1n), at(2n), at(2n)], (hint) => hint === 1);
  expect(hints).toEqual([at(1n), at(2n)]);
});

test('after each generation all are told once, moved or not', async () => {
  const { hints } = await hintsFor([at(1n, 5n), at(1n, 5n), at(1n, 6n), at(1n, 6n)], () => false, [0, 2]);
  expect(hints).toEqual([at(1n, 5n), at(1n, 6n)]);
});

test('what the broker refuses of a generation that is over is told in the next one', async () => {
  const { hints } = await hintsFor([at(1n), at(1n), at(1n)], (hint) => hint === 2, [0, 1]);
  expect(hints).toEqual([at(1n), at(1n), at(1n)]);
});

test('a partition that was lost and is owned again is told anew', async () => {
  const { hints } = await hintsFor([at(1n), [], at(1n)]);
  expect(hints).toEqual([at(1n), at(1n)]);
});

test('positions that move are a second old in Kafka at most, and no more than four hints a second tell them', async () => {
  const { hints, waits } = await hintsFor(Array.from({ length: 50 }, (_, round) => at(BigInt(round))));
  expect(hints).toHaveLength(50);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
});

test('hints that fail in a row are further and further apart, 5 s at most, and the first that succeeds ends that', async () => {
  const rounds = Array.from({ length: 12 }, (_, round) => at(BigInt(round)));
  const { waits } = await hintsFor(rounds, (hint) => hint < 10);
  expect(waits.slice(0, 1)).toEqual([250]);
  expect(waits[9]).toBeGreaterThanOrEqual(2_500);
  expect(waits[9]).toBeLessThanOrEqual(5_250);
  expect(waits.slice(10)).toEqual([250, 250]);
});

test('at rest nothing is sent, however long it lasts, and it is looked at once a second', async () => {
  const { hints, waits } = await hintsFor(Array.from({ length: 10_000 }, () => at(7n, 9n)));
  expect(hints).toEqual([at(7n, 9n)]);
  expect([new Set(waits.slice(0, 7)), new Set(waits.slice(7))]).toEqual([new Set([250]), new Set([1_000])]);
});

test('what moves after a rest is hinted four times a second again', async () => {
  const rest = Array.from({ length: 8 }, () => at(1n));
  const { waits } = await hintsFor([...rest, at(2n), at(3n), at(4n)]);
  expect(waits.slice(-4)).toEqual([1_000, 1_000, 250, 250]);
});

test('positions that move once in the longest linger are hinted 250 ms later at most', async () => {
  const looks = milliseconds(MOST_LINGER) / 250;
  const { waits } = await hintsFor(Array.from({ length: 50 }, (_, look) => at(BigInt(Math.floor(look / looks)))));
  expect(new Set(waits)).toEqual(new Set([250]));
});
