/** A topic and one of its partitions. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** One header; Kafka allows the same key several times, and the order of headers carries meaning. */
export interface RecordHeader {
  readonly key: string;
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
  /** ... up to but without this one, whether or not each of them is a record (control, aborted and compacted ones are not). */
  readonly nextOffset: bigint;
}

/** Key of a partition in a Map. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** Bytes of the keys and values. */
export function contentBytes(records: readonly Pick<StreamRecord, 'key' | 'value'>[]): number {
  let bytes = 0;
  for (const { key, value } of records) {
    bytes += (key?.length ?? 0) + (value?.length ?? 0);
  }
  return bytes;
}
