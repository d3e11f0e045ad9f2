import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { ensurePrerequisites, javaProgram } from './kafka-prerequisites.ts';
import { hasMavenJars, type JarSet, mavenJars, type Progress } from './maven-jars.ts';

const LOG_CONFIGURATION = join(import.meta.dirname, 'log4j2.properties');

/** For a quick start rather than a high peak: the serial collector and the first compiler are ready soonest. */
export const QUICK_START = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const;

/** A class of a folder of jars, and what it gets. */
interface JavaClass {
  /** Folder of its jars. */
  readonly jars: string;
  /** Its full name. */
  readonly main: string;
  readonly args: readonly string[];
  /** Arguments of the Java machine. */
  readonly jvm: readonly string[];
}

/**
 * The folder with the jars of a set, once Java and, where they have to be fetched, Maven are there.
 *
 * @throws ExplainedError with the missing programs, or with Maven's errors
 */
export async function readyJars(run: RunFolder, set: JarSet, onProgress: Progress): Promise<string> {
  await ensurePrerequisites({ hasJars: await hasMavenJars(set), onProgress });
  return mavenJars(run, set, onProgress);
}

/** The command that runs a class, which logs to standard output. */
export function javaCommand({ jars, main, args, jvm }: JavaClass): Command {
  const logging = `-Dlog4j2.configurationFile=${LOG_CONFIGURATION}`;
  return {
    program: javaProgram(),
    args: [...archived(jars), ...jvm, '-Djava.awt.headless=true', logging, '-cp', join(jars, '*'), main, ...args],
  };
}

/** Where the archive of the classes of a folder of jars is, if somebody made one. */
export const archiveFolder = (jars: string): string => `${jars}-classes`;

/** The archive itself. */
export const archiveFile = (folder: string): string => join(folder, 'classes.jsa');

/** Classes of the archive are not parsed and verified anew. Java ignores one of another Java, or of other jars. */
function archived(jars: string): readonly string[] {
  const file = archiveFile(archiveFolder(jars));
  return existsSync(file) ? [`-XX:SharedArchiveFile=${file}`] : [];
}
