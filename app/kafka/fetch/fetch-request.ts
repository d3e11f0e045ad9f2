/**
 * The request Fetch, versions 4 to 11 and 13, as Kafka's own FetchRequest.json has it:
 *
 * ```text
 * replica_id            int32    -1, a consumer
 * max_wait_ms           int32
 * min_bytes             int32
 * max_bytes             int32
 * isolation_level       int8     1, committed records alone
 * session_id            int32    7+      0, no session
 * session_epoch         int32    7+      -1, no session
 * topics                array
 *   topic               string   to 12
 *   topic_id            uuid     13+
 *   partitions          array
 *     partition         int32
 *     current_leader_epoch int32 9+      -1, not compared
 *     fetch_offset      int64
 *     last_fetched_epoch int32   12+     -1, not known
 *     log_start_offset  int64    5+      -1, a consumer has no log
 *     partition_max_bytes int32
 * forgotten_topics_data array    7+      empty
 * rack_id               string   11+     empty
 * ```
 *
 * From 12 on lengths and counts are unsigned varints and one more than they are, and each structure ends with a count
 * of tagged fields (KIP-482). So does the head of the request. Version 12 is never used: it has names, and no more than
 * 13 has.
 */
import type { FetchedPartition } from './fetched-partition.ts';

export const FETCH_KEY = 1;

/** The first version that names topics by their ids: Kafka 3.1. */
export const FETCH_BY_ID = 13;

/** The last version before those with tagged fields: Kafka 2.3. */
const LAST_BY_NAME = 11;

const CONSUMER = -1;
const NOT_TOLD = -1;
const READ_COMMITTED = 1;

/** The most that a request has beside its topics, that a topic has beside its name, and that a partition has. */
const MOST_HEAD_BYTES = 48;
const MOST_TOPIC_BYTES = 24;
const MOST_PARTITION_BYTES = 36;

/** The version to fetch by from a broker. @param offered its latest one */
export const fetchVersion = (offered: number, isById: boolean): number =>
  offered >= FETCH_BY_ID && isById ? FETCH_BY_ID : Math.min(offered, LAST_BY_NAME);

/** How a broker is to answer. */
export interface FetchBounds {
  /** The broker answers at once when it has so many bytes, and after this time when it has fewer. */
  readonly minBytes: number;
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  readonly maxBytesPerPartition: number;
}

/** How a request names the topic of a partition. */
export const nameIn = (version: number, partition: FetchedPartition): Buffer =>
  version >= FETCH_BY_ID ? (partition.id ?? partition.name) : partition.name;

/** Writes requests into one Buffer, again and again: the bytes of one are good until the next one is written. */
export class FetchEncoder {
  #buffer = Buffer.allocUnsafe(4_096);
  #at = 0;
  #isFlexible = false;

  /** @param partitions those of a topic in a row; with their ids from version 13 on */
  encode(version: number, partitions: readonly FetchedPartition[], bounds: FetchBounds): Buffer {
    const ends = endsOfTopics(version, partitions);
    this.#begin(version, partitions, ends.length);
    this.#int32(CONSUMER);
    this.#int32(bounds.maxWaitMs);
    this.#int32(Math.min(bounds.minBytes, bounds.maxBytes));
    this.#int32(bounds.maxBytes);
    this.#at = this.#buffer.writeInt8(READ_COMMITTED, this.#at);
    if (version >= 7) {
      this.#int32(0);
      this.#int32(NOT_TOLD);
    }
    this.#count(ends.length);
    let from = 0;
    for (const to of ends) {
      this.#topic(version, partitions, from, to, bounds.maxBytesPerPartition);
      from = to;
    }
    this.#end(version);
    return this.#buffer.subarray(0, this.#at);
  }

  #begin(version: number, partitions: readonly FetchedPartition[], topics: number): void {
    let most = MOST_HEAD_BYTES + topics * MOST_TOPIC_BYTES + partitions.length * MOST_PARTITION_BYTES;
    for (const { name } of partitions) {
      most += name.length;
    }
    if (most > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafe(2 * most);
    }
    this.#at = 0;
    this.#isFlexible = version >= 12;
    this.#tags(); // of the head, which kafkajs does not write
  }

  #topic(version: number, partitions: readonly FetchedPartition[], from: number, to: number, maxBytes: number): void {
    const first = partitions[from];
    const name = first === undefined ? Buffer.alloc(0) : nameIn(version, first);
    if (version < FETCH_BY_ID) {
      this.#at = this.#buffer.writeInt16BE(name.length, this.#at);
    }
    this.#at += name.copy(this.#buffer, this.#at);
    this.#count(to - from);
    for (let nth = from; nth < to; nth += 1) {
      const partition = partitions[nth];
      if (partition !== undefined) {
        this.#partition(version, partition, maxBytes);
      }
    }
    this.#tags();
  }

  #partition(version: number, fetched: FetchedPartition, maxBytes: number): void {
    this.#int32(fetched.partition);
    if (version >= 9) {
      this.#int32(NOT_TOLD);
    }
    this.#int32(fetched.upperHalf);
    this.#at = this.#buffer.writeUInt32BE(fetched.lowerHalf, this.#at);
    if (version >= 12) {
      this.#int32(fetched.leaderEpoch);
    }
    if (version >= 5) {
      this.#int32(NOT_TOLD);
      this.#int32(NOT_TOLD);
    }
    this.#int32(maxBytes);
    this.#tags();
  }

  #end(version: number): void {
    if (version >= 7) {
      this.#count(0);
    }
    if (version >= 12) {
      this.#count(0); // an empty string
    } else if (version >= 11) {
      this.#at = this.#buffer.writeInt16BE(0, this.#at);
    }
    this.#tags();
  }

  #int32(value: number): void {
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  #count(items: number): void {
    if (!this.#isFlexible) {
      this.#int32(items);
      return;
    }
    let rest = items + 1;
    for (; rest >= 0x80; rest >>>= 7) {
      this.#at = this.#buffer.writeUInt8((rest & 0x7f) | 0x80, this.#at);
    }
    this.#at = this.#buffer.writeUInt8(rest, this.#at);
  }

  #tags(): void {
    if (this.#isFlexible) {
      this.#at = this.#buffer.writeUInt8(0, this.#at);
    }
  }
}

/** Where the partitions of each topic end. */
function endsOfTopics(version: number, partitions: readonly FetchedPartition[]): readonly number[] {
  const ends: number[] = [];
  let name: Buffer | null = null;
  for (let nth = 0; nth < partitions.length; nth += 1) {
    const partition = partitions[nth];
    const next: Buffer | null = partition === undefined ? name : nameIn(version, partition);
    if (nth > 0 && next !== name) {
      ends.push(nth);
    }
    name = next;
  }
  return partitions.length === 0 ? ends : [...ends, partitions.length];
}
