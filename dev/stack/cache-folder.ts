import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';

/** The user that PostgreSQL runs as must be able to read the folders, whatever the umask. */
const READABLE_FOLDER = 0o755;

/**
 * Where downloads are kept between runs: `/var/cache/stream-consumer` for root, else `$XDG_CACHE_HOME/stream-consumer`
 * with `~/.cache` where the variable is not set.
 */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) {
    return '/var/cache/stream-consumer';
  }
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'stream-consumer');
}

export interface CacheEntry {
  /** Name in the cache folder; it has to change when the content does. */
  readonly name: string;
  /** Whether the folder is whole: a damaged entry is filled again. */
  readonly isComplete: (folder: string) => Promise<boolean>;
  /** Fills an empty folder. */
  readonly fill: (folder: string) => Promise<void>;
}

/**
 * The folder of an entry, filled when it is absent or damaged. It is filled under another name and renamed once it is
 * whole, so that neither an interrupted nor a concurrent run leaves half an entry.
 *
 * @throws ExplainedError when this user cannot write there.
 */
export async function cached(entry: CacheEntry, cache: string = cacheFolder()): Promise<string> {
  const folder = join(cache, entry.name);
  if (await entry.isComplete(folder)) {
    return folder;
  }
  const draft = `${folder}.${randomBytes(6).toString('hex')}.part`;
  await makeDraft(draft);
  try {
    await entry.fill(draft);
    await replace(draft, folder, entry.isComplete);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

async function makeDraft(draft: string): Promise<void> {
  const cache = dirname(draft);
  try {
    await mkdir(draft, { recursive: true });
    await Promise.all([chmod(cache, READABLE_FOLDER), chmod(draft, READABLE_FOLDER)]);
  } catch (error) {
    const remedy =
      process.getuid?.() === 0 ? 'Make room for it there' : 'Set XDG_CACHE_HOME to a folder that you may write';
    throw new ExplainedError(
      `What is downloaded cannot be kept in ${cache} (${(error as Error).message}). ${remedy}, and start again.`,
      { cause: error },
    );
  }
}

async function replace(draft: string, folder: string, isComplete: CacheEntry['isComplete']): Promise<void> {
  if (await isComplete(folder)) {
    return;
  }
  await rm(folder, { recursive: true, force: true });
  try {
    await rename(draft, folder);
  } catch (error) {
    // A concurrent run may have been faster, and its entry is as good.
    if (!(await isComplete(folder))) {
      throw error;
    }
  }
}
