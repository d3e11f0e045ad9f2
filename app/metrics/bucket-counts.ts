import type { Labels, Sample } from './metric-source.ts';

/** What one series of a histogram has observed. */
export class BucketCounts {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** @param bounds upper bounds of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length).fill(0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    for (let index = 0; index < this.#bounds.length; index += 1) {
      if (value <= (this.#bounds[index] ?? 0)) {
        this.#counts[index] = (this.#counts[index] ?? 0) + 1;
        return;
      }
    }
  }

  sample(labels: Labels): Sample {
    let cumulated = 0;
    const buckets = this.#counts.map((count) => {
      cumulated += count;
      return cumulated;
    });
    return { labels, value: this.#sum, count: this.#count, buckets };
  }
}
