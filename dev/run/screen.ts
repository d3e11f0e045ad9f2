import { styleText } from 'node:util';

/** An output stream, such as `process.stdout`. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';
/** A terminal that does not know its width says 0. */
const ASSUMED_COLUMNS = 120;
const PLAIN_STATUS_INTERVAL_MS = 5_000;

/** Lines for the terminal; the last one changes in place. Without a terminal that one is a plain line every 5 s. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #colours: boolean;
  #status = '';
  #lastPlainStatus = Number.NEGATIVE_INFINITY;

  /**
   * @param now the clock in milliseconds. @default Date.now
   * @param noColour the variable NO_COLOR: any text but the empty one turns colours off. @default the environment's
   */
  constructor(terminal: Terminal, now: () => number = Date.now, noColour = process.env['NO_COLOR']) {
    this.#terminal = terminal;
    this.#now = now;
    this.#colours = terminal.isTTY === true && !noColour;
  }

  /** A line that stays. */
  line(text: string): void {
    this.#terminal.write(`${this.#status === '' ? '' : CLEAR_LINE}${text}\n${this.#status}`);
  }

  /** Whether the output is a terminal, on which lines can change. */
  get isTerminal(): boolean {
    return this.#terminal.isTTY === true;
  }

  /** The line that changes; in red where all is not well. */
  status(text: string, isWell = true): void {
    if (this.#terminal.isTTY) {
      const cut = text.slice(0, (this.#terminal.columns || ASSUMED_COLUMNS) - 1);
      this.#status = isWell ? cut : this.tint(cut, false);
      this.#terminal.write(CLEAR_LINE + this.#status);
    } else if (this.#now() - this.#lastPlainStatus >= PLAIN_STATUS_INTERVAL_MS) {
      this.#lastPlainStatus = this.#now();
      this.#terminal.write(`${text}\n`);
    }
  }

  /** Leaves the changing line as it is; further lines come below it. */
  endStatus(): void {
    if (this.#status !== '') {
      this.#terminal.write('\n');
      this.#status = '';
    }
  }

  /** The text in green where all is well, else in red; without colours where the output is no terminal. */
  tint(text: string, isWell: boolean): string {
    return this.#paint(isWell ? 'green' : 'red', text);
  }

  /** A link or a command, apart from the text around it where there are colours. */
  accent(text: string): string {
    return this.#paint('cyan', text);
  }

  #paint(colour: 'green' | 'red' | 'cyan', text: string): string {
    return this.#colours ? styleText(colour, text, { validateStream: false }) : text;
  }
}
