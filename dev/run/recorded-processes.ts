import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processIdentity } from './process-identity.ts';

/** Run folders are called `<prefix><pid of the owner>-<random>`; one may lie in another one. */
export const RUN_FOLDER_PREFIX = 'stream-consumer-run-';
/** One file per child of the owner: its name is the number, its content the identity. */
export const PROCESSES_FOLDER = 'processes';

/** Numbers of the living processes that a run folder, or one inside it, has a record of. */
export function recordedProcesses(runFolder: string): readonly number[] {
  const records = join(runFolder, PROCESSES_FOLDER);
  const own = list(records)
    .filter((pid) => isSame(Number(pid), join(records, pid)))
    .map(Number);
  const nested = list(runFolder).filter((name) => name.startsWith(RUN_FOLDER_PREFIX));
  return [...own, ...nested.flatMap((name) => recordedProcesses(join(runFolder, name)))];
}

/** Ends processes that may have ended by themselves in the meantime. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was faster.
    }
  }
}

/** Whether the process is still the one that was recorded, and not a later one with its number. */
function isSame(pid: number, record: string): boolean {
  const identity = processIdentity(pid);
  return identity !== undefined && identity === read(record);
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
