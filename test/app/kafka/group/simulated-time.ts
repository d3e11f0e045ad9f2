import type { Clock } from '../../../../app/stream/ports/clock.ts';

interface Timer {
  readonly at: number;
  readonly end: () => void;
}

/** Lets everything that needs no time go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that passes when the test says so: each wait ends in its turn, and what follows from it is through before the next. */
export class SimulatedTime implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  get milliseconds(): number {
    return this.#now;
  }

  now(): Date {
    return new Date(this.#now);
  }

  /** Another time than that of day, so that nothing can mix the two. */
  steady(): Date {
    return new Date(this.#now - 86_400_000);
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = { at: this.#now + ms, end: () => end() };
      const end = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      this.#timers.add(timer);
      signal?.addEventListener('abort', end);
      if (signal?.aborted) {
        end();
      }
    });
  }

  /** @param onMoment called after whatever happens at a moment */
  async pass(ms: number, onMoment: () => void = () => undefined): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      if (next.at > this.#now) {
        onMoment();
        this.#now = next.at;
      }
      next.end();
      await settle();
    }
    onMoment();
    this.#now = until;
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      first = timer.at <= until && (first === undefined || timer.at < first.at) ? timer : first;
    }
    return first;
  }
}
