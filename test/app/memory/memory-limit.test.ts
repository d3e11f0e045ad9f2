import { totalmem } from 'node:os';
import { afterEach, expect, jest, test } from '@jest/globals';
import { batchRoom } from '../../../app/kafka/fetch/batch-memory.ts';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { memoryLimit } from '../../../app/memory/memory-limit.ts';
import { memorySources } from '../../../app/metrics/process/runtime.ts';
import { answerLimit } from '../../../app/network/invalid-answer.ts';

const MEBIBYTE = 2 ** 20;

afterEach(() => void jest.restoreAllMocks());

test.each([
  ['that of its control group', 256 * MEBIBYTE, 256 * MEBIBYTE],
  ['none where there is no control group', 0, null],
  ['none where the control group has none', 2 ** 63, null],
  ['none where the control group may have more than the machine', 16_384 * MEBIBYTE, null],
])('the memory limit of a process is %s', (_, constrained, limit) => {
  expect(memoryLimit(constrained, 8_192 * MEBIBYTE)).toBe(limit);
});

/** Everything that depends on the memory limit. */
function bounds(constrained: number) {
  jest.spyOn(process, 'constrainedMemory').mockReturnValue(constrained);
  const native = memorySources.memoryMax().find(({ labels }) => labels['id'] === 'native')?.value;
  return { budget: new MemoryBudget().bytesUnderWay, answer: answerLimit(), batch: batchRoom(), native };
}

test('a control group with more than the machine has limits nothing, alike for all that depends on the limit', () => {
  const without = bounds(0);
  for (const constrained of [totalmem(), 2 * totalmem(), 2 ** 63]) {
    expect(bounds(constrained)).toEqual(without);
  }
  expect(bounds(256 * MEBIBYTE)).toEqual({
    budget: 8 * MEBIBYTE,
    answer: 128 * MEBIBYTE,
    batch: { heapBytes: expect.any(Number), bytes: 192 * MEBIBYTE },
    native: 256 * MEBIBYTE,
  });
});
