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

  /** The value of the id, which counts as a use. */
  get(id: number): T | undefined {
    const value = this.#values.get(id);
    if (value !== undefined) {
      this.#values.delete(id);
      this.#values.set(id, value);
    }
    return value;
  }

  set(id: number, value: T): void {
    this.#values.delete(id);
    this.#values.set(id, value);
    for (const [oldest] of this.#values) {
      if (this.#values.size <= this.#most) {
        return;
      }
      this.#values.delete(oldest);
    }
  }

  /** Any id that a value is kept of. */
  get anyId(): number | undefined {
    return this.#values.keys().next().value;
  }
}
