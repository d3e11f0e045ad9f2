/** A topic and one of its partitions. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** One header; Kafka allows the same key several times, and the order of headers carries meaning. */
export interface RecordHeader {
  /** Bytes where it is not UTF-8. */
  readonly key: string | Buffer;
  readonly value: Buffer | null;
}

/** One entry of a partition as it was fetched; nothing of it is decoded yet. */
export interface StreamRecord {
  readonly offset: bigint;
  /** Milliseconds since the epoch; -1 where the producer gave none. */
  readonly timestamp: bigint;
  readonly key: Buffer | null;
  /** `null` is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

/** Records of one partition in the order of their offsets, and the range of offsets they stand for. */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly StreamRecord[];
  /** The offset that was asked for: the batch stands for every offset from here on ... */
  readonly fetchedOffset: bigint;
  /**
   * ... up to but without this one, whether or not each of them is a record (control, aborted and compacted ones are
   * not).
   */
  readonly nextOffset: bigint;
  /** The leader epoch of the last record below `nextOffset`; null or absent: not known. */
  readonly leaderEpoch?: number | null;
}

/** Key of a partition in a Map. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/**
 * Memory of a record beside its contents, and of each of its headers: lengths, numbers and the objects that hold them.
 */
const OVERHEAD_BYTES = 64;

/** Bytes of a record: the measure of queues and of transactions, and about what its row takes. */
export function recordBytes({ key, value, headers }: StreamRecord): number {
  let bytes = OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const header of headers) {
    bytes += OVERHEAD_BYTES + header.key.length + (header.value?.length ?? 0);
  }
  return bytes;
}

/** Bytes of all these records. */
export function bytesOfAll(records: readonly StreamRecord[]): number {
  let bytes = 0;
  for (const record of records) {
    bytes += recordBytes(record);
  }
  return bytes;
}
