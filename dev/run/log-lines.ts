import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Calls `onLine` for each line of a stream, the last one too where no line break ends it. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(onLine);
  });
  stream.on('end', () => {
    if (rest !== '') {
      onLine(rest);
    }
  });
}

/** Lines of a log as they arrive; a caller can wait for one of them. */
export class LogLines {
  readonly #lines: string[] = [];
  readonly #watchers = new Set<(line: string) => void>();

  get all(): readonly string[] {
    return this.#lines;
  }

  add(line: string): void {
    this.#lines.push(line);
    for (const watch of [...this.#watchers]) {
      watch(line);
    }
  }

  /** Calls `watch` for each line, those that are there already first. */
  follow(watch: (line: string) => void): void {
    this.#lines.forEach(watch);
    this.#watchers.add(watch);
  }

  /**
   * The first line that matches, of those that are there and those that come. To wait keeps no process running.
   *
   * @param timeout milliseconds to wait. @default 60000
   * @throws Error with the end of the log when the time is over.
   */
  waitFor(pattern: RegExp, timeout = 60_000): Promise<string> {
    const found = this.#lines.find((line) => pattern.test(line));
    return found === undefined ? this.#next(pattern, timeout) : Promise.resolve(found);
  }

  #next(pattern: RegExp, timeout: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const watch = (line: string): void => {
        if (pattern.test(line)) {
          clearTimeout(timer);
          this.#watchers.delete(watch);
          resolve(line);
        }
      };
      const timer = setTimeout(() => {
        this.#watchers.delete(watch);
        reject(new Error(`no line matched ${pattern} within ${timeout} ms; the last ones: ${this.#tail()}`));
      }, timeout).unref();
      this.#watchers.add(watch);
    });
  }

  #tail(): string {
    return this.#lines
      .slice(-10)
      .map((line) => `\n    ${line}`)
      .join('');
  }
}
