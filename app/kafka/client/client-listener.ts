import type { TopicPartition } from '../../records/record.ts';

/** The two ends of a partition's log: for a reader of everything, and for one of committed records. */
export interface LogEnds extends TopicPartition {
  readonly highWatermark: bigint;
  readonly lastStableOffset: bigint;
}

/** Events of the Kafka client, in no client library's words. A listener must not throw. */
export interface ClientListener {
  /** The client asks a broker for records. */
  onPoll(): void;
  /** A broker answered a request. */
  onAnswer(request: { readonly kind: string; readonly milliseconds: number; readonly bytes: number }): void;
  /**
   * Records were handed over to the pipeline. Their bytes are those of keys and values, as Kafka's own clients count.
   */
  onDelivered(delivery: { readonly topic: string; readonly records: number; readonly bytes: number }): void;
  /** A fetch's answer had the end of a partition's log, and its last stable offset. */
  onLogEnds(ends: LogEnds): void;
  /** The group coordinator answered a heartbeat. */
  onHeartbeat(): void;
  /** The consumer joined its group, which assigned partitions. */
  onJoined(join: { readonly milliseconds: number; readonly partitions: number }): void;
  /** The client crashed and restarts, if it can, in an outage or for another reason; a join under way has failed. */
  onCrashed(crash: { readonly wasJoining: boolean; readonly isOutage: boolean }): void;
  /** The brokers did not answer the consumer or the health check. */
  onAway(): void;
}

/** The kind of a fetch request, Kafka's own name for it. */
export const FETCH_REQUEST = 'Fetch';
