import { createHash } from 'node:crypto';
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { cached, cacheFolder } from './cache-folder.ts';

/** Names and sizes of the jars, written last: a folder that lacks it or does not match it is not whole. */
const LISTING = 'jars.json';
/** A zip file ends with this record; Java's tools leave its comment empty. */
const END_OF_ZIP = { signature: 0x06054b50, length: 22 } as const;

/** Takes the progress of a long step, for the terminal. */
export type Progress = (message: string) => void;

/** The jars of one program of Java's. */
export interface JarSet {
  /** Its name in messages: `Kafka`. */
  readonly name: string;
  /** Path of the pom that lists them. */
  readonly pom: string;
  /** A profile of the pom, whose jars belong to it, too. @default none */
  readonly profile?: string;
  /** What the first download is: `45 MB, about 10 s`. */
  readonly download: string;
  /** What else helps where Maven cannot fetch them, as the rest of a sentence. @default nothing */
  readonly otherwise?: string;
}

/**
 * The folder with the jars of a set: from the cache, else fetched by Maven into it. The entry's name holds a hash of
 * the pom, so another version is another entry.
 *
 * @throws ExplainedError when Maven fails, with its errors.
 */
export async function mavenJars(
  run: RunFolder,
  set: JarSet,
  onProgress: Progress,
  cache: string = cacheFolder(),
): Promise<string> {
  const fill = (folder: string) => fetchJars(run, set, folder, onProgress);
  return cached({ name: await entryName(set), isComplete, fill }, cache);
}

/** Whether {@link mavenJars} has nothing to fetch. */
export async function hasMavenJars(set: JarSet, cache: string = cacheFolder()): Promise<boolean> {
  return isComplete(join(cache, await entryName(set)));
}

async function entryName({ name, pom }: JarSet): Promise<string> {
  const hash = createHash('sha256').update(await readFile(pom));
  return `${name.toLowerCase().replaceAll(' ', '-')}-${hash.digest('hex').slice(0, 12)}`;
}

async function fetchJars(run: RunFolder, set: JarSet, folder: string, onProgress: Progress): Promise<void> {
  onProgress(`fetching its jars with Maven, once (${set.download})`);
  await copyDependencies(run, set, folder, onProgress, []);
  if ((await damagedJars(folder)).length > 0) {
    onProgress("Maven's own store holds a damaged jar: fetching all of them again, past it");
    const store = join(run.path, 'maven');
    await copyDependencies(run, set, folder, onProgress, [`-Dmaven.repo.local=${store}`]);
    await rm(store, { recursive: true, force: true });
  }
  const damaged = await damagedJars(folder);
  if (damaged.length > 0) {
    throw new ExplainedError(
      `Maven fetched ${damaged.join(', ')} damaged, twice: is a proxy in between? Try again later.`,
    );
  }
  await writeFile(join(folder, LISTING), JSON.stringify(await sizes(folder)));
}

async function copyDependencies(
  run: RunFolder,
  { name, pom, profile, otherwise }: JarSet,
  folder: string,
  onProgress: Progress,
  options: readonly string[],
): Promise<void> {
  let downloaded = 0;
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  const active = profile === undefined ? [] : [`--activate-profiles=${profile}`];
  const args = ['--file', pom, ...active, ...options, '-Dmdep.overWriteReleases=true', ...goal];
  await runMaven(run, { what: `the jars of ${name}`, args, otherwise }, (line) => {
    if (/Downloaded from .*\.jar /.test(line)) {
      downloaded += 1;
      if (downloaded % 20 === 0) {
        onProgress(`fetching its jars with Maven: ${downloaded} files`);
      }
    }
  });
}

interface MavenRun {
  /** What it fetches, in messages. */
  readonly what: string;
  /** Options and goals. */
  readonly args: readonly string[];
  /** As {@link JarSet} has it. */
  readonly otherwise?: string | undefined;
}

/** Has Maven fetch something. @throws ExplainedError when it fails, with its errors */
export async function runMaven(
  run: RunFolder,
  { what, args, otherwise = '' }: MavenRun,
  onLine: (line: string) => void = () => undefined,
): Promise<void> {
  const { code, output } = await run.complete({
    program: 'mvn',
    args: ['--batch-mode', ...args],
    env: withOwnHome(process.env),
    onLine,
  });
  if (code !== 0) {
    throw new ExplainedError(
      [
        `Maven could not fetch ${what}. What it said:`,
        ...saidErrors(output).map((line) => `    ${line}`),
        `Check the network and the proxy settings of Maven (~/.m2/settings.xml)${otherwise}`,
      ].join('\n'),
    );
  }
}

/** Java takes the home folder from the system's list of users, where a container's user may have none that exists. */
function withOwnHome(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HOME: home, MAVEN_OPTS: options } = env;
  // Maven's script splits its options at each space, quoted or not.
  return home && !/\s/.test(home) ? { ...env, MAVEN_OPTS: `-Duser.home=${home} ${options ?? ''}`.trim() } : env;
}

/** Maven's first errors. It resets colours in front of them even where it uses none, and some are empty. */
function saidErrors(output: readonly string[]): readonly string[] {
  const lines = output.map((line) => stripVTControlCharacters(line)).filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /^\[ERROR\] *\S/.test(line)).slice(0, 5);
  return errors.length > 0 ? errors : lines.slice(-5);
}

async function isComplete(folder: string): Promise<boolean> {
  try {
    const expected: unknown = JSON.parse(await readFile(join(folder, LISTING), 'utf8'));
    return JSON.stringify(expected) === JSON.stringify(await sizes(folder));
  } catch {
    return false;
  }
}

async function sizes(folder: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of await jarsIn(folder)) {
    found[name] = (await stat(join(folder, name))).size;
  }
  return found;
}

async function damagedJars(folder: string): Promise<readonly string[]> {
  const names = await jarsIn(folder);
  const whole = await Promise.all(names.map((name) => endsAsZip(join(folder, name))));
  return names.filter((_, index) => !whole[index]);
}

async function jarsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.jar')).sort();
}

async function endsAsZip(file: string): Promise<boolean> {
  const { size } = await stat(file);
  if (size < END_OF_ZIP.length) {
    return false;
  }
  const handle = await open(file);
  try {
    const end = Buffer.alloc(END_OF_ZIP.length);
    await handle.read(end, 0, END_OF_ZIP.length, size - END_OF_ZIP.length);
    return end.readUInt32LE(0) === END_OF_ZIP.signature;
  } finally {
    await handle.close();
  }
}
