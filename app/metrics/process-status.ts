import { readdirSync, readFileSync } from 'node:fs';

/** A state letter of Linux (`man 5 proc`), such as `R` or `S`. */
export interface ThreadStatus {
  readonly id: string;
  readonly state: string;
}

/** What Linux tells about a process. */
export interface ProcessStatus {
  /** Bytes. */
  readonly virtualMemory: number;
  readonly residentMemory: number;
  readonly swappedMemory: number;
  readonly openFiles: number;
}

const KIBIBYTE = 1_024;

/** The present process as `/proc` shows it; `null` on a system that has none. */
export function processStatus(): ProcessStatus | null {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    const bytes = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIBIBYTE;
    return {
      virtualMemory: bytes('VmSize'),
      residentMemory: bytes('VmRSS'),
      swappedMemory: bytes('VmSwap'),
      openFiles: readdirSync('/proc/self/fd').length,
    };
  } catch {
    return null;
  }
}

/** Its threads; none on a system that has no `/proc`. */
export function threadStatuses(): readonly ThreadStatus[] {
  try {
    return readdirSync('/proc/self/task').flatMap(threadStatus);
  } catch {
    return [];
  }
}

/** The most file descriptors that the process may open; `null` where `/proc` does not tell, or there is no limit. */
export function openFilesLimit(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/** A thread may end between being listed and being read. */
function threadStatus(id: string): ThreadStatus[] {
  try {
    const state = /\) (\S) /.exec(readFileSync(`/proc/self/task/${id}/stat`, 'latin1'))?.[1];
    return state === undefined ? [] : [{ id, state }];
  } catch {
    return [];
  }
}
