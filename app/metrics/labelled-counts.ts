import type { Labels, MetricSource } from './metric-source.ts';

/** Counts by the values of one label, a closed set: each is there from the start, with 0. */
export class LabelledCounts<Value extends string> {
  readonly #counts: Map<Value, { readonly labels: Labels; value: number }>;

  constructor(label: string, values: readonly Value[], others: Labels = {}) {
    this.#counts = new Map(values.map((value) => [value, { labels: { ...others, [label]: value }, value: 0 }]));
  }

  /** Adds to the count of a value; one outside of the set counts nowhere. */
  add(value: Value, by = 1): void {
    const count = this.#counts.get(value);
    if (count !== undefined) {
      count.value += by;
    }
  }

  readonly source: MetricSource = () => [...this.#counts.values()];
}
