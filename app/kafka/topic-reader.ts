import type { Kafka } from 'kafkajs';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import { MemoryBudget } from '../memory/memory-budget.ts';
import { partitionKey, type TopicPartition } from '../records/record.ts';
import type { Records } from '../records/records.ts';
import { systemClock } from '../stream/ports/clock.ts';
import type { LogRange, PartitionLog, UnreadableBatch } from '../stream/ports/record-source.ts';
import { FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import { BrokerConnections } from './fetch/broker-connections.ts';
import { clusterApart } from './fetch/cluster-apart.ts';
import type { FetchListener } from './fetch/fetch-collector.ts';
import { PartitionFetcher } from './fetch/partition-fetcher.ts';
import { KafkaAdmin } from './kafka-admin.ts';
import { createKafkaClient, type SharedByClients, shareByClients } from './kafka-client.ts';

/** Which offsets of a topic are read. */
export interface Selection {
  /** The first offsets, the last ones, or those from an offset of each partition on. */
  readonly from: 'earliest' | 'latest' | bigint;
  /** Offsets at most, shared by the partitions. */
  readonly count: number;
}

/** Records of one partition, and none of other offsets than selected. */
export interface ReadRecords extends TopicPartition {
  readonly records: Records;
}

/** What is called while a topic is read. */
interface TopicReading {
  /** Its records are good until it returns. */
  take(read: ReadRecords): void;
  /** The partition is read no further. @default nothing is called */
  readonly onUnreadable?: (batch: UnreadableBatch) => void;
  /** The log does not hold what is selected of the partition any more. @default nothing is called */
  readonly onOutOfRange?: (partition: TopicPartition) => void;
  /** Ends the reading without an error. @default nothing does */
  readonly signal?: AbortSignal;
  /** Whether what was taken of the partition is enough. @default once all that is selected was */
  readonly isEnough?: (partition: TopicPartition) => boolean;
  /** What is fetched fits into it. @default that of the process */
  readonly memory?: MemoryBudget;
}

/** What a reading does with what is fetched. */
type ReadingListener = Pick<FetchListener, 'onFetched' | 'onUnreadable' | 'onOutOfRange'>;

const ignore = (): void => undefined;

/** What goes wrong meanwhile ends as the time that is over: a command says it once. */
export const SILENT: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
};

/** A command asks a broker that is away once more. */
const RETRIES = 1;

/** Each broker answers with 64 KiB then, or with one batch: the limit of the memory that this is a share of. */
const MEMORY_OF_FIRST_RECORDS = 2_097_152;

/** So long nothing may come before it counts as an outage. */
const SILENCE_MS = 10_000;

/**
 * The offsets that are read of each partition. What one partition has too few of, the others give.
 *
 * @param logs of all partitions of a topic
 */
export function selectedRanges(logs: readonly LogRange[], { from, count }: Selection): readonly LogRange[] {
  const inLog = logs.map((log) => ({
    ...log,
    start: typeof from === 'bigint' && from > log.start ? (from < log.end ? from : log.end) : log.start,
  }));
  const smallestFirst = inLog.toSorted(
    (one, other) => Number(one.end - one.start - (other.end - other.start)) || one.partition - other.partition,
  );
  let left = BigInt(count);
  const ranges = smallestFirst.map((log, nth): LogRange => {
    const partitions = BigInt(smallestFirst.length - nth);
    const share = (left + partitions - 1n) / partitions;
    const size = log.end - log.start < share ? log.end - log.start : share;
    left -= size;
    return from === 'latest' ? { ...log, start: log.end - size } : { ...log, end: log.start + size };
  });
  return ranges.filter(({ start, end }) => start < end).sort((one, other) => one.partition - other.partition);
}

/** The records below an offset. */
function below(records: Records, end: bigint): Records {
  let count = 0;
  records.forEach((record) => {
    count += record.offset < end ? 1 : 0;
  });
  return records.slice(0, count);
}

/** What becomes of the reading of all partitions, or of one. */
interface Readings {
  onAnswer(): void;
  close(partition: TopicPartition): void;
  finish(error: unknown): void;
}

/** @param open the ends of the partitions that are read further */
const listenerOf = (
  { take, isEnough, onUnreadable, onOutOfRange }: TopicReading,
  open: ReadonlyMap<string, bigint>,
  { onAnswer, close, finish }: Readings,
): ReadingListener => ({
  onFetched: (fetched) => {
    onAnswer();
    const end = open.get(partitionKey(fetched)) ?? 0n;
    try {
      take({ ...fetched, records: below(fetched.records, end) });
    } catch (error) {
      finish(error);
      return;
    }
    if (fetched.nextOffset >= end || isEnough?.(fetched) === true) {
      close(fetched);
    }
  },
  onUnreadable: (batch) => {
    if (batch.code === 'TOPIC_FORBIDDEN') {
      finish(new FatalError(batch.code, batch.reason));
      return;
    }
    onUnreadable?.(batch);
    close(batch);
  },
  onOutOfRange: (partition) => {
    onOutOfRange?.(partition);
    close(partition);
  },
});

/**
 * Reads records of topics without a group: no member joins, no offset is committed, and no consumer notices. The
 * requests are those of the consumer, so what it may read and what it can decode is the same.
 */
export class TopicReader {
  readonly #kafka: Kafka;
  readonly #admin: KafkaAdmin;

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
    this.#admin = new KafkaAdmin(kafka);
  }

  /**
   * Reads the selected offsets of a topic, up to its end as it is now. Offsets without a record, as compacted ones,
   * count.
   *
   * @returns what was selected; partitions without a record are left out
   * @throws OutageError when the brokers are away, a partition has no leader, or nothing came for 10 s
   * @throws FatalError when an ACL forbids it
   */
  async read(topic: string, selection: Selection, reading: TopicReading): Promise<readonly LogRange[]> {
    const ranges = selectedRanges(await this.#logs(topic), selection);
    if (ranges.length > 0 && reading.signal?.aborted !== true) {
      await this.#readRanges(ranges, topic, reading);
    }
    return ranges;
  }

  /**
   * The timestamps of the first record in each range of a topic, in milliseconds, by partition. `null`: the record has
   * none, or cannot be read. A range without a record is left out, and so is one that was not read before the signal.
   *
   * @throws OutageError when the brokers are away, or nothing came for 10 s
   * @throws FatalError when an ACL forbids it
   */
  async firstTimestamps(
    topic: string,
    ranges: readonly LogRange[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, number | null>> {
    const found = new Map<number, number | null>();
    const take = ({ partition, records }: ReadRecords): void => {
      const first = records.markAt(0);
      if (first !== null && !found.has(partition)) {
        found.set(partition, first.timestamp < 0n ? null : Number(first.timestamp));
      }
    };
    const isEnough = ({ partition }: TopicPartition): boolean => found.has(partition);
    const unknown = ({ partition }: TopicPartition) => void found.set(partition, null);
    const memory = new MemoryBudget(MEMORY_OF_FIRST_RECORDS);
    const reading = { take, isEnough, onUnreadable: unknown, onOutOfRange: unknown, signal, memory };
    if (ranges.length > 0 && !signal.aborted) {
      await this.#readRanges(ranges, topic, reading);
    }
    return found;
  }

  /** As {@link KafkaAdmin.retentionMs} does. */
  retentionMs(topic: string): Promise<number | null> {
    return this.#admin.retentionMs(topic);
  }

  /** As {@link KafkaAdmin.logRanges} does. */
  logRanges(topic: string): Promise<readonly PartitionLog[]> {
    return this.#admin.logRanges(topic);
  }

  /** Ends the connections. */
  close(): Promise<void> {
    return this.#admin.disconnect();
  }

  async #logs(topic: string): Promise<readonly LogRange[]> {
    const logs = await this.#admin.logRanges(topic);
    return logs.map((log) => {
      if ('isLeaderless' in log) {
        throw new OutageError(`${partitionKey(log)} has no leader`, { reason: 'kafka_away' });
      }
      return log;
    });
  }

  #readRanges(ranges: readonly LogRange[], topic: string, reading: TopicReading): Promise<void> {
    const { signal, memory = new MemoryBudget() } = reading;
    const open = new Map(ranges.map((range) => [partitionKey(range), range.end]));
    return new Promise<void>((resolve, reject) => {
      const silence = setTimeout(() => {
        const reason = `no further records of ${topic} came within ${SILENCE_MS / 1_000} s`;
        finish(new OutageError(reason, { reason: 'kafka_away' }));
      }, SILENCE_MS);
      const finish = (error?: unknown) => {
        clearTimeout(silence);
        signal?.removeEventListener('abort', onAbort);
        fetcher.stop();
        error === undefined ? resolve() : reject(error);
      };
      const onAbort = () => finish();
      const close = (partition: TopicPartition) => {
        open.delete(partitionKey(partition));
        fetcher.pause(partition);
        if (open.size === 0) {
          finish();
        }
      };
      const onAnswer = () => void silence.refresh();
      const fetcher = this.#fetcher(listenerOf(reading, open, { onAnswer, close, finish }), memory);
      signal?.addEventListener('abort', onAbort);
      fetcher.assign(ranges.map(({ partition, start }) => ({ topic, partition, offset: start })));
      for (const { partition, start } of ranges) {
        fetcher.seek({ topic, partition, offset: start });
        fetcher.resume({ topic, partition });
      }
    });
  }

  #fetcher(listener: ReadingListener, memory: MemoryBudget): PartitionFetcher {
    return new PartitionFetcher({
      connections: new BrokerConnections(clusterApart(this.#kafka), systemClock),
      memory,
      clock: systemClock,
      logger: SILENT,
      listener: {
        onLogEnds: ignore,
        onLog: ignore,
        onReadable: ignore,
        onRead: ignore,
        onTruncated: ignore,
        ...listener,
      },
      onPoll: ignore,
      onFetchedByName: ignore,
    });
  }
}

/** Makes a reader for a command; it connects to nothing yet. */
export function openTopicReader(kafka: Settings['kafka']): TopicReader {
  const shared = shareByClients(() => kafka, SILENT, ignore);
  return new TopicReader(createKafkaClient(shared, RETRIES));
}

/**
 * Makes a reader for a consumer, with the logins of its clients and without lines of the log: no record waits for what
 * it asks. It connects to nothing yet.
 */
export const openReaderBeside = (shared: SharedByClients): TopicReader =>
  new TopicReader(createKafkaClient({ ...shared, log: { write: ignore } }, RETRIES));
