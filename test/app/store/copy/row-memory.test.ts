import { expect, test } from '@jest/globals';
import { inFewPieces, type Memory, RowMemory } from '../../../../app/store/copy/row-memory.ts';

const MEBIBYTE = 2 ** 20;

/** What some work took. */
async function taken(memory: RowMemory, ...sizes: readonly number[]): Promise<readonly Buffer[]> {
  return memory.during(async ({ take }: Memory) => sizes.map((size) => take(size)));
}

test('what a transaction took is used again when it ended well, and has the size that is asked for', async () => {
  const memory = new RowMemory();
  const [first] = await taken(memory, MEBIBYTE);
  const [second, third] = await taken(memory, MEBIBYTE - 5, MEBIBYTE);
  expect(first?.length).toBeGreaterThanOrEqual(MEBIBYTE);
  expect(second?.buffer).toBe(first?.buffer);
  expect(third?.buffer).not.toBe(first?.buffer);
});

test('nothing is used again of a transaction that failed, whose rows may still be on their way', async () => {
  const memory = new RowMemory();
  const lost: Buffer[] = [];
  const failing = memory.during(async ({ take }) => {
    lost.push(take(MEBIBYTE));
    throw new Error('the connection was cut');
  });
  await expect(failing).rejects.toThrow('cut');
  expect((await taken(memory, MEBIBYTE))[0]?.buffer).not.toBe(lost[0]?.buffer);
});

test('two transactions at the same time share nothing', async () => {
  const memory = new RowMemory();
  await taken(memory, MEBIBYTE);
  const [one, other] = await Promise.all([taken(memory, MEBIBYTE), taken(memory, MEBIBYTE)]);
  expect(one[0]?.buffer).not.toBe(other[0]?.buffer);
});

test('what is more than two transactions take is not kept', async () => {
  const memory = new RowMemory();
  const [large] = await taken(memory, 9 * MEBIBYTE);
  expect((await taken(memory, 9 * MEBIBYTE))[0]?.buffer).not.toBe(large?.buffer);
});

test('small pieces of a transaction are parts of one that is used again, and share no byte', async () => {
  const memory = new RowMemory();
  const sizes = Array.from({ length: 40 }, (_, nth) => 100 * nth);
  const first = await taken(memory, ...sizes);
  const before = first.map((piece, nth) => piece.fill(nth).toString('hex'));
  expect(first.map(({ length }) => length)).toEqual(sizes);
  expect(first.map((piece) => piece.toString('hex'))).toEqual(before);
  const places = new Set(first.slice(1).map(({ buffer }) => buffer));
  expect(places.size).toBe(2);
  const again = await taken(memory, ...sizes);
  expect(again.slice(1).every(({ buffer }) => places.has(buffer))).toBe(true);
});

test('small pieces of a transaction that failed are not used again either', async () => {
  const memory = new RowMemory();
  const lost: Buffer[] = [];
  const failing = memory.during(async ({ take }) => {
    lost.push(take(100));
    throw new Error('the connection was cut');
  });
  await expect(failing).rejects.toThrow('cut');
  expect((await taken(memory, 100))[0]?.buffer).not.toBe(lost[0]?.buffer);
});

test('small pieces next to each other become one, and large ones stay what they are', async () => {
  const pieces = [10, 20_000, 100, 200, 300, 40_000, 50].map((size, nth) => Buffer.alloc(size, nth));
  const joined = await new RowMemory().during(async (memory) => inFewPieces(pieces, memory));
  expect(joined.map(({ length }) => length)).toEqual([10, 20_000, 600, 40_000, 50]);
  expect(Buffer.concat(joined).equals(Buffer.concat(pieces))).toBe(true);
  expect([joined[1], joined[3]].map((piece) => piece?.buffer)).toEqual(
    [pieces[1], pieces[5]].map((piece) => piece?.buffer),
  );
});
