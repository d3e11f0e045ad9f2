import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Whom to scrape on this machine. */
export interface ScrapeTarget {
  readonly port: number;
  readonly path: string;
}

/** How to scrape: a pause before each one, in milliseconds, and at most so many. */
export interface ScrapeOrder {
  readonly everyMs: number;
  readonly count: number;
}

/** What came of it: how long each scrape took, in milliseconds and ascending, and what the last one brought. */
export interface Scrapes {
  readonly milliseconds: readonly number[];
  readonly body: Uint8Array;
}

/** Scrapes by a process of its own, which ends with this one: in the one that produces the load, a scrape would also wait for that. */
export class Scraper {
  readonly #process: ChildProcess;

  constructor({ port, path }: ScrapeTarget) {
    this.#process = fork(join(import.meta.dirname, 'scrape-process.ts'), [String(port), path], {
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
    });
  }

  /** Scrapes as ordered, or until {@link over}. */
  async scrape(order: ScrapeOrder): Promise<Scrapes> {
    const ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`the process that scrapes ended with exit code ${code}`);
    });
    const done = once(this.#process, 'message');
    this.#process.send(order);
    const [scrapes] = (await Promise.race([done, ended])) as [Scrapes];
    return scrapes;
  }

  /** Ends what was ordered with the scrape under way. */
  over(): void {
    this.#process.send('over');
  }

  close(): void {
    this.#process.disconnect();
  }
}
