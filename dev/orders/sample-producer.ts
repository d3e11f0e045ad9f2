import type { Kafka, Message, Producer, RecordMetadata } from 'kafkajs';
import { type SampleHeader, type SampleRecord, sampleRecord } from './sample-record.ts';

interface Destination {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
}

/** The record at an index of a stream: the same for the same seed and number of partitions. */
export type RecordAt = (seed: number, index: number, partitions: number) => SampleRecord;

/** One acknowledged request: the records from `firstIndex` up to but without `firstIndex + count`, in this order. */
interface AcknowledgedBatch {
  readonly firstIndex: number;
  readonly count: number;
  /** Offset of the batch's first record in each partition that it touched. */
  readonly baseOffsets: ReadonlyMap<number, bigint>;
}

/** Produces sample records and keeps the offsets that the broker acknowledged. */
export class SampleProducer {
  readonly #destination: Destination;
  readonly #seed: number;
  readonly #recordAt: RecordAt;
  readonly #producer: Producer;
  readonly #batches: AcknowledgedBatch[] = [];
  #next = 0;

  /** @param recordAt the stream. @default the sample orders */
  constructor(destination: Destination, seed: number, recordAt: RecordAt = sampleRecord) {
    this.#destination = destination;
    this.#seed = seed;
    this.#recordAt = recordAt;
    this.#producer = destination.kafka.producer({ allowAutoTopicCreation: false });
  }

  /** Records that the broker acknowledged so far. */
  get acknowledged(): number {
    return this.#next;
  }

  /** All acknowledged records, one by one. */
  records(): Generator<ProducedRecord> {
    return producedRecords(this.#batches, this.#seed, this.#destination.partitions, this.#recordAt);
  }

  connect(): Promise<void> {
    return this.#producer.connect();
  }

  disconnect(): Promise<void> {
    return this.#producer.disconnect();
  }

  /** Sends the next `count` records in one request and waits until every replica in sync has them. */
  async send(count: number): Promise<void> {
    const firstIndex = this.#next;
    const { topic, partitions } = this.#destination;
    const messages = Array.from({ length: count }, (_, nth) =>
      toMessage(this.#recordAt(this.#seed, firstIndex + nth, partitions)),
    );
    const answer = await this.#producer.send({ topic, messages });
    this.#batches.push({ firstIndex, count, baseOffsets: baseOffsets(answer) });
    this.#next += count;
  }
}

/** A record as kafkajs takes it. */
export function toMessage({ partition, key, value, headers }: SampleRecord): Message {
  return { partition, key, value, headers: toHeaders(headers) };
}

/** kafkajs takes several headers of one name as an array under that name. */
function toHeaders(headers: readonly SampleHeader[]): Record<string, string | Buffer | (string | Buffer)[]> {
  const byKey: Record<string, (string | Buffer)[]> = {};
  for (const [key, value] of headers) {
    byKey[key] = [...(byKey[key] ?? []), value];
  }
  return byKey;
}

function baseOffsets(answer: readonly RecordMetadata[]): ReadonlyMap<number, bigint> {
  return new Map(answer.map(({ partition, baseOffset }) => [partition, BigInt(baseOffset ?? -1)]));
}

/** A record together with the offset at which the broker stored it. */
export interface ProducedRecord extends SampleRecord {
  readonly offset: bigint;
}

/** All records of the batches with their offsets, made again from the seed, so that none has to be kept. */
export function* producedRecords(
  batches: readonly AcknowledgedBatch[],
  seed: number,
  partitions: number,
  recordAt: RecordAt = sampleRecord,
): Generator<ProducedRecord> {
  for (const { firstIndex, count, baseOffsets } of batches) {
    const next = new Map(baseOffsets);
    for (let index = firstIndex; index < firstIndex + count; index += 1) {
      const record = recordAt(seed, index, partitions);
      const offset = next.get(record.partition);
      if (offset === undefined) {
        throw new Error(`record ${index} went to partition ${record.partition}, which the broker did not acknowledge`);
      }
      next.set(record.partition, offset + 1n);
      yield { ...record, offset };
    }
  }
}

/** The offset after the last record, for each partition that has one. */
export function endOffsets(records: Iterable<ProducedRecord>): ReadonlyMap<number, bigint> {
  const ends = new Map<number, bigint>();
  for (const { partition, offset } of records) {
    ends.set(partition, offset + 1n);
  }
  return ends;
}

/** The last record of each key that is there at the end, of records in the order of their offsets. */
export function lastStates(records: Iterable<ProducedRecord>): ReadonlyMap<string, ProducedRecord> {
  const states = new Map<string, ProducedRecord>();
  for (const record of records) {
    if (record.reason !== undefined) {
      continue;
    }
    if (record.value === null) {
      states.delete(String(record.key));
    } else {
      states.set(String(record.key), record);
    }
  }
  return states;
}

/** The same of changes with a version: one that is older than the state of its key is none. A tombstone has none. */
export function newestStates(
  records: Iterable<ProducedRecord>,
  versionOf: (value: Buffer) => string,
): ReadonlyMap<string, ProducedRecord> {
  const versions = new Map<string, string>();
  const states = new Map<string, ProducedRecord>();
  for (const record of records) {
    const { value, reason } = record;
    const key = String(record.key);
    const version = value === null || reason !== undefined ? '' : versionOf(value);
    if (reason === undefined && value === null) {
      states.delete(key);
      versions.delete(key);
    } else if (reason === undefined && version >= (versions.get(key) ?? '')) {
      states.set(key, record);
      versions.set(key, version);
    }
  }
  return states;
}
