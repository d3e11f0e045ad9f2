import { TimeWindowMax } from './time-window-max.ts';

/** Count, sum and decaying maximum of durations: what Micrometer's timer knows. */
export class Timer {
  readonly #max: TimeWindowMax;
  #count = 0;
  #seconds = 0;

  /** @param now Clock of the decaying maximum, in milliseconds. @default performance.now() */
  constructor(now?: () => number) {
    this.#max = new TimeWindowMax(now);
  }

  record(seconds: number): void {
    this.#count += 1;
    this.#seconds += seconds;
    this.#max.record(seconds);
  }

  get count(): number {
    return this.#count;
  }

  /** Sum of all durations. */
  get seconds(): number {
    return this.#seconds;
  }

  /** The longest duration of the last two to three minutes; 0 when there was none. */
  get max(): number {
    return this.#max.value;
  }
}
