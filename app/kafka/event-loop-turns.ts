/** What a fetch brings is decoded and handed on for so long at most before other work has its turn. */
const TURN_MS = 2;

/**
 * Lets other work of the event loop have its turn, such as probes and scrapes. kafkajs works off a fetch of many partitions
 * in one go, promise after promise, which can take half a second.
 */
export class GiveWay {
  readonly #now: () => number;
  #began = Number.NEGATIVE_INFINITY;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Something to wait for when it is time, or when work begins again; `null` while there is time left. */
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
