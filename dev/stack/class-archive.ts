import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { RunFolder } from '../run/run-folder.ts';
import { cached } from './cache-folder.ts';
import { archiveFile, archiveFolder, readyJars } from './java-program.ts';
import { javaProgram } from './kafka-prerequisites.ts';
import { KAFKA_JARS, startLocalKafka } from './local-kafka.ts';
import type { Progress } from './maven-jars.ts';

/** The version of the Java that wrote the archive, written last: another Java does not read it. */
const WRITTEN_BY = 'java-version';

/**
 * Makes the archive of the classes that a broker loads at its start, unless there is one of this Java: with it a start
 * takes three fifths of the processor time. It costs one start of a broker, so only what starts many of them makes it.
 *
 * @throws ExplainedError when the broker does not start
 */
export async function archiveKafkaClasses(run: RunFolder, onProgress: Progress): Promise<void> {
  const jars = await readyJars(run, KAFKA_JARS, onProgress);
  const version = await javaVersion();
  const isComplete = async (folder: string): Promise<boolean> =>
    (await readFile(join(folder, WRITTEN_BY), 'utf8').catch(() => undefined)) === version;
  const fill = async (folder: string): Promise<void> => {
    onProgress('archiving its classes, once (about 10 s)');
    // Java refuses to write an archive while it is given another Java's.
    await rm(archiveFolder(jars), { recursive: true, force: true });
    const own = await RunFolder.create(run.path);
    await startLocalKafka(own, { jvm: [`-XX:ArchiveClassesAtExit=${archiveFile(folder)}`] });
    await own.close();
    await writeFile(join(folder, WRITTEN_BY), version);
  };
  await cached({ name: basename(archiveFolder(jars)), isComplete, fill });
}

async function javaVersion(): Promise<string> {
  const { stderr } = await promisify(execFile)(javaProgram(), ['-version']);
  return stderr;
}
