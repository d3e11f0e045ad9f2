/**
 * The answer to Fetch, versions 4 to 11 and 13, as Kafka's own FetchResponse.json has it:
 *
 * ```text
 * throttle_time_ms      int32            from 8 on the client itself has to wait for so long (KIP-219)
 * error_code            int16    7+
 * session_id            int32    7+
 * responses             array
 *   topic               string   to 12
 *   topic_id            uuid     13+
 *   partitions          array
 *     partition_index   int32
 *     error_code        int16
 *     high_watermark    int64
 *     last_stable_offset int64
 *     log_start_offset  int64    5+
 *     aborted_transactions array, nullable
 *       producer_id     int64
 *       first_offset    int64
 *     preferred_read_replica int32 11+
 *     records           bytes, nullable
 *     tag 0, diverging_epoch: epoch int32, end_offset int64   12+
 * ```
 */
import { InvalidAnswerError } from '../../network/invalid-answer.ts';
import { Records } from '../../records/records.ts';
import { TOPIC_ID_BYTES } from '../kafkajs/flexible-versions.ts';
import { FETCH_BY_ID, nameIn } from './fetch-request.ts';
import type { FetchedPartition } from './fetched-partition.ts';
import type { ReadBatch } from './record-set.ts';

const TRANSACTION_BYTES = 16;
const DIVERGING_EPOCH = 0;
const DIVERGENCE_BYTES = 12;
/** Five bytes of seven bits each. */
const UVARINT_BITS = 35;

/** The first version whose throttle time is for the client to keep to. */
const FIRST_CLIENT_THROTTLE = 8;

const HIGH = 4_294_967_296;

const NO_TRANSACTIONS: readonly AbortedTransaction[] = [];

/** Where a log parts from the records that were read before the offset that was asked for (KIP-320). */
export interface Divergence {
  readonly leaderEpoch: number;
  /** The first offset that holds no record of that epoch, or of one before it. */
  readonly endOffset: bigint;
}

/**
 * Walks over the partitions of an answer, and makes no object of any: its fields are those of the partition that it is
 * at. No length and no count is believed: what is not there fails the answer, and nothing of the rest is looked at.
 *
 * @throws InvalidAnswerError by the constructor and by `next`, when the bytes are no answer
 */
export class FetchAnswer {
  readonly bytes: Buffer;
  readonly #view: DataView;
  readonly #version: number;
  readonly #isFlexible: boolean;
  #at = 0;
  #topicsLeft: number;
  #partitionsLeft = 0;
  #topicAt = 0;
  #topicEnd = 0;
  /** A name that was found to be that of the topic. */
  #sameName: Buffer | null = null;
  #setAt = 0;
  #setEnd = 0;
  /** The client is to wait for this time before its next request. */
  readonly clientSideThrottleTime: number;
  /** That of the whole answer. */
  readonly error: number;
  partition = -1;
  errorCode = 0;
  /** The end of the log for a reader of everything. */
  highWatermark = 0;
  /** The end of the log for a reader of committed records; -1 where the broker sends none. */
  lastStableOffset = 0;
  /** The first offset of the log; -1 where the broker sends none. */
  logStart = 0;
  abortedTransactions: readonly AbortedTransaction[] = NO_TRANSACTIONS;
  /** `null`: the log holds what was read. */
  divergence: Divergence | null = null;

  constructor(bytes: Buffer, version: number) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#version = version;
    this.#isFlexible = version >= 12;
    this.#tags(); // of the head, which kafkajs does not read
    const throttle = this.#int32();
    this.clientSideThrottleTime = version >= FIRST_CLIENT_THROTTLE ? throttle : 0;
    this.error = version >= 7 ? this.#int16() : 0;
    this.#skip(version >= 7 ? 4 : 0);
    this.#topicsLeft = this.#count(1);
  }

  /** Moves to the next partition. @returns whether there is one */
  next(): boolean {
    while (this.#partitionsLeft === 0) {
      if (this.#topicsLeft === 0) {
        return false;
      }
      this.#topicsLeft -= 1;
      this.#beginTopic();
    }
    this.#readPartition();
    this.#partitionsLeft -= 1;
    if (this.#partitionsLeft === 0) {
      this.#tags();
    }
    return true;
  }

  /** Whether it is at this partition. */
  isAt(partition: FetchedPartition): boolean {
    if (partition.partition !== this.partition) {
      return false;
    }
    const name = nameIn(this.#version, partition);
    if (name === this.#sameName) {
      return true;
    }
    const isSame = this.bytes.compare(name, 0, name.length, this.#topicAt, this.#topicEnd) === 0;
    this.#sameName = isSame ? name : this.#sameName;
    return isSame;
  }

  /** The record set, which shares the memory of the answer; `null` where it is empty. */
  get records(): Buffer | null {
    return this.#setEnd > this.#setAt ? this.bytes.subarray(this.#setAt, this.#setEnd) : null;
  }

  #beginTopic(): void {
    const length = this.#version >= FETCH_BY_ID ? TOPIC_ID_BYTES : this.#int16();
    this.#sameName = null;
    this.#topicAt = this.#skip(length);
    this.#topicEnd = this.#at;
    this.#partitionsLeft = this.#count(1);
    if (this.#partitionsLeft === 0) {
      this.#tags();
    }
  }

  #readPartition(): void {
    this.partition = this.#int32();
    this.errorCode = this.#int16();
    this.highWatermark = this.#int64();
    this.lastStableOffset = this.#int64();
    this.logStart = this.#version >= 5 ? this.#int64() : -1;
    const transactions = this.#count(TRANSACTION_BYTES);
    this.abortedTransactions = transactions === 0 ? NO_TRANSACTIONS : this.#readTransactions(transactions);
    this.#skip(this.#version >= 11 ? 4 : 0);
    const size = this.#isFlexible ? this.#uvarint() - 1 : this.#int32();
    this.#setAt = this.#skip(Math.max(0, size));
    this.#setEnd = this.#at;
    this.divergence = null;
    this.#tags(true);
  }

  #readTransactions(count: number): readonly AbortedTransaction[] {
    return Array.from({ length: count }, () => {
      const at = this.#skip(TRANSACTION_BYTES);
      this.#tags();
      return { producerId: this.#view.getBigInt64(at), firstOffset: this.#view.getBigInt64(at + 8) };
    });
  }

  /** Reads a section of tagged fields. */
  #tags(isOfPartition = false): void {
    for (let left = this.#isFlexible ? this.#uvarint() : 0; left > 0; left -= 1) {
      const tag = this.#uvarint();
      const size = this.#uvarint();
      const at = this.#skip(size);
      if (isOfPartition && tag === DIVERGING_EPOCH && size >= DIVERGENCE_BYTES) {
        this.divergence = { leaderEpoch: this.#view.getInt32(at), endOffset: this.#view.getBigInt64(at + 4) };
      }
    }
  }

  #int16(): number {
    return this.#view.getInt16(this.#skip(2));
  }

  #int32(): number {
    return this.#view.getInt32(this.#skip(4));
  }

  #int64(): number {
    const at = this.#skip(8);
    return this.#view.getInt32(at) * HIGH + this.#view.getUint32(at + 4);
  }

  #uvarint(): number {
    let value = 0;
    for (let bits = 0; bits < UVARINT_BITS; bits += 7) {
      const byte = this.#view.getUint8(this.#skip(1));
      value += (byte & 0x7f) * 2 ** bits;
      if (byte < 0x80) {
        return value;
      }
    }
    throw invalidFetch('has a number of more than five bytes');
  }

  /** How many items follow, each of so many bytes at least; none where there is no list. */
  #count(leastBytes: number): number {
    const count = Math.max(0, this.#isFlexible ? this.#uvarint() - 1 : this.#int32());
    if (count * leastBytes > this.bytes.length - this.#at) {
      throw invalidFetch(`counts ${count} items, and ${this.bytes.length - this.#at} bytes are left for them`);
    }
    return count;
  }

  /** Passes over bytes. @returns where they begin */
  #skip(size: number): number {
    const at = this.#at;
    if (!(size >= 0 && size <= this.bytes.length - at)) {
      throw invalidFetch(`has a field of ${size} bytes, and ${this.bytes.length - at} are left`);
    }
    this.#at = at + size;
    return at;
  }
}

const invalidFetch = (text: string): InvalidAnswerError =>
  new InvalidAnswerError(`an answer of Kafka ${text}: a proxy or a wrong port answers like that`);

/** An aborted transaction of the answer to a fetch. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

/**
 * The batches with the records of aborted transactions left out; each still has its range of offsets.
 *
 * As in Kafka's own client, a transaction begins at its first offset, whatever other one it lies in, and ends at the
 * abort marker of its producer. All records of a batch are of one producer, and in one transaction or in none.
 *
 * @param transactions in any order: brokers list them by their ends, and Redpanda does not sort them
 */
export function withoutAborted(
  batches: readonly ReadBatch[],
  transactions: readonly AbortedTransaction[],
): readonly ReadBatch[] {
  if (transactions.length === 0) {
    return batches;
  }
  const ahead = [...transactions].sort((one, other) => (one.firstOffset > other.firstOffset ? -1 : 1));
  const aborted = new Set<bigint>();
  return batches.map((batch) => {
    for (let next = ahead.at(-1); next !== undefined && next.firstOffset < batch.nextOffset; next = ahead.at(-1)) {
      aborted.add(next.producerId);
      ahead.pop();
    }
    if (batch.control === 'abort') {
      aborted.delete(batch.producerId);
    }
    return batch.isTransactional && aborted.has(batch.producerId) ? { ...batch, records: Records.NONE } : batch;
  });
}
