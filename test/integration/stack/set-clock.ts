import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testRun } from './test-run.ts';

/** Debian's package `libfaketime`, on whatever processor. */
export const FAKETIME = readdirSync('/usr/lib')
  .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
  .find((path) => existsSync(path));

/** A clock that a test sets for one process, while its monotonic clock goes on as it is. */
export interface SetClock {
  /** Environment variables of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the time of day off by this, such as `-1h`. */
  setOff(by: string): Promise<void>;
}

/** Makes a clock that is right until it is set. */
export async function setClock(): Promise<SetClock> {
  const file = join(await mkdtemp(join((await testRun()).path, 'clock-')), 'time');
  const setOff = (by: string) => writeFile(file, by);
  await setOff('+0');
  return {
    env: {
      LD_PRELOAD: FAKETIME ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setOff,
  };
}
