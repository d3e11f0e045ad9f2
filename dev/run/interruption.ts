import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm hands on the signal that the terminal has sent to this process already: two so close are one Ctrl-C. */
const SAME_SIGNAL_MS = 300;

/** What a person's wish to end the program looks like to it. */
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
 * Listens for Ctrl-C and its kin.
 *
 * @param onFirst runs at the first signal.
 * @param endAtOnce runs at every further one and must not return.
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
