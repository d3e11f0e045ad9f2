import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Run folders are called `<prefix><pid of the owner>-<random>`; a run folder may lie in another one. */
export const RUN_FOLDER_PREFIX = 'stream-consumer-run-';
/** One file per child of the owner: its name is the process id, its content the identity. */
export const PROCESSES_FOLDER = 'processes';
/**
 * Field 22 of `/proc/<pid>/stat`; the name in field 2 may hold spaces and parentheses, so fields are counted behind it.
 */
const STARTTIME_AFTER_NAME = 19;

/** Ids of the living processes that a run folder, or one inside it, has a record of. */
export function recordedProcesses(runFolder: string): readonly number[] {
  const records = join(runFolder, PROCESSES_FOLDER);
  const own = list(records)
    .filter((pid) => isSame(Number(pid), join(records, pid)))
    .map(Number);
  const nested = list(runFolder).filter((name) => name.startsWith(RUN_FOLDER_PREFIX));
  return [...own, ...nested.flatMap((name) => recordedProcesses(join(runFolder, name)))];
}

/** SIGKILL for processes that may have ended by themselves in the meantime. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }
}

/** Whether the process is still the recorded one, and not a later one with its id. */
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

/**
 * The start time of a process, which distinguishes it from a later one with the same id.
 *
 * @returns undefined when no such process lives (a zombie does not).
 */
export function processIdentity(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? startOnLinux(pid) : startElsewhere(pid);
  } catch {
    return undefined;
  }
}

function startOnLinux(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[STARTTIME_AFTER_NAME];
}

function startElsewhere(pid: number): string | undefined {
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
}
