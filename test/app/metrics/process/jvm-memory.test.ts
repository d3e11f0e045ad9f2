import { totalmem } from 'node:os';
import { expect, jest, test } from '@jest/globals';
import type { Sample } from '../../../../app/metrics/exposition/metric-source.ts';
import { memorySources } from '../../../../app/metrics/process/runtime.ts';

const total = (samples: readonly Sample[], area: string) =>
  samples.filter(({ labels }) => labels['area'] === area).reduce((sum, { value }) => sum + value, 0);

/** Readings of a scrape are kept until the next microtask. */
const nextScrape = () => Promise.resolve();

const ids = (samples: readonly Sample[]) => samples.map(({ labels }) => `${labels['area']}/${labels['id']}`);

test("used heap is the heap that V8 says it uses, by V8's spaces", () => {
  const used = memorySources.memoryUsed();
  expect(ids(used)).toEqual(expect.arrayContaining(['heap/new_space', 'heap/old_space', 'nonheap/native']));
  const { heapUsed } = process.memoryUsage();
  expect(total(used, 'heap')).toBeGreaterThan(heapUsed / 2);
  expect(total(used, 'heap')).toBeLessThan(heapUsed * 2);
});

test('buffers outside the heap are counted as nonheap', async () => {
  const arrayBuffers = () =>
    memorySources.memoryUsed().find(({ labels }) => labels['id'] === 'array_buffers')?.value ?? 0;
  const before = arrayBuffers();
  await nextScrape();
  const buffer = new ArrayBuffer(64 * 1024 * 1024);
  expect(arrayBuffers() - before).toBeGreaterThan(buffer.byteLength / 2);
});

test('used, committed and greatest memory have the same series', () => {
  const { memoryUsed, memoryCommitted, memoryMax } = memorySources;
  expect(ids(memoryCommitted())).toEqual(ids(memoryUsed()));
  expect(ids(memoryMax())).toEqual(ids(memoryUsed()));
});

test.each(['heap', 'nonheap'])('one id of the area %s carries its limit, and the others say -1', (area) => {
  const limits = memorySources.memoryMax().filter(({ labels }) => labels['area'] === area);
  expect(limits.filter(({ value }) => value > 0)).toHaveLength(1);
  expect(limits.filter(({ value }) => value === -1)).toHaveLength(limits.length - 1);
});

test('each area uses some of its limit and no more: what dashboards show as a share of it', () => {
  for (const area of ['heap', 'nonheap']) {
    const share = total(memorySources.memoryUsed(), area) / total(memorySources.memoryMax(), area);
    expect([area, share > 0 && share < 1]).toEqual([area, true]);
  }
});

test.each([
  ['a limit of the container is the limit', 512 * 2 ** 20, 512 * 2 ** 20],
  ['no container (0) leaves the memory of the machine', 0, totalmem()],
  ['a container without a limit (2^64) leaves the memory of the machine', 2 ** 64, totalmem()],
])('%s', (_what, constrained, limit) => {
  const asked = jest.spyOn(process, 'constrainedMemory').mockReturnValue(constrained);
  const native = memorySources.memoryMax().find(({ labels }) => labels['id'] === 'native');
  asked.mockRestore();
  expect(native?.value).toBe(limit);
});

test('heap and the rest of the process together are about the resident memory', () => {
  const [resident] = memorySources.residentMemory();
  const committed = memorySources.memoryCommitted();
  const sum = total(committed, 'heap') + total(committed, 'nonheap');
  expect(Math.abs(sum - (resident?.value ?? 0))).toBeLessThan((resident?.value ?? 0) / 2);
});
