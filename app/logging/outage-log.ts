import type { Logger } from './logger.ts';

/** A reason that stays the same is logged again after this time: the last quarter of an hour of a log always has it. */
const LOGGED_AGAIN_MS = 300_000;

/** Reasons that take turns are logged once a minute each. */
const TURNS_MS = 60_000;

/** Attempts are seconds apart, so a minute without a failure ends a row of them. */
const REST_MS = 60_000;

/** Reasons with a number in each could be without end; beyond this many the counts begin anew. */
const MOST_REASONS = 100;

/** Milliseconds of a clock that never goes back. */
type SteadyNow = () => number;

/** Failures of one thing, by reason: which of them are logged, and how many each line counts. */
export class RepeatedFailures {
  readonly #now: SteadyNow;
  readonly #reasons = new Map<string, { count: number; toldAt: number }>();
  #lastTold = '';
  #failedAt = Number.NEGATIVE_INFINITY;

  /** @default performance.now() */
  constructor(now: SteadyNow = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Counts a failure.
   *
   * @returns failures of this reason so far, when it has to be logged: at the first one, when it is not the reason
   * that was logged last (once a minute), and every five minutes; else `undefined`
   */
  failed(reason: string): number | undefined {
    const now = this.#now();
    if (now - this.#failedAt > REST_MS || this.#reasons.size >= MOST_REASONS) {
      this.#reasons.clear();
    }
    this.#failedAt = now;
    const known = this.#reasons.get(reason) ?? { count: 0, toldAt: Number.NEGATIVE_INFINITY };
    this.#reasons.set(reason, known);
    known.count += 1;
    if (now - known.toldAt < (reason === this.#lastTold ? LOGGED_AGAIN_MS : TURNS_MS)) {
      return undefined;
    }
    known.toldAt = now;
    this.#lastTold = reason;
    return known.count;
  }
}

/** Takes what a user of PostgreSQL, Kafka or the schema registry finds. */
export interface OutageWatch {
  /** It did not answer, or no connection came about. */
  failed(reason: string): void;
  /** It answered. */
  worked(): void;
}

/** Where outages are not logged. */
export const UNWATCHED: OutageWatch = { failed: () => undefined, worked: () => undefined };

/** The watched check of {@link watchedCheck}. */
type Check<T> = (signal: AbortSignal) => Promise<T>;

/**
 * A check whose results are logged. An answer that takes too long is a failure at once: a frozen server leaves a
 * request without an answer for half a minute. The end of the process, which aborts a check as well, is none.
 *
 * @param describe the words for an error of the check
 */
export function watchedCheck<T>(check: Check<T>, outages: OutageWatch, describe: (error: unknown) => string): Check<T> {
  return async (signal) => {
    const onAbort = () => isTimeout(signal.reason) && outages.failed(signal.reason.message);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const answer = await check(signal);
      if (!signal.aborted) {
        outages.worked();
      }
      return answer;
    } catch (error) {
      if (!signal.aborted) {
        outages.failed(describe(error));
      }
      throw error;
    }
  };
}

const isTimeout = (reason: unknown): reason is DOMException =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/** An outage that goes on. */
interface Outage {
  readonly since: number;
  readonly reasons: RepeatedFailures;
  /** Users that failed and have not worked since, with the time of the last failure. */
  readonly failing: Map<string, number>;
  failures: number;
}

interface OutageLogOptions {
  readonly onFailure?: () => void;
  readonly closing?: AbortSignal;
  readonly now?: SteadyNow;
}

/**
 * Logs when PostgreSQL, Kafka or the schema registry goes away, when the reason changes, and when it is back for all
 * that use it: the health checks, which never rest, and whatever has records to read or to write. A user that has made
 * no attempt for a minute holds up nothing.
 */
export class OutageLog {
  readonly #system: string;
  readonly #logger: Logger;
  readonly #onFailure: () => void;
  readonly #closing: AbortSignal | undefined;
  readonly #now: SteadyNow;
  #outage: Outage | null = null;

  /**
   * @param system as the lines name it
   * @param onFailure called for each failure. @default nothing
   * @param closing once it is aborted the process closes its own connections, and what fails then is no outage.
   * @default it never is
   * @param now milliseconds of a clock that never goes back. @default performance.now()
   */
  constructor(
    system: 'PostgreSQL' | 'Kafka' | 'the schema registry',
    logger: Logger,
    { onFailure = () => undefined, closing, now = () => performance.now() }: OutageLogOptions = {},
  ) {
    this.#system = system;
    this.#logger = logger;
    this.#onFailure = onFailure;
    this.#closing = closing;
    this.#now = now;
  }

  /** The watch of one user. */
  of(user: 'health check' | 'writers' | 'consumer'): OutageWatch {
    return { failed: (reason) => this.#failed(user, reason), worked: () => this.#worked(user) };
  }

  #failed(user: string, reason: string): void {
    if (this.#closing?.aborted) {
      return;
    }
    const now = this.#now();
    this.#outage ??= { since: now, reasons: new RepeatedFailures(this.#now), failing: new Map(), failures: 0 };
    this.#outage.failures += 1;
    this.#onFailure();
    this.#outage.failing.set(user, now);
    if (this.#outage.reasons.failed(reason) !== undefined) {
      const { failures } = this.#outage;
      this.#logger.warn({ reason, failures }, `${this.#system} is away, trying again until it is back`);
    }
  }

  #worked(user: string): void {
    if (this.#outage === null) {
      return;
    }
    const now = this.#now();
    const { since, failures, failing } = this.#outage;
    failing.delete(user);
    if ([...failing.values()].some((failedAt) => now - failedAt <= REST_MS)) {
      return;
    }
    this.#outage = null;
    const seconds = Math.round((now - since) / 1_000);
    const count = `${failures} failure${failures === 1 ? '' : 's'}`;
    this.#logger.info({ seconds, failures }, `${this.#system} is back after ${seconds} s, ${count}`);
  }
}
