/** Count, sum and decaying maximum of durations, as of Micrometer's timer. */
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

/** A peak is forgotten after two to three minutes. */
const STEP_MS = 60_000;
const MAX_STEPS = 3;

/** The largest value of the last minutes, forgotten step by step as Micrometer's timers do it. */
export class TimeWindowMax {
  /** Each element has the maximum since its own begin; the first one began longest ago and is the one that is read. */
  readonly #ring: number[] = new Array<number>(MAX_STEPS).fill(0);
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
    for (let step = 0; step < MAX_STEPS; step += 1) {
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
    for (let step = 0; step < Math.min(steps, MAX_STEPS); step += 1) {
      this.#ring.shift();
      this.#ring.push(0);
    }
  }
}

/** Steps of the window of a {@link RecentSum}. */
const SUM_STEPS = 6;

/** Values of one step of the window. */
interface WindowStep {
  count: number;
  sum: number;
  max: number;
}

const emptyStep = (): WindowStep => ({ count: 0, sum: 0, max: 0 });

function total(steps: readonly WindowStep[]): Readonly<WindowStep> {
  const all = emptyStep();
  for (const { count, sum, max } of steps) {
    all.count += count;
    all.sum += sum;
    all.max = Math.max(all.max, max);
  }
  return all;
}

/**
 * Rate, average and maximum of the values of a window that moves on in steps of a sixth of its length. None of them is
 * ever NaN: without a value in the window, average and maximum stay at the last known ones, 0 before the first.
 */
export class RecentSum {
  readonly #stepMs: number;
  readonly #now: () => number;
  readonly #beganAt: number;
  #stepBegan: number;
  #steps: WindowStep[] = [emptyStep()];
  /** The window as it was at the last value, once it has moved on since. */
  #lastKnown: Readonly<WindowStep> = emptyStep();
  #hasNewValue = false;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(windowMs: number, now: () => number = () => performance.now()) {
    this.#stepMs = windowMs / SUM_STEPS;
    this.#now = now;
    this.#beganAt = now();
    this.#stepBegan = this.#beganAt;
  }

  add(value: number): void {
    this.#rotate();
    const step = this.#steps.at(-1);
    if (step !== undefined) {
      step.count += 1;
      step.sum += value;
      step.max = Math.max(step.max, value);
      this.#hasNewValue = true;
    }
  }

  /** The sum by the length of the window, or by the time since the beginning while that is shorter; at least a step. */
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

  #lastWithValues(): Readonly<WindowStep> {
    const window = this.#window();
    return window.count === 0 ? this.#lastKnown : window;
  }

  #window(): Readonly<WindowStep> {
    this.#rotate();
    return total(this.#steps);
  }

  #lengthMs(): number {
    const now = this.#now();
    return Math.max(
      this.#stepMs,
      Math.min(now - this.#beganAt, this.#stepMs * (SUM_STEPS - 1) + now - this.#stepBegan),
    );
  }

  #rotate(): void {
    const passed = Math.floor((this.#now() - this.#stepBegan) / this.#stepMs);
    if (passed < 1) {
      return;
    }
    if (this.#hasNewValue) {
      this.#lastKnown = total(this.#steps);
      this.#hasNewValue = false;
    }
    this.#stepBegan += passed * this.#stepMs;
    for (let step = 0; step < Math.min(passed, SUM_STEPS); step += 1) {
      this.#steps.push(emptyStep());
    }
    this.#steps = this.#steps.slice(-SUM_STEPS);
  }
}
