import type { METRICS } from '../../contract/metrics.ts';

/** One series of a family at the time of the scrape. */
export interface Sample {
  /** Values of the labels that the catalogue names for the family. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value; of a summary, the sum of what was observed. */
  readonly value: number;
  /** Number of observations; only a summary has it. */
  readonly count?: number;
}

/** The series of one family, read anew at each scrape: a series that is not returned any more is not exposed any more. */
export type MetricSource = () => readonly Sample[];

/** A source for every entry of the catalogue: a family without one does not compile. */
export type MetricSources = Readonly<Record<keyof typeof METRICS, MetricSource>>;

/** The source of a family that has one series and no labels of its own. */
export function single(read: () => number): MetricSource {
  return () => [{ labels: {}, value: read() }];
}
