import type { TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { FatalError } from './stream-errors.ts';

/** The offsets a partition's log holds: from `start` up to but without `end`. */
export interface LogRange extends TopicPartition {
  readonly isLeaderless?: never;
  readonly start: bigint;
  readonly end: bigint;
}

/** A partition that no broker leads: until one does, its offsets are unknown, and nobody reads or writes it. */
interface LeaderlessLog extends TopicPartition {
  readonly isLeaderless: true;
}

/** What the brokers report of a partition's log. */
export type PartitionLog = LogRange | LeaderlessLog;

/** What distinguishes an offset from the same number in another topic of the name, or in a log that was truncated. */
export interface OffsetOrigin {
  /** Kafka's id of the topic (KIP-516), as `kafka-topics --describe` prints it; null or absent: not known. */
  readonly topicId?: string | null;
  /** The leader's epoch of the batch before the offset (KIP-320); null or absent: not known. */
  readonly leaderEpoch?: number | null;
}

/** A place in a partition. */
export interface Position extends TopicPartition, OffsetOrigin {
  readonly offset: bigint;
}

/** Records of one partition, and the range of offsets that they were fetched for. */
export interface FetchedRecords extends TopicPartition {
  readonly records: Records;
  /** The offset that was asked for: every offset from here on was fetched ... */
  readonly fetchedOffset: bigint;
  /**
   * ... up to but without this one, whether or not each of them is a record (control, aborted and compacted ones are
   * not).
   */
  readonly nextOffset: bigint;
  /** The leader epoch of the last record below `nextOffset`; null or absent: not known. */
  readonly leaderEpoch?: number | null;
}

/**
 * A batch that the log holds and that nothing can be made of, or that may not be read; its records stay ahead of the
 * stored offset.
 */
export interface UnreadableBatch extends TopicPartition {
  /** The offset in its head. */
  readonly offset: bigint;
  /** The offset behind its last record; `null` or absent: its head cannot be relied on. */
  readonly nextOffset?: bigint | null;
  /**
   * Stable: alerts and runbooks may match it. `CORRUPT_BATCH`: its checksum is wrong, or its content is no record.
   * `OVERSIZED_BATCH`: it unpacks to more than `consumer.maxUnpackedBytes`, or takes more memory than the process has.
   * `TOPIC_FORBIDDEN`: an ACL denies reading the topic.
   */
  readonly code: 'CORRUPT_BATCH' | 'OVERSIZED_BATCH' | 'UNKNOWN_CODEC' | 'UNKNOWN_RECORD_FORMAT' | 'TOPIC_FORBIDDEN';
  /**
   * The name of its codec, such as `zstd`, or its number where it has none; `null` or absent: its head does not contain
   * it.
   */
  readonly codec?: string | null;
  /** What is wrong with it, without a record's content. */
  readonly reason: string;
}

/** What a generation of the group gives the process. */
export interface AssignedPartitions {
  /** All partitions that the process owns from now on. */
  readonly owned: readonly TopicPartition[];
  /**
   * Those of them that it did not own right before. Each is paused: nothing arrives until it was sought and resumed.
   * The others go on, with what was fetched of them.
   */
  readonly added: readonly TopicPartition[];
}

/** Events of a source, for the pipeline. All calls are synchronous and return at once. */
export interface RecordSourceListener {
  /** A generation of the group began, whether or not it moved a partition of the process. */
  onAssigned(assigned: AssignedPartitions): void;
  /**
   * The process owns these partitions no longer: the group gave them to others, or may have. The source fetches no more
   * of them. What is queued is dropped, and stays ahead of the stored offsets.
   *
   * @returns a promise that resolves when nothing of them is written any more, and never rejects
   */
  onRevoked(partitions: readonly TopicPartition[]): Promise<void>;
  /**
   * The group may have given everything to others, which nobody knows before the next assignment. The source fetches
   * nothing until then, and nothing may be written; what is queued is dropped, and stays ahead of the stored offsets.
   */
  onExpelled(): void;
  /**
   * The brokers answered about the subscribed topics, and do not have these.
   *
   * @param partitions how many partitions the others have
   */
  onTopics(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void;
  /**
   * The topics of templates that Kafka forbids, and those that it does not have, of those that were seen before and
   * that the process does not own.
   */
  onUnlisted(forbidden: ReadonlyMap<string, FatalError>, gone: ReadonlySet<string>): void;
  /** Kafka is asked from now on: what stays unknown is what it does not report. */
  onAsked(): void;
  /** Before the group was joined: the brokers answered, and have these of the subscribed topics. */
  onFound(topics: readonly string[]): void;
  /** The group's coordinator confirmed that the process is a member. */
  onHeartbeat(): void;
  /** The group cannot be joined (again) yet, for a reason that a person may have to see to. */
  onWaiting(reason: string): void;
  /** Records arrived. Those of one partition come in order, but may start below or above what was asked for. */
  onFetched(fetched: FetchedRecords): void;
  /** A fetch showed the log of a partition that is fetched; about once a second. */
  onLog(log: LogRange): void;
  /** The broker holds no such offset any more, or not yet, or no topic of this id. The source paused the partition. */
  onOutOfRange(partition: TopicPartition): void;
  /** The next batch of the partition cannot be read. The partition was paused by the source. */
  onUnreadable(batch: UnreadableBatch): void;
  /** The topic may be read again, even if nothing came. */
  onReadable(partition: TopicPartition): void;
  /** The source will never deliver anything again. */
  onFatal(error: Error): void;
}

/** Where records come from: the port behind which the Kafka client lives. */
export interface RecordSource {
  /**
   * Joins the group and goes on trying while the brokers are away. Resolves after the first join; rejects when stopped
   * before.
   */
  start(listener: RecordSourceListener): Promise<void>;
  /**
   * Delivers from `offset` on, and of the topic with this id alone where the brokers offer that. Does nothing for a
   * partition that is not assigned (any more).
   */
  seek(position: Position): void;
  pause(partition: TopicPartition): void;
  resume(partition: TopicPartition): void;
  /** Kafka's ids of topics by their names. A topic that the brokers do not have, or report no id of, is left out. */
  topicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Makes sure that what is known of the cluster's topics is no older than these, which are about to be read: which
   * table a topic goes to depends on the others.
   *
   * @throws OutageError while it is older
   */
  requireListed(topics: Iterable<string>): Promise<void>;
  /** The log ranges of all partitions of a topic, or that one has no leader. */
  logRanges(topic: string): Promise<PartitionLog[]>;
  /**
   * Whether the log of the partition knows the leader epoch of the position, or a later one; true where the brokers do
   * not report that. Asked for after the log ranges of the topic.
   */
  knowsEpoch(position: Position): Promise<boolean>;
  /** Offsets that the group committed to Kafka; partitions without one are left out. */
  committedOffsets(topic: string): Promise<Position[]>;
  /**
   * Resolves when the group is known to write into the tables of this process and no others, or when the signal is
   * aborted.
   *
   * @throws OutageError while that cannot be found out
   * @throws FatalError `GROUP_WRITES_ELSEWHERE` when it writes elsewhere
   */
  claim(signal: AbortSignal): Promise<void>;
  /** Commits to Kafka what PostgreSQL stores, for tools that look there. Never the truth, and no write waits for it. */
  commitHint(positions: readonly Position[]): Promise<void>;
  /**
   * Gives all partitions to other members of the group, which open them when the process drops them; until then it goes
   * on with them. Resolves with true when all of them were revoked, with false when they were not in time or cannot be:
   * then the process goes on with the others, and the group may still give these away.
   *
   * @param timeoutMs milliseconds, lookups and retries included
   */
  handOver(timeoutMs: number): Promise<boolean>;
  /** Leaves the group and closes every connection. Never rejects. */
  stop(): Promise<void>;
}
