/** Adds up the time for which something goes on. */
export class StopWatch {
  readonly #now: () => number;
  #elapsedMs = 0;
  #startedAt: number | null = null;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Goes on from here; nothing changes while it is running. */
  start(): void {
    this.#startedAt ??= this.#now();
  }

  stop(): void {
    this.#elapsedMs += this.#startedAt === null ? 0 : this.#now() - this.#startedAt;
    this.#startedAt = null;
  }

  /** The whole time until now. */
  get seconds(): number {
    const running = this.#startedAt === null ? 0 : this.#now() - this.#startedAt;
    return (this.#elapsedMs + running) / 1_000;
  }
}
