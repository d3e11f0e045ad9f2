import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExplainedError } from './explained-error.ts';

const LIBRARIES = '/usr/lib';
const SHARED_MEMORY = '/dev/shm';

/** The library of Debian's package `libfaketime`, on whatever processor; undefined: it is not installed. */
export const FAKETIME = (existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])
  .map((folder) => join(LIBRARIES, folder, 'faketime', 'libfaketime.so.1'))
  .find((path) => existsSync(path));

/** @throws ExplainedError with the command that installs libfaketime, where it is not there. */
export function faketimeLibrary(): string {
  if (FAKETIME === undefined) {
    throw new ExplainedError(
      `libfaketime was not found below ${LIBRARIES}: clocks cannot be set for one process without it. Install it ` +
        '(Debian, Ubuntu: sudo apt-get install libfaketime), and start again.',
    );
  }
  return FAKETIME;
}

/** A clock that is set for one process, while its monotonic clock goes on as it is. */
export interface SetClock {
  /** Environment variables of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the time of day off by this, such as `-1h`; `+0` is the right time. */
  setOff(by: string): void;
}

/**
 * Makes a clock that is right until it is set.
 *
 * @param file where the clock is kept; each process that may read it may share the clock.
 * @throws ExplainedError where libfaketime is not installed.
 */
export function setClock(file: string): SetClock {
  const setOff = (by: string): void => writeFileSync(file, by);
  setOff('+0');
  return {
    env: {
      LD_PRELOAD: faketimeLibrary(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setOff,
  };
}

/**
 * Removes what libfaketime keeps for a process in the shared memory of the machine, and leaves there where the process
 * was killed: another one of the same id would wait for its semaphore.
 */
export function forgetClockOf(pid: number): void {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) {
    rmSync(join(SHARED_MEMORY, name), { force: true });
  }
}
