import { isUtf8 } from 'node:buffer';
import { expect } from '@jest/globals';
import { type JsonSlice, sentJson } from '../../../app/tables/json/json-slice.ts';

/** Numbers below `most`, the same in each run. */
export function numbers(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
}

/** A few bytes are others, or the end is missing. */
export function mutated(bytes: Buffer, below: (most: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let left = 1 + below(3); left > 0; left -= 1) {
    copy[below(copy.length)] = below(4) === 0 ? 255 : below(256);
  }
  return below(4) === 0 ? copy.subarray(0, below(copy.length)) : copy;
}

/** What no bytes may lead to: JSON that is none, text that is not UTF-8, memory of others. */
export function requireSound(slice: JsonSlice): void {
  const { bytes, start, end, kind } = slice;
  expect(start >= 0 && start <= end && end <= bytes.length).toBe(true);
  if (kind === 'text') {
    expect(isUtf8(bytes.subarray(start, end))).toBe(true);
  } else {
    JSON.parse(sentJson(slice));
  }
}
