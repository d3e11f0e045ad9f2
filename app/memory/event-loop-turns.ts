/** Batches of a fetch are decoded for at most this long before other work has its turn. */
const TURN_MS = 2;

/**
 * Gives other work of the event loop its turn, such as probes and scrapes. kafkajs decodes and hands over a fetch of
 * many partitions in one go, promise after promise, which can take half a second.
 */
export class EventLoopTurns {
  readonly #now: () => number;
  #began = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of a monotonic clock. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves after the turn of other work; `null` while time is left. */
  afterTurn(): Promise<void> | null {
    if (this.#now() - this.#began < TURN_MS) {
      return null;
    }
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#began = this.#now();
        resolve();
      });
    });
  }
}
