import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { DiskSpace } from '../../../../app/metrics/process/process.ts';

test('there is no series before the first answer, and then the size of the file system', async () => {
  const disk = new DiskSpace(tmpdir());
  expect([...disk.sources.diskFree(), ...disk.sources.diskTotal()]).toEqual([]);
  await disk.refresh();
  const { blocks, bsize } = await statfs(tmpdir());
  expect(disk.sources.diskTotal()).toEqual([{ labels: { path: tmpdir() }, value: blocks * bsize }]);
  const [free] = disk.sources.diskFree();
  expect(free?.value).toBeGreaterThan(0);
  expect(free?.value).toBeLessThan(blocks * bsize);
});

test('a path that does not exist has no series', async () => {
  const disk = new DiskSpace('/nowhere/at/all');
  await disk.refresh();
  expect(disk.sources.diskTotal()).toEqual([]);
});
