import { once } from 'node:events';
import { printable } from '../../logging/printable-text.ts';
import type { StreamRecord } from '../../records/record.ts';
import { isPostgresText } from '../../store/copy/headers-json.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { OutputStreams } from './command.ts';

/** A count with a comma behind each thousand. */
export const grouped = (count: number | bigint): string => count.toLocaleString('en');

/** A count with what is counted, such as `1 record` and `1,000 records`. */
export const counted = (count: number | bigint, one: string): string =>
  `${grouped(count)} ${one}${Number(count) === 1 ? '' : 's'}`;

/** Counts of reasons as text, the most frequent first: `12 invalid_json, 3 value_too_large`. */
export const reasonList = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${grouped(count)} ${reason}`)
    .join(', ');

/** Bytes for a person: as text, or in base64 where they are none. */
export const shownBytes = (bytes: Buffer | null): string =>
  bytes === null
    ? 'null'
    : isPostgresText(bytes)
      ? printable(bytes.toString('utf8'))
      : `base64 ${bytes.toString('base64')}`;

/** Key and value of a record for a person, a line each. */
export const contentLines = ({ key, value }: Pick<StreamRecord, 'key' | 'value'>): readonly string[] => [
  `    key    ${shownBytes(key)}`,
  `    value  ${shownBytes(value)}`,
];

/** Bytes in JSON: as a text, or as `{"base64": ...}` where they are none. */
export const jsonBytes = (bytes: Buffer | null) =>
  bytes === null || !isPostgresText(bytes) ? bytes && { base64: bytes.toString('base64') } : bytes.toString('utf8');

const TERMINAL_MS = 100;
const LOG_MS = 10_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Writes a command's lines and its progress: in place on a terminal, else as a line every 10 s. */
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

  /** Resolves when the stream has room for more, or its reader went away. */
  async lines(lines: readonly string[], to: 'out' | 'err' = 'out'): Promise<void> {
    this.clear();
    const stream = this.#streams[to];
    if (lines.length > 0 && !stream.write(`${lines.join('\n')}\n`) && !stream.destroyed) {
      await once(stream, 'drain').catch(() => undefined);
    }
  }

  /** Shows the progress, at most ten times a second on a terminal. */
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
