import { execFileSync } from 'node:child_process';
import { chown, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverUser } from '../../../dev/stack/local-postgres.ts';
import { testRun } from './test-run.ts';

/** Room for what the tests before wrote into the table, too: on a quick machine that is 70,000 rows and 8 MB. */
const BYTES = 64 * 1_048_576;

/** A file system of its own, small enough to be filled. */
export interface TinyDisk {
  /** Folder that the local PostgreSQL may put a tablespace into. */
  readonly path: string;
  /** Leaves no byte free. */
  fill(): Promise<void>;
  /** Gives back what {@link fill} took. */
  free(): Promise<void>;
}

/**
 * Mounts 64 MB of memory for the local PostgreSQL; they are gone with the test file.
 *
 * @returns undefined where this process may not mount anything, as in most containers.
 */
export async function mountTinyDisk(): Promise<TinyDisk | undefined> {
  const user = serverUser();
  if (user === undefined) {
    return undefined;
  }
  const run = await testRun();
  const path = join(run.path, 'tiny-disk');
  try {
    execFileSync('mount', ['--mkdir', '-t', 'tmpfs', '-o', `size=${BYTES}`, 'tmpfs', path], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  const unmount = () => {
    process.off('exit', unmount);
    execFileSync('umount', ['--lazy', path]);
  };
  process.on('exit', unmount);
  run.beforeClose(async () => unmount());
  await chown(path, user.uid, user.gid);
  const filler = join(path, 'filler');
  return {
    path,
    async fill() {
      const { bavail, bsize } = await statfs(path);
      await writeFile(filler, Buffer.alloc(bavail * bsize));
    },
    async free() {
      await rm(filler);
    },
  };
}
