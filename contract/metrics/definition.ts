/** One metric family as it is scraped. */
export interface MetricDefinition {
  /** Name in Prometheus; base units, `_total` on counters. */
  readonly name: string;
  /**
   * A `summary` has a sum and a count and no quantiles; its decaying maximum is a gauge of its own, `<name>_max`. An
   * `info` is a gauge that is always 1: its labels are what it says.
   */
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram' | 'info';
  /** Label names beside the common ones (`application`); every value comes from a closed set or from the assignment. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Micrometer's dotted name, where Spring Boot has the same metric: both answer at `/actuator/metrics/{name}`. */
  readonly dotted?: string;
  /** Base unit as `/actuator/metrics/{name}` shows it; left out where Micrometer has none. */
  readonly unit?: string;
  /** Upper bounds of a histogram's buckets, ascending, without the infinite one. */
  readonly buckets?: readonly number[];
  /** Read from Linux's `/proc`: left out on other systems. @default false */
  readonly linuxOnly?: boolean;
}

/** A catalogue, or a part of one. */
export type MetricDefinitions = Readonly<Record<string, MetricDefinition>>;
