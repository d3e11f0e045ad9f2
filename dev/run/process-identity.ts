import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Field 22 of `/proc/<pid>/stat`; the name in field 2 may hold spaces and parentheses, so fields are counted behind it. */
const STARTTIME_AFTER_NAME = 19;

/**
 * Tells a process from a later one with the same number: its start time.
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
