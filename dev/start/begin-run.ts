import { removeLeftoverRuns } from '../run/leftover-runs.ts';
import { RunFolder } from '../run/run-folder.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import type { Screen } from './screen.ts';

/** A run that can be ended by Ctrl-C. */
export interface BegunRun {
  readonly run: RunFolder;
  readonly interruption: Interruption;
}

/**
 * Removes what runs that were killed have left behind, and begins one that Ctrl-C, SIGTERM or a reader of the output who went away
 * ends in order; a second signal ends it at once.
 *
 * @param stopping what is said at the first signal
 */
export async function beginRun(screen: Screen, stopping: string): Promise<BegunRun> {
  await removeLeftoverRuns();
  const run = await RunFolder.create();
  const interruption = listenForInterruption(
    () => screen.line(`${stopping} (Ctrl-C again ends all at once) ...`),
    (exitCode) => {
      run.abandon();
      process.exit(exitCode);
    },
  );
  // Whoever read our output has gone, as in `npm start | head`: nobody is watching any more.
  process.stdout.on('error', () => interruption.interrupt('SIGHUP'));
  return { run, interruption };
}
