/**
 * What is counted by topic, or by another name that comes and goes with topics: made when the name is first asked for,
 * and forgotten once it is not read any more. The series of a name that the settings have is there from the start.
 */
export class TopicSeries<T> {
  readonly #names: () => readonly string[];
  readonly #create: (name: string) => T;
  #series = new Map<string, T>();
  #made: readonly string[] = [];

  /** @param names those of now; another list each time that they change */
  constructor(names: () => readonly string[], create: (name: string) => T) {
    this.#names = names;
    this.#create = create;
  }

  /** `undefined`: the name is not read. */
  of(name: string): T | undefined {
    this.#follow();
    return this.#series.get(name);
  }

  /** In the order of the names. */
  get all(): readonly T[] {
    this.#follow();
    return [...this.#series.values()];
  }

  #follow(): void {
    const names = this.#names();
    if (names !== this.#made) {
      this.#made = names;
      this.#series = new Map(names.map((name) => [name, this.#series.get(name) ?? this.#create(name)]));
    }
  }
}
