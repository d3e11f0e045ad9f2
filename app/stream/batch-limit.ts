/**
 * How many records a transaction takes: the setting, less after a failure, until it goes well again. A batch that never
 * fits into a time-out or into the server's memory so becomes smaller with each attempt, down to one record.
 */
export class BatchLimit {
  readonly #most: number;
  #records: number;

  constructor(most: number) {
    this.#most = most;
    this.#records = most;
  }

  get records(): number {
    return this.#records;
  }

  /** A transaction of so many records failed. */
  failed(records: number): void {
    this.#records = Math.max(1, Math.floor(records / 2));
  }

  /** A transaction was committed. */
  committed(): void {
    this.#records = Math.min(this.#most, this.#records * 2);
  }
}
