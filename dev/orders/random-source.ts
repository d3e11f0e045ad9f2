/** Numbers that look random and are always the same for the same seed and index. */
export interface RandomSource {
  /** A whole number from 0 up to but without `limit`. */
  below(limit: number): number;
}

/** Odd constants of the mixing functions "splitmix32" and "mulberry32", which are in the public domain. */
const GOLDEN_RATIO = 0x9e3779b9;
const MIX = [0x85ebca6b, 0xc2b2ae35] as const;
const STEP = 0x6d2b79f5;

/** Another source for each index, so that record 1,000,000 needs none of those before it. */
export function randomSource(seed: number, index: number): RandomSource {
  let state = scramble(seed ^ scramble(index + GOLDEN_RATIO));
  return {
    below: (limit) => {
      state = (state + STEP) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}

function scramble(value: number): number {
  let mixed = value | 0;
  for (const factor of MIX) {
    mixed = Math.imul(mixed ^ (mixed >>> 16), factor);
  }
  return mixed ^ (mixed >>> 16);
}

/** One of the words; none where there is none. */
export const pick = (random: RandomSource, from: readonly string[]): string => from[random.below(from.length)] ?? '';
