import type { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import type { TopicPartition } from '../../records/record.ts';
import { Records } from '../../records/records.ts';
import type { TruncatedLog } from '../../stream/partition/topic-ids.ts';
import type { FetchedRecords, LogRange, UnreadableBatch } from '../../stream/ports/record-source.ts';
import type { LogEnds } from '../client/client-listener.ts';
import { readingTopic, TOPIC_AUTHORIZATION_FAILED } from '../client/kafka-errors.ts';
import { internals } from '../kafkajs/internals.ts';
import type { Divergence, FetchAnswer } from './fetch-answer.ts';
import { withoutAborted } from './fetch-answer.ts';
import { type FetchedPartition, NO_LEADER } from './fetched-partition.ts';
import type { ReadBatch, ReadSet, RecordSetReader } from './record-set.ts';

/** Kafka's codes in the answer for a partition. */
const OFFSET_OUT_OF_RANGE = 1;
const CORRUPT_MESSAGE = 2;
/** UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID: it may be that of a topic that is no more. */
const TOPIC_IS_GONE = new Set([3, 100, 103]);
/**
 * LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE, KAFKA_STORAGE_ERROR, LISTENER_NOT_FOUND,
 * FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE: the broker does not lead it, or not yet.
 */
const LEADER_MOVED = new Set([5, 6, 9, 56, 72, 74, 75, 78]);

/** Takes what fetches bring. All calls are synchronous; those about a partition come with its next fetch held back. */
export interface FetchListener {
  onFetched(fetched: FetchedRecords): void;
  onLogEnds(ends: LogEnds): void;
  /** The log as a reader of committed records sees it, about once a second while it is fetched. */
  onLog(log: LogRange): void;
  /** The partition, which may have had a fault, was answered without an error. */
  onReadable(partition: TopicPartition): void;
  /** The partition, which may have had a batch that cannot be read, brought batches. */
  onRead(partition: TopicPartition): void;
  onOutOfRange(partition: TopicPartition): void;
  onUnreadable(batch: UnreadableBatch): void;
  onTruncated(log: TruncatedLog): void;
}

/** Takes what answers say about leaders, too. */
interface CollectorListener extends FetchListener {
  /** Partitions have no leader any more, as far as is known. */
  onLeaderLost(): void;
  /** A broker answered for a partition with an error that no fetch is known to have. */
  onRefused(partition: TopicPartition, error: Error): void;
}

/**
 * Bytes of record sets that are read before the first of them is handed over: what comes at once shares a transaction.
 * More than that fills one, and is written while the rest of the answer is read.
 */
const MOST_HELD_BACK = 262_144;

/** The same of sets: they are handed over in one turn of the event loop, for which other work waits. */
const MOST_SETS_HELD_BACK = 200;

/** The record set of a partition, which was read, and is not handed over yet. */
interface ReadSetOf extends ReadSet {
  readonly partition: FetchedPartition;
}

/** A request that was sent, which the object itself identifies. */
export interface SentFetch {
  /** In the order of the request. */
  readonly partitions: readonly FetchedPartition[];
}

/**
 * Takes the answers to fetches: moves positions over what it hands over, and reports errors.
 *
 * Each offset of a partition is handed over with its range, or is still ahead of the position: what cannot be read, was
 * left out for want of memory, or came for a request of before, moves nothing. What is read waits for the rest of a
 * small answer, and no turn of the event loop lies between what is handed over of it.
 */
export class FetchCollector {
  readonly #sets: RecordSetReader;
  readonly #turns: EventLoopTurns;
  readonly #listener: CollectorListener;
  readonly #now: () => number;

  /** @param now milliseconds of a clock that never goes back. @default performance.now() */
  constructor(
    sets: RecordSetReader,
    turns: EventLoopTurns,
    listener: CollectorListener,
    now: () => number = () => performance.now(),
  ) {
    this.#sets = sets;
    this.#turns = turns;
    this.#listener = listener;
    this.#now = now;
  }

  /**
   * @returns of how many topics there were records
   * @throws InvalidAnswerError when the bytes are no answer; what came before was taken
   */
  async collect(sent: SentFetch, answer: FetchAnswer): Promise<number> {
    if (answer.error !== 0) {
      throw internals.createErrorFromCode(answer.error);
    }
    const now = this.#now();
    let bytes = 0;
    const topics = new Set<string>();
    const read: ReadSetOf[] = [];
    try {
      for (let place = 0; answer.next(); ) {
        const found = placeOf(sent.partitions, answer, place);
        const partition = sent.partitions[found];
        place = found + 1;
        // A partition that is not the request's any more was sought, paused or taken away meanwhile.
        if (partition?.request === sent && this.#isReadable(partition, answer, now)) {
          const { records, abortedTransactions } = answer;
          if (records !== null) {
            const { batches, fault } = await this.#sets.read(records, sent);
            read.push({ partition, batches: withoutAborted(batches, abortedTransactions), fault });
            topics.add(partition.topic);
            bytes += records.length;
            if (bytes >= MOST_HELD_BACK || read.length >= MOST_SETS_HELD_BACK) {
              this.#handOverAll(sent, read.splice(0));
              bytes = 0;
            }
            await this.#turns.afterTurn();
          }
        }
      }
    } finally {
      this.#handOverAll(sent, read);
    }
    return topics.size;
  }

  #handOverAll(sent: SentFetch, read: readonly ReadSetOf[]): void {
    for (const { partition, batches, fault } of read) {
      // What was handed over before may have led to a seek or a pause.
      if (partition.request === sent) {
        partition.request = null;
        const { nextOffset } = this.#handOver(partition, batches);
        // A seek from within the call is to an offset before the fault, or has nothing to do with it.
        if (fault !== null && partition.position === nextOffset) {
          const { topic, partition: number } = partition;
          this.#unreadable({ topic, partition: number, ...fault }, partition);
        }
      }
    }
  }

  /** A range without records is handed over like any other: the stored offset has to move over it, too. */
  #handOver(partition: FetchedPartition, batches: readonly ReadBatch[]): { readonly nextOffset: bigint } {
    const { topic, position: fetchedOffset } = partition;
    const [first, last] = [batches[0], batches.at(-1)];
    if (first === undefined || last === undefined || last.nextOffset <= fetchedOffset) {
      return { nextOffset: fetchedOffset };
    }
    const all = Records.joined(batches.map(({ records }) => records));
    // A broker sends the batch that the position is in from its beginning.
    const records = first.firstOffset < fetchedOffset ? all.behind(fetchedOffset) : all;
    const { nextOffset, leaderEpoch } = last;
    if (partition.mayHaveFault) {
      partition.mayHaveFault = false;
      this.#listener.onRead(partition);
    }
    partition.moveTo(nextOffset, leaderEpoch);
    const { partition: number } = partition;
    this.#listener.onFetched({ topic, partition: number, records, fetchedOffset, nextOffset, leaderEpoch });
    return { nextOffset };
  }

  /** Whether the answer may hold records for a reader; reports what else it says. */
  #isReadable(partition: FetchedPartition, answer: FetchAnswer, now: number): boolean {
    const { errorCode, divergence, highWatermark, lastStableOffset } = answer;
    if (errorCode !== 0) {
      this.#failed(partition, errorCode);
      return false;
    }
    if (partition.hasNewEnds(highWatermark, lastStableOffset, now)) {
      const { topic, partition: number } = partition;
      const ends = { highWatermark: BigInt(highWatermark), lastStableOffset: BigInt(lastStableOffset) };
      this.#listener.onLogEnds({ topic, partition: number, ...ends });
    }
    if (divergence !== null) {
      this.#diverged(partition, divergence);
      return false;
    }
    this.#lookAt(partition, answer, now);
    if (partition.mayHaveFault) {
      this.#listener.onReadable(partition);
    }
    return true;
  }

  /** A broker that just became the leader may know less of the log than was read; a log that was cut is an error. */
  #lookAt(partition: FetchedPartition, { logStart, lastStableOffset }: FetchAnswer, now: number): void {
    if (logStart >= 0 && lastStableOffset >= 0 && partition.isLookDue(now)) {
      const { topic, partition: number, position } = partition;
      const stable = BigInt(lastStableOffset);
      const end = stable > position ? stable : position;
      this.#listener.onLog({ topic, partition: number, start: BigInt(logStart), end });
    }
  }

  /** Nothing of a log that parts from what was read is handed over: its records stay ahead of the stored offset. */
  #diverged(partition: FetchedPartition, { leaderEpoch, endOffset }: Divergence): void {
    const { topic, position: readTo } = partition;
    if (endOffset < readTo) {
      partition.pause();
      this.#listener.onTruncated({ topic, partition: partition.partition, leaderEpoch, endOffset, readTo });
    } else {
      // The log parted from that epoch behind what was read, of which nothing is gone.
      partition.leaderEpoch = leaderEpoch;
    }
  }

  #failed(partition: FetchedPartition, code: number): void {
    const { topic, partition: number, position: offset } = partition;
    const target = { topic, partition: number };
    if (code === OFFSET_OUT_OF_RANGE || TOPIC_IS_GONE.has(code)) {
      partition.pause();
      this.#listener.onOutOfRange(target);
    } else if (code === TOPIC_AUTHORIZATION_FAILED) {
      const reason = `Kafka forbids it: ${readingTopic(topic)}`;
      this.#unreadable({ ...target, offset, code: 'TOPIC_FORBIDDEN', reason }, partition);
    } else if (code === CORRUPT_MESSAGE) {
      const reason = `the broker itself cannot read it: ${internals.createErrorFromCode(code).message}`;
      this.#unreadable({ ...target, offset, code: 'CORRUPT_BATCH', reason }, partition);
    } else if (!LEADER_MOVED.has(code)) {
      this.#listener.onRefused(target, internals.createErrorFromCode(code));
    }
    if (code !== OFFSET_OUT_OF_RANGE && code !== TOPIC_AUTHORIZATION_FAILED && code !== CORRUPT_MESSAGE) {
      partition.leader = NO_LEADER;
      this.#listener.onLeaderLost();
    }
  }

  /** Nothing of the batch is handed over, so its records stay ahead of the stored offset. */
  #unreadable(batch: UnreadableBatch, partition: FetchedPartition): void {
    partition.pause();
    partition.mayHaveFault = true;
    this.#listener.onUnreadable(batch);
  }
}

/** Brokers answer in the order of the request, or in another one that seldom changes: what is next comes first. */
function placeOf(partitions: readonly FetchedPartition[], answer: FetchAnswer, expected: number): number {
  for (let nth = 0; nth < partitions.length; nth += 1) {
    const place = (expected + nth) % partitions.length;
    const partition = partitions[place];
    if (partition !== undefined && answer.isAt(partition)) {
      return place;
    }
  }
  return -1;
}
