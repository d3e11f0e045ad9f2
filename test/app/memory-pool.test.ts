import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryPool } from '../../app/memory-pool.ts';

const MEBIBYTE = 2 ** 20;

test('what was given back is used again for what fits into it, the smallest first', () => {
  const pool = new MemoryPool(8 * MEBIBYTE);
  const [large, small] = [pool.take(1.5 * MEBIBYTE), pool.take(MEBIBYTE)];
  pool.giveBack(large);
  pool.giveBack(small);
  expect(pool.take(MEBIBYTE - 5).buffer).toBe(small.buffer);
  expect(pool.take(MEBIBYTE).buffer).toBe(large.buffer);
  expect([large.buffer, small.buffer]).not.toContain(pool.take(MEBIBYTE).buffer);
});

test('a piece has as many bytes as asked for, and at most twice as many, new or used again', () => {
  const size = fc.integer({ min: 8_192, max: 3 * MEBIBYTE });
  fc.assert(
    fc.property(fc.array(fc.tuple(size, fc.boolean()), { maxLength: 30 }), (steps) => {
      const pool = new MemoryPool(8 * MEBIBYTE);
      for (const [bytes, isGivenBack] of steps) {
        const piece = pool.take(bytes);
        expect(piece.length).toBeGreaterThanOrEqual(bytes);
        expect(piece.length).toBeLessThanOrEqual(2 * bytes);
        if (isGivenBack) pool.giveBack(piece);
      }
    }),
    { numRuns: 50 },
  );
});

test('a part of a piece gives all of it back', () => {
  const pool = new MemoryPool(8 * MEBIBYTE);
  const piece = pool.take(MEBIBYTE);
  pool.giveBack(piece.subarray(8, 100));
  const again = pool.take(MEBIBYTE);
  expect(again.buffer).toBe(piece.buffer);
  expect(again.length).toBeGreaterThanOrEqual(MEBIBYTE);
});

test('what is given back twice is handed out once', () => {
  const pool = new MemoryPool(8 * MEBIBYTE);
  const piece = pool.take(MEBIBYTE);
  pool.giveBack(piece);
  pool.giveBack(piece);
  expect(pool.take(MEBIBYTE).buffer).toBe(piece.buffer);
  expect(pool.take(MEBIBYTE).buffer).not.toBe(piece.buffer);
});

test('memory that others may have is never handed out: small pieces, and what is no piece of it', () => {
  const pool = new MemoryPool(8 * MEBIBYTE);
  const [small, foreign] = [pool.take(1_000), Buffer.alloc(MEBIBYTE)];
  pool.giveBack(small);
  pool.giveBack(foreign);
  expect(small).toHaveLength(1_000);
  // Node.js shares out a slab of this size for small ones.
  expect(pool.take(Buffer.poolSize).buffer).not.toBe(small.buffer);
  expect(pool.take(1_000).fill(1).equals(small.fill(2))).toBe(false);
  expect(pool.take(MEBIBYTE).buffer).not.toBe(foreign.buffer);
});

test('no more lies ready than it may; of what would be too much the largest stays', () => {
  const pool = new MemoryPool(4 * MEBIBYTE);
  const [one, three, tooLarge] = [MEBIBYTE, 3.5 * MEBIBYTE, 5 * MEBIBYTE].map((size) => pool.take(size));
  for (const piece of [one, three, tooLarge]) {
    pool.giveBack(piece ?? Buffer.alloc(0));
  }
  expect(pool.take(5 * MEBIBYTE).buffer).not.toBe(tooLarge?.buffer);
  expect(pool.take(MEBIBYTE).buffer).not.toBe(one?.buffer);
  expect(pool.take(3.5 * MEBIBYTE).buffer).toBe(three?.buffer);
});

test('what nobody asks for is given up after some time', () => {
  jest.useFakeTimers();
  try {
    const pool = new MemoryPool(4 * MEBIBYTE);
    const piece = pool.take(MEBIBYTE);
    pool.giveBack(piece);
    jest.advanceTimersByTime(1_900);
    pool.giveBack(pool.take(MEBIBYTE));
    jest.advanceTimersByTime(1_900);
    pool.giveBack(pool.take(MEBIBYTE));
    jest.advanceTimersByTime(2_000);
    expect(pool.take(MEBIBYTE).buffer).not.toBe(piece.buffer);
  } finally {
    jest.useRealTimers();
  }
});
