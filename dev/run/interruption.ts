import { constants } from 'node:os';
import { failureText } from './explained-error.ts';
import { RunFolder, removeLeftoverRuns } from './run-folder.ts';
import type { Screen } from './screen.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm hands on the signal that the terminal has sent to this process already: two within this time are one Ctrl-C. */
const SAME_SIGNAL_MS = 300;

/**
 * Removes what killed runs have left behind, and begins a run. The first Ctrl-C or SIGTERM interrupts it, and so does a
 * closed standard output; a second signal ends it at once.
 *
 * @param stopping the line that the screen shows at the first signal
 */
export async function beginRun(
  screen: Screen,
  stopping: string,
): Promise<{ run: RunFolder; interruption: Interruption }> {
  await removeLeftoverRuns();
  const run = await RunFolder.create();
  const interruption = listenForInterruption(
    () => screen.line(`${stopping} (Ctrl-C again ends all at once) ...`),
    (exitCode) => {
      run.abandon();
      process.exit(exitCode);
    },
  );
  // Standard output was closed at its other end, as in `npm start | head`.
  process.stdout.on('error', () => interruption.interrupt('SIGHUP'));
  return { run, interruption };
}

/**
 * Does the work in a new run, which is closed before this resolves.
 *
 * @param work resolves to whether all is well
 * @returns the exit code: 0 when all is well; 1 when it is not, or when the work failed, with the reason on stderr;
 * that of the signal when one came first
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

/** SIGINT, SIGTERM and SIGHUP, as the work of a program sees them. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The exit code that a shell gives a process which the signal ended: 130 for Ctrl-C; undefined before a signal. */
  readonly exitCode: number | undefined;
  /** The work's result, or undefined as soon as a signal arrives; the work itself is not stopped. */
  orInterrupted<T>(work: Promise<T>): Promise<T | undefined>;
  /** Does what the signal would do when it comes first; later calls do nothing. */
  interrupt(name: NodeJS.Signals): void;
  /** Gives the signals back to Node. */
  dispose(): void;
}

/**
 * Listens for the signals that end a program.
 *
 * @param onFirst called at the first signal.
 * @param endAtOnce called at every further one; must not return.
 * @param now the clock in milliseconds. @default Date.now
 */
export function listenForInterruption(
  onFirst: () => void,
  endAtOnce: (exitCode: number) => void,
  now: () => number = Date.now,
): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let firstAt = 0;
  const interrupt = (name: NodeJS.Signals): void => {
    if (exitCode === undefined) {
      exitCode = 128 + constants.signals[name];
      firstAt = now();
      onFirst();
      controller.abort();
    }
  };
  const onSignal = (name: NodeJS.Signals): void => {
    if (exitCode === undefined) {
      interrupt(name);
    } else if (now() - firstAt > SAME_SIGNAL_MS) {
      endAtOnce(exitCode);
    }
  };
  const aborted = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  for (const name of SIGNALS) {
    process.on(name, onSignal);
  }
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    orInterrupted: (work) => Promise.race([work, aborted]),
    interrupt,
    dispose: () => {
      for (const name of SIGNALS) {
        process.off(name, onSignal);
      }
    },
  };
}
