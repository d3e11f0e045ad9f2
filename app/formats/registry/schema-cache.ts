/** Values by id, the least used of which go when there are too many. */
export class SchemaCache<T> {
  readonly #most: number;
  /** In the order of their last use: a Map keeps the order in which keys were added. */
  readonly #values = new Map<number, T>();

  /** @param most values that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#values.size;
  }

  /** The id that was used least. */
  get leastUsed(): number | undefined {
    return this.#values.keys().next().value;
  }

  /** The value of the id, which counts as a use. */
  get(id: number): T | undefined {
    const value = this.#values.get(id);
    if (value !== undefined) {
      this.#values.delete(id);
      this.#values.set(id, value);
    }
    return value;
  }

  /** @param needed ids that are in use at once: so many are kept, however few the others allow. @default 0 */
  set(id: number, value: T, needed = 0): void {
    this.#values.delete(id);
    this.#values.set(id, value);
    const most = Math.max(this.#most, needed);
    for (const [oldest] of this.#values) {
      if (this.#values.size <= most) {
        return;
      }
      this.#values.delete(oldest);
    }
  }

  delete(id: number): void {
    this.#values.delete(id);
  }
}
