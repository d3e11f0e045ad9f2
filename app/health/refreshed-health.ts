import { errorText } from '../logging/error-text.ts';
import type { Health, HealthComponent, Status } from './health.ts';
import type { HealthIndicator } from './health-indicators.ts';

/** How often an indicator is checked and how long a check may take, in milliseconds. */
export interface RefreshTiming {
  /** Pause between the end of one check and the start of the next. */
  readonly intervalMs: number;
  /** Time after which a check without a result is DOWN. */
  readonly timeoutMs: number;
}

/** An error of a check. */
export interface LastFailure {
  readonly error: string;
  readonly at: Date;
}

/**
 * One indicator, checked periodically in the background, and its last result.
 *
 * A check without a result after `timeoutMs` is DOWN and its signal aborts. The next check starts `intervalMs` after
 * the previous one has settled, however late that is, so there is never more than one.
 */
export class RefreshedHealth implements HealthComponent {
  readonly name: string;
  readonly known: Promise<void>;
  readonly #indicator: HealthIndicator;
  readonly #timing: RefreshTiming;
  readonly #upTime: UpTime;
  #markKnown: () => void = () => undefined;
  #last: Health | undefined;
  #lastFailure: LastFailure | null = null;
  #running: { readonly abort: AbortController; readonly timer: NodeJS.Timeout } | undefined;
  #next: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(indicator: HealthIndicator, timing: RefreshTiming) {
    this.name = indicator.name;
    this.#indicator = indicator;
    this.#timing = timing;
    this.#upTime = new UpTime(2 * (timing.intervalMs + timing.timeoutMs));
    this.known = new Promise((resolve) => {
      this.#markKnown = resolve;
    });
  }

  current(): Health | undefined {
    return this.#last;
  }

  /** The error that a check met last, also when the checks after it were UP; `null` before the first one. */
  get lastFailure(): LastFailure | null {
    return this.#lastFailure;
  }

  /** For how long, in milliseconds, every check has been UP; 0 where that is not known. */
  get upForMs(): number {
    return this.#upTime.ms(performance.now());
  }

  /** Begins at once; does nothing after {@link stop}. */
  start(): void {
    void this.#run();
  }

  /**
   * Ends for good: a running check is aborted and its result dropped, {@link known} resolves in any case, and no timer
   * stays behind.
   */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#next);
    clearTimeout(this.#running?.timer);
    this.#running?.abort.abort();
    this.#markKnown();
  }

  async #run(): Promise<void> {
    if (this.#stopped) {
      return;
    }
    const abort = new AbortController();
    const run = { abort, timer: setTimeout(() => this.#timeOut(abort), this.#timing.timeoutMs) };
    this.#running = run;
    const health = await this.#ask(abort.signal);
    clearTimeout(run.timer);
    if (this.#stopped) {
      return;
    }
    if (!abort.signal.aborted) {
      this.#finish(health);
    }
    this.#next = setTimeout(() => this.start(), this.#timing.intervalMs);
  }

  async #ask(signal: AbortSignal): Promise<Health> {
    try {
      return await this.#indicator.check(signal);
    } catch (error) {
      return this.#down(errorText(error));
    }
  }

  #timeOut(abort: AbortController): void {
    const timeout = new DOMException(`no answer within ${this.#timing.timeoutMs} ms`, 'TimeoutError');
    this.#finish(this.#down(errorText(timeout)));
    abort.abort(timeout);
  }

  #down(error: string): Health {
    return { status: 'DOWN', details: { ...this.#indicator.context, error } };
  }

  #finish(health: Health): void {
    this.#last = health;
    const error = health.details?.['error'];
    this.#lastFailure = typeof error === 'string' ? { error, at: new Date() } : this.#lastFailure;
    this.#upTime.result(health.status, performance.now());
    this.#markKnown();
  }
}

/** Measures for how long every result of a check has been UP. Times are milliseconds of a clock that is never set. */
export class UpTime {
  readonly #longestPauseMs: number;
  #upSince: number | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;

  /**
   * @param longestPauseMs two results that lie further apart, as when the process was frozen, say nothing in between
   */
  constructor(longestPauseMs: number) {
    this.#longestPauseMs = longestPauseMs;
  }

  /** A check has ended. */
  result(status: Status, now: number): void {
    const wasUp = this.ms(now) > 0;
    this.#lastAt = now;
    if (status !== 'UP') {
      this.#upSince = null;
    } else if (!wasUp) {
      this.#upSince = now;
    }
  }

  /** For how long the part has been reachable; 0 where it is not, or is not known to be. */
  ms(now: number): number {
    const isKnown = now - this.#lastAt <= this.#longestPauseMs;
    return this.#upSince === null || !isKnown ? 0 : now - this.#upSince;
  }
}
