import { expect, test } from '@jest/globals';
import { type Memory, RowMemory } from '../../../app/store/row-memory.ts';

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
