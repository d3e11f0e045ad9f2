/** How many series one process may cost Prometheus. */
export const SERIES_BUDGET = {
  /** Everything that does not depend on the number of partitions, with one topic and every label value there can be. */
  base: 800,
  /** More for each partition that the process owns. */
  perPartition: 6,
  /** More for each further topic: its histograms and counters. */
  perTopic: 60,
  /** Beyond it Prometheus refuses a scrape as a whole; 200 partitions of 20 topics take two thirds of it. */
  sampleLimit: 5_000,
} as const;
