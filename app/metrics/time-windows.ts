const STEPS = 6;

/** What was recorded in one step of the window. */
interface Step {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

const EMPTY: Step = { count: 0, sum: 0, max: 0 };

const together = (a: Step, b: Step): Step => ({
  count: a.count + b.count,
  sum: a.sum + b.sum,
  max: Math.max(a.max, b.max),
});

/**
 * Rate, average and maximum of the values of a window that moves on in steps of a sixth of its length. None of them is ever
 * "not a number": without a value in the window, average and maximum stay at the last known ones, 0 before the first.
 */
export class RecentSum {
  readonly #stepMs: number;
  readonly #now: () => number;
  readonly #beganAt: number;
  #stepBegan: number;
  #steps: Step[] = [EMPTY];
  #lastKnown = EMPTY;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(windowMs: number, now: () => number = () => performance.now()) {
    this.#stepMs = windowMs / STEPS;
    this.#now = now;
    this.#beganAt = now();
    this.#stepBegan = this.#beganAt;
  }

  add(value: number): void {
    this.#rotate();
    this.#steps.push(together(this.#steps.pop() ?? EMPTY, { count: 1, sum: value, max: value }));
    this.#lastKnown = this.#steps.reduce(together);
  }

  /** The sum by the length of the window, or by the time since the beginning while that is shorter (but a step at least). */
  get perSecond(): number {
    return (this.#window().sum * 1_000) / this.#lengthMs();
  }

  /** How many values there were per second. */
  get countPerSecond(): number {
    return (this.#window().count * 1_000) / this.#lengthMs();
  }

  get average(): number {
    const { count, sum } = this.#lastWithValues();
    return count === 0 ? 0 : sum / count;
  }

  get max(): number {
    return this.#lastWithValues().max;
  }

  #lastWithValues(): Step {
    const window = this.#window();
    return window.count === 0 ? this.#lastKnown : window;
  }

  #window(): Step {
    this.#rotate();
    return this.#steps.reduce(together);
  }

  #lengthMs(): number {
    const now = this.#now();
    return Math.max(this.#stepMs, Math.min(now - this.#beganAt, this.#stepMs * (STEPS - 1) + now - this.#stepBegan));
  }

  #rotate(): void {
    const passed = Math.floor((this.#now() - this.#stepBegan) / this.#stepMs);
    this.#stepBegan += passed * this.#stepMs;
    for (let step = 0; step < Math.min(passed, STEPS); step += 1) {
      this.#steps.push(EMPTY);
    }
    this.#steps = this.#steps.slice(-STEPS);
  }
}
