import type { MetricKey } from '../../contract/metrics.ts';

/** One series of a family at the time of the scrape. */
export interface Sample {
  /** Values of the labels that the catalogue names for the family. */
  readonly labels: Labels;
  /** The value; of a summary or histogram, the sum of what was observed. Left out of the scrape when it is no finite number. */
  readonly value: number;
  /** Number of observations; only a summary or histogram has it. */
  readonly count?: number;
  /** Observations up to each bound of the catalogue, cumulated; only a histogram has them. */
  readonly buckets?: readonly number[];
}

export type Labels = Readonly<Record<string, string>>;

/** The series of one family, read anew at each scrape: a series that is not returned any more is not exposed any more. */
export type MetricSource = () => readonly Sample[];

/** A source for every entry of the catalogue: a family without one does not compile. */
export type MetricSources = Readonly<Record<MetricKey, MetricSource>>;

const NO_LABELS: Labels = {};

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
