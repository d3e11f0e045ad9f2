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

/** One entry of a partition as an object; nothing of it is decoded yet. Made where bytes alone are not enough. */
export interface StreamRecord {
  readonly offset: bigint;
  /** Milliseconds since the epoch; -1 where the producer gave none. */
  readonly timestamp: bigint;
  readonly key: Buffer | null;
  /** `null` is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

/** The keys of so many topics are kept. A new text is hashed anew in each Map, which costs several times as much. */
const MOST_KEPT_TOPICS = 10_000;

const keptKeys = new Map<string, string[]>();

/** Key of a partition in a Map. */
export function partitionKey({ topic, partition }: TopicPartition): string {
  let keys = keptKeys.get(topic);
  if (keys === undefined) {
    if (keptKeys.size >= MOST_KEPT_TOPICS) {
      return `${topic}/${partition}`;
    }
    keys = [];
    keptKeys.set(topic, keys);
  }
  keys[partition] ??= `${topic}/${partition}`;
  return keys[partition];
}
