// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How records are read and written. */
export interface ApplicationConsumerProps {
  /**
   * Where a topic without a stored position starts: its beginning, its end, or Kafka's committed offset (the
   * beginning where there is none). Partitions added later always start at their beginning.
   *
   * @default 'earliest'
   */
  readonly startFrom?: 'earliest' | 'latest' | 'committed';

  /**
   * What to do when records were deleted before they were read: stop and say which, or record the gap in the table
   * gaps and go on.
   *
   * @default 'fail'
   */
  readonly onGap?: 'fail' | 'skip';

  /**
   * Time without progress on a partition that has lag after which the health is DOWN. An outage of Kafka or
   * PostgreSQL is not a stall.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '5m'
   */
  readonly stallTimeout?: string;

  /**
   * Largest value that goes into records; a larger one is a dead letter.
   *
   * Allowed: 1 to 268435455.
   *
   * @default 8388608
   */
  readonly maxValueBytes?: number;

  /**
   * Fetched bytes that may wait for PostgreSQL, per partition; beyond it the partition is paused.
   *
   * Allowed: 65536 to 1073741824.
   *
   * @default 2097152
   */
  readonly maxQueuedBytes?: number;

  /**
   * Records that one transaction writes at most.
   *
   * Allowed: 1 to 1000000.
   *
   * @default 5000
   */
  readonly maxBatchRecords?: number;
}
