import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type SetClock, setClock } from '../../../dev/run/set-clock.ts';
import { testRun } from './test-run.ts';

/** A clock that a test sets for one process. */
export async function clockOfTest(): Promise<SetClock> {
  return setClock(join(await mkdtemp(join((await testRun()).path, 'clock-')), 'time'));
}
