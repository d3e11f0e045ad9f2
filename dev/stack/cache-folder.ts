import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';

/** Folders must stay readable for the user that PostgreSQL runs as, whatever the umask says. */
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
  /** Name in the cache folder; has to change with whatever the content depends on. */
  readonly name: string;
  /** Whether the folder holds all it should: a damaged entry is made again. */
  readonly isComplete: (folder: string) => Promise<boolean>;
  /** Fills an empty folder. */
  readonly fill: (folder: string) => Promise<void>;
}

/**
 * The folder of an entry, filled when it is absent or damaged. It is filled under another name and renamed when it is
 * whole, so an interrupted or concurrent run never leaves a half entry.
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
    // Another run may have been faster, and its entry is as good as this one.
    if (!(await isComplete(folder))) {
      throw error;
    }
  }
}
