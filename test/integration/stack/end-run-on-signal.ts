import { constants } from 'node:os';
import type { RunFolder } from '../../../dev/run/run-folder.ts';

/** Jest ends at a signal without its teardown: whatever the run started has to go before. */
export function endRunOnSignal(run: RunFolder): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Not `once`: without a listener the same signal, handed on by npm, would end the process in the middle of this.
    process.on(signal, () => {
      run.abandon();
      process.exit(128 + constants.signals[signal]);
    });
  }
}
