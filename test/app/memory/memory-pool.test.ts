import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryPool } from '../../../app/memory/memory-pool.ts';

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
    fc.property(fc.array(fc.tuple(size, fc.boolean()), { maxLength: 30, size: 'max' }), (steps) => {
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

test('no more lies ready than it may; what was given back longest ago goes first', () => {
  const pool = new MemoryPool(4 * MEBIBYTE);
  const [one, three, last, tooLarge] = [1, 3, 1, 5].map((mebibytes) => pool.take(mebibytes * MEBIBYTE));
  for (const piece of [one, three, last, tooLarge]) {
    pool.giveBack(piece ?? Buffer.alloc(0));
  }
  expect(pool.take(5 * MEBIBYTE).buffer).not.toBe(tooLarge?.buffer);
  expect(pool.take(MEBIBYTE).buffer).toBe(last?.buffer);
  expect(pool.take(MEBIBYTE).buffer).not.toBe(one?.buffer);
  expect(pool.take(3 * MEBIBYTE).buffer).toBe(three?.buffer);
});

test('small pieces are used again when large ones had filled the pool before', () => {
  const pool = new MemoryPool(4 * MEBIBYTE);
  const large = Array.from({ length: 4 }, () => pool.take(MEBIBYTE));
  for (const piece of large) {
    pool.giveBack(piece);
  }
  const small = pool.take(16_384);
  pool.giveBack(small);
  expect(pool.take(16_384).buffer).toBe(small.buffer);
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
    expect(pool.take(MEBIBYTE).buffer).toBe(piece.buffer);
    pool.giveBack(piece);
    jest.advanceTimersByTime(4_000);
    expect(pool.take(MEBIBYTE).buffer).not.toBe(piece.buffer);
  } finally {
    jest.useRealTimers();
  }
});

test('what nobody asks for is given up beside others that are in use', () => {
  jest.useFakeTimers();
  try {
    const pool = new MemoryPool(4 * MEBIBYTE);
    const [large, small] = [pool.take(MEBIBYTE), pool.take(16_384)];
    pool.giveBack(large);
    pool.giveBack(small);
    for (let second = 0; second < 5; second += 1) {
      jest.advanceTimersByTime(1_000);
      pool.giveBack(pool.take(16_384));
    }
    expect(pool.take(MEBIBYTE).buffer).not.toBe(large.buffer);
    expect(pool.take(16_384).buffer).toBe(small.buffer);
  } finally {
    jest.useRealTimers();
  }
});

test('a piece is known by its bytes until it is given back', () => {
  const pool = new MemoryPool(4 * MEBIBYTE);
  const piece = pool.take(9_000);
  expect(pool.bytesOf(piece.subarray(5, 10))).toBe(16_384);
  pool.giveBack(piece);
  expect([pool.bytesOf(piece), pool.bytesOf(pool.take(1_000)), pool.bytesOf(Buffer.alloc(9_000))]).toEqual([0, 0, 0]);
});
