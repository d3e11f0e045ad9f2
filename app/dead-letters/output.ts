import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Clock } from '../stream/clock.ts';

const TERMINAL_MS = 100;
const LOG_MS = 10_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Where a command writes: what was asked for to `out`, how it goes on to `err`. */
export interface OutputStreams {
  readonly out: Writable;
  readonly err: Writable & { readonly isTTY?: boolean };
}

/** Writes a command's lines, and above them how far it is: in place on a terminal, else as a line every 10 s. */
export class Output {
  readonly #streams: OutputStreams;
  readonly #clock: Pick<Clock, 'steady'>;
  #shownAt: number;
  #isShown = false;

  constructor(streams: OutputStreams, clock: Pick<Clock, 'steady'>) {
    this.#streams = streams;
    this.#clock = clock;
    this.#shownAt = clock.steady().getTime();
  }

  /** Resolves when there is room for more; a reader that went away ends the waiting, too. */
  async lines(lines: readonly string[], to: 'out' | 'err' = 'out'): Promise<void> {
    this.clear();
    const stream = this.#streams[to];
    if (lines.length > 0 && !stream.write(`${lines.join('\n')}\n`) && !stream.destroyed) {
      await once(stream, 'drain').catch(() => undefined);
    }
  }

  /** Shows the progress, if the last time is long enough ago. */
  progress(text: () => string): void {
    const { err } = this.#streams;
    const isTerminal = err.isTTY === true;
    const now = this.#clock.steady().getTime();
    if (now - this.#shownAt >= (isTerminal ? TERMINAL_MS : LOG_MS)) {
      err.write(isTerminal ? `${CLEAR_LINE}${text()}` : `${text()}\n`);
      this.#shownAt = now;
      this.#isShown = isTerminal;
    }
  }

  /** Removes the progress from the terminal. */
  clear(): void {
    if (this.#isShown) {
      this.#streams.err.write(CLEAR_LINE);
      this.#isShown = false;
    }
  }
}
