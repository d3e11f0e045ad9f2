/** Length of one step, and the number of steps that are remembered: a peak is forgotten after two to three minutes. */
const STEP_MS = 60_000;
const STEPS = 3;

/** The largest value of the last minutes, forgotten step by step as Micrometer's timers do it. */
export class TimeWindowMax {
  /** Each ring element has the maximum since its own begin; the first one began longest ago and is the one that is read. */
  readonly #ring: number[] = new Array<number>(STEPS).fill(0);
  readonly #now: () => number;
  #stepBegan: number;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#stepBegan = now();
  }

  /** Takes a value into account. */
  record(value: number): void {
    this.#rotate();
    for (let step = 0; step < STEPS; step += 1) {
      this.#ring[step] = Math.max(this.#ring[step] ?? 0, value);
    }
  }

  /** The largest value of the last two to three minutes; 0 when there was none. */
  get value(): number {
    this.#rotate();
    return this.#ring[0] ?? 0;
  }

  #rotate(): void {
    const steps = Math.floor((this.#now() - this.#stepBegan) / STEP_MS);
    this.#stepBegan += steps * STEP_MS;
    for (let step = 0; step < Math.min(steps, STEPS); step += 1) {
      this.#ring.shift();
      this.#ring.push(0);
    }
  }
}
