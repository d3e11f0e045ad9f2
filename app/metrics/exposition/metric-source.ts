import type { MetricKey } from '../../../contract/metrics.ts';

/** One series of a family at the time of the scrape. */
export interface Sample {
  /** Values of the labels that the catalogue names for the family. */
  readonly labels: Labels;
  /** The value; of a summary or histogram, the sum of its observations. A scrape leaves out all but finite numbers. */
  readonly value: number;
  /** Number of observations; only a summary or histogram has it. */
  readonly count?: number;
  /** Observations up to each bound of the catalogue, cumulated; only a histogram has them. */
  readonly buckets?: readonly number[];
}

export type Labels = Readonly<Record<string, string>>;

/** The series of one family, read anew at each scrape: a series that it does not return is not exposed. */
export type MetricSource = () => readonly Sample[];

/** A source for every entry of the catalogue: a family without one does not compile. */
export type MetricSources = Readonly<Record<MetricKey, MetricSource>>;

const NO_LABELS: Labels = {};

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The source of a family that has one series, with the labels given. @param labels @default none */
export function single(read: () => number, labels: Labels = NO_LABELS): MetricSource {
  return () => [{ labels, value: read() }];
}

/** The source of a family that has one series once its value is known, and none before. */
export function optional(read: () => number | null, labels: Labels = NO_LABELS): MetricSource {
  return () => {
    const value = read();
    return value === null ? [] : [{ labels, value }];
  };
}

/**
 * Reads once for all sources of a scrape, which are read in one go: the value is kept until the next microtask.
 */
export function oncePerScrape<Value>(read: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => {
    if (kept === null) {
      kept = { value: read() };
      queueMicrotask(() => {
        kept = null;
      });
    }
    return kept.value;
  };
}

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

/** Several observations together. */
interface Observations {
  readonly count: number;
  readonly least: number;
  readonly most: number;
  readonly sum: number;
}

/** Observations of one series of a histogram. */
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
    this.#add(this.#bucketOf(value), 1, value);
  }

  /**
   * Adds observations of which the least, the most and the sum are known, if all of them belong into one bucket.
   *
   * @returns whether they were added
   */
  observeAlike({ count, least, most, sum }: Observations): boolean {
    const bucket = this.#bucketOf(least);
    if (bucket !== this.#bucketOf(most)) {
      return false;
    }
    this.#add(bucket, count, sum);
    return true;
  }

  #add(bucket: number, count: number, sum: number): void {
    this.#count += count;
    this.#sum += sum;
    if (bucket < this.#counts.length) {
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    }
  }

  /** The number of bounds where it is above all of them. */
  #bucketOf(value: number): number {
    let bucket = 0;
    while (bucket < this.#bounds.length && !(value <= (this.#bounds[bucket] ?? 0))) {
      bucket += 1;
    }
    return bucket;
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
