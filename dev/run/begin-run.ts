import { failureText } from './failure-text.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import { removeLeftoverRuns } from './leftover-runs.ts';
import { RunFolder } from './run-folder.ts';
import type { Screen } from './screen.ts';

/** A run that can be ended by Ctrl-C. */
export interface BegunRun {
  readonly run: RunFolder;
  readonly interruption: Interruption;
}

/**
 * Removes what killed runs have left behind, and begins one that ends in order at Ctrl-C, at SIGTERM, or when its
 * output is closed; a second signal ends it at once.
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
  // The reader of standard output has closed it, as in `npm start | head`.
  process.stdout.on('error', () => interruption.interrupt('SIGHUP'));
  return { run, interruption };
}

/**
 * Does the work in a run of its own, which is closed before this resolves.
 *
 * @param work whether all is well
 * @returns an exit code: 0 when it is, 1 when it is not or when the work failed, which is said on stderr; the code of the signal
 * that came first
 */
export async function exitCodeOf(screen: Screen, work: (run: RunFolder) => Promise<boolean>): Promise<number> {
  const { run, interruption } = await beginRun(screen, 'stopping');
  const working = work(run);
  try {
    const isWell = await interruption.orInterrupted(working);
    return isWell === undefined ? (interruption.exitCode ?? 1) : isWell ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`);
    return 1;
  } finally {
    working.catch(() => undefined);
    await run.close();
    interruption.dispose();
  }
}
