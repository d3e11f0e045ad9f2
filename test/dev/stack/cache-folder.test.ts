import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ExplainedError } from '../../../dev/run/explained-error.ts';
import { cached } from '../../../dev/stack/cache-folder.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

const isComplete = async (folder: string): Promise<boolean> => existsSync(join(folder, 'whole'));

/** An entry that counts how often it is filled. */
function entry(fill: (folder: string) => Promise<void> = (folder) => writeFile(join(folder, 'whole'), 'yes')) {
  const calls: string[] = [];
  const counted = (folder: string): Promise<void> => {
    calls.push(folder);
    return fill(folder);
  };
  return { calls, name: 'entry', isComplete, fill: counted };
}

describe('a cache entry', () => {
  test('is filled once and found afterwards', async () => {
    const cache = join(temporaryFolder(), 'not', 'there', 'yet');
    const counted = entry();
    expect(await cached(counted, cache)).toBe(join(cache, 'entry'));
    expect(await cached(counted, cache)).toBe(join(cache, 'entry'));
    expect(counted.calls).toHaveLength(1);
  });

  test('is made again when it is damaged', async () => {
    const cache = temporaryFolder();
    mkdirSync(join(cache, 'entry'));
    writeFileSync(join(cache, 'entry', 'half'), '');
    const folder = await cached(entry(), cache);
    expect(readdirSync(folder)).toEqual(['whole']);
  });

  test('does not exist, and leaves nothing behind, when filling it fails', async () => {
    const cache = temporaryFolder();
    const failing = entry(async () => {
      throw new Error('no network');
    });
    await expect(cached(failing, cache)).rejects.toThrow('no network');
    expect(readdirSync(cache)).toEqual([]);
  });

  test('says where it cannot be kept', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const cache = join(file, 'cache');
    const counted = entry();
    const failure = cached(counted, cache);
    await expect(failure).rejects.toThrow(ExplainedError);
    await expect(failure).rejects.toThrow(`cannot be kept in ${cache} (ENOTDIR`);
    expect(counted.calls).toEqual([]);
  });

  test('is whole when two fill it at the same time', async () => {
    const cache = temporaryFolder();
    const both = await Promise.all([cached(entry(), cache), cached(entry(), cache)]);
    expect(new Set(both).size).toBe(1);
    expect(readFileSync(join(both[0], 'whole'), 'utf8')).toBe('yes');
    expect(readdirSync(cache)).toEqual(['entry']);
  });

  test('can be read by every user, whatever the umask is', async () => {
    const before = process.umask(0o077);
    try {
      const cache = join(temporaryFolder(), 'cache');
      const folder = await cached(entry(), cache);
      expect([cache, folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o755]);
    } finally {
      process.umask(before);
    }
  });
});
