import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Whom to scrape on this machine. */
export interface ScrapeTarget {
  readonly port: number;
  readonly path: string;
}

/** How to scrape: with pauses of so many milliseconds in all between two scrapes, and at most so many times. */
export interface ScrapePlan {
  readonly pausesMs: number;
  readonly count: number;
}

/** What the process that scrapes is told. */
export interface ScrapeOrder extends ScrapePlan {
  readonly target: ScrapeTarget;
  readonly empty: ScrapeTarget;
}

/** What came of it: how long each scrape took, in milliseconds and ascending, and what the last one brought. */
export interface Scrapes {
  readonly milliseconds: readonly number[];
  /** How long an answer took meanwhile of a server that does nothing: what the machine and the scraping itself take. */
  readonly ofEmptyServer: readonly number[];
  readonly body: Uint8Array;
}

/**
 * Scrapes by a process of its own, which ends with this one: in the one that produces the load, a scrape would also wait for that.
 * Between two scrapes it asks a server that does nothing, in a third process.
 */
export class Scraper {
  readonly #target: ScrapeTarget;
  readonly #process = forkSource('scrape-process.ts');
  readonly #emptyServer = forkSource('empty-server.ts');
  readonly #emptyPort: Promise<number>;

  constructor(target: ScrapeTarget) {
    this.#target = target;
    this.#emptyPort = message<number>(this.#emptyServer);
  }

  /** Scrapes as planned, or until {@link over}. */
  async scrape(plan: ScrapePlan): Promise<Scrapes> {
    const order: ScrapeOrder = {
      ...plan,
      target: this.#target,
      empty: { port: await this.#emptyPort, path: '/' },
    };
    const done = message<Scrapes>(this.#process);
    this.#process.send(order);
    return done;
  }

  /** Ends what was ordered with the scrape under way. */
  over(): void {
    this.#process.send('over');
  }

  close(): void {
    for (const child of [this.#process, this.#emptyServer].filter(({ connected }) => connected)) {
      child.disconnect();
    }
  }
}

const forkSource = (name: string): ChildProcess =>
  fork(join(import.meta.dirname, name), { execArgv: ['--import', 'tsx'], serialization: 'advanced' });

/** The next message of a process. @throws Error when it ends without one */
async function message<Message>(process: ChildProcess): Promise<Message> {
  const ended = once(process, 'exit').then(([code]) => {
    throw new Error(`a process of the benchmark ended with exit code ${code}`);
  });
  const [received] = (await Promise.race([once(process, 'message'), ended])) as [Message];
  return received;
}
