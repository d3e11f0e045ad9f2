/** Limits at which the alerts fire: numbers in the PromQL, the README's table and the runbooks all come from here. */
export const ALERT_THRESHOLD = {
  /** Records of all partitions of one topic that PostgreSQL does not have yet. */
  lagRecords: { warning: 10_000, critical: 100_000 },
  /** Resident memory over the container's memory limit, as a ratio. */
  memoryRatio: { warning: 0.8, critical: 0.95 },
  /** Health evaluations in a row that were not UP. */
  healthFailuresInARow: 3,
  /** Scrapes in a row that failed. */
  failedScrapesInARow: 3,
  /** Failed connections to PostgreSQL above which the alert fires: any is too many. */
  databaseConnectionFailures: 0,
  /** Partitions that stand still before a batch that cannot be read, above which the alert fires: any is too many. */
  unreadablePartitions: 0,
  /** Pods that say that a topic is gone, above which the alert fires: any is too many. */
  topicGone: 0,
} as const;

/** How often the consumer evaluates its own health for `health_consecutive_failures`: three times fit into 30 s, before the liveness probe's third failure. */
export const HEALTH_EVALUATION_INTERVAL_MS = 10_000;
