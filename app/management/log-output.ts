import type { Writable } from 'node:stream';
import type { LogDestination } from './log-options.ts';

/** Characters that may wait for a reader that is slow; a pipe holds some more. */
const MOST_WAITING = 1_048_576;

/**
 * The log on standard output, for which the consumer never waits: lines that a full disk or a closed pipe refuses are
 * dropped, and so are those for which no room is left while a reader does not read. Each line is tried, so the log goes on
 * as soon as it can.
 */
export class LogOutput implements LogDestination {
  readonly #stream: Writable;
  readonly #onDropped: () => void;

  /**
   * @param stream has to survive its errors, as `process.stdout` does
   * @param onDropped called for each line that was dropped
   */
  constructor(stream: Writable, onDropped: () => void) {
    this.#stream = stream;
    this.#onDropped = onDropped;
    // Each line hears of its own failure; without a listener the first one would end the process.
    stream.on('error', () => undefined);
  }

  write(line: string): void {
    if (this.#stream.writableLength + line.length > MOST_WAITING) {
      this.#onDropped();
      return;
    }
    this.#stream.write(line, (error) => {
      if (error) {
        this.#onDropped();
      }
    });
  }
}
