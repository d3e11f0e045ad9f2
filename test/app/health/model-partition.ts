import type { TopicPartition } from '../../../app/records/record.ts';

/** The one topic that the consumer reads. */
export const TOPIC = 'orders';

/** A partition as Kafka and PostgreSQL have it, and what the consumer can know of it. */
export class ModelPartition {
  readonly place: TopicPartition;
  end = 0n;
  /** `null` until a first offset is stored, which needs a leader. */
  stored: bigint | null = null;
  fetchFrom = 0n;
  isResumed = false;
  /** When the consumer got the log's end last; `null` before it was since the assignment. */
  toldAt: number | null = null;
  /** When something was written; the assignment, before the first time. */
  writtenAt = 0;
  /** When its position was read; `null` before it was since the assignment. */
  openedAt: number | null = null;
  /** When all of it was in PostgreSQL. */
  caughtUpAt = 0;
  timestamp = -1n;
  /** Without a leader it is not fetched, and nobody reports its log's end. */
  isLed = true;
  /** When it was without a leader last. */
  leaderlessAt = 0;

  constructor(partition: number) {
    this.place = { topic: TOPIC, partition };
  }
}
