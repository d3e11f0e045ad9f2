import type { Kafka } from 'kafkajs';
import type { Logger } from '../logging/logger.ts';
import { MemoryBudget } from '../memory/memory-budget.ts';
import { partitionKey, type TopicPartition } from '../records/record.ts';
import { systemClock } from '../stream/ports/clock.ts';
import type { FetchedRecords, Position } from '../stream/ports/record-source.ts';
import { OutageError } from '../stream/ports/stream-errors.ts';
import { BrokerConnections, clusterApart } from './fetch/broker-connections.ts';
import type { FetchListener } from './fetch/fetch-collector.ts';
import { PartitionFetcher } from './fetch/partition-fetcher.ts';
import { KafkaAdmin } from './kafka-admin.ts';

/** A partition, and the offsets that are read of it. */
interface Wanted {
  readonly from: Position;
  /** Behind the last one. */
  readonly end: bigint;
}

const NOTHING = (): void => undefined;

/** What goes wrong meanwhile ends as the time that is over: a command says it once. */
export const SILENT: Logger = {
  trace: NOTHING,
  debug: NOTHING,
  info: NOTHING,
  warn: NOTHING,
  error: NOTHING,
  fatal: NOTHING,
};

/**
 * Reads the last records of topics without a group: no member joins, no offset is committed, and no consumer notices.
 * The requests are those of the consumer, so what it may read and what it can decode is the same.
 */
export class LastRecords {
  readonly #kafka: Kafka;
  readonly #admin: KafkaAdmin;

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
    this.#admin = new KafkaAdmin(kafka);
  }

  /**
   * Reads the last offsets of each partition of a topic, up to its end as it is now. Offsets without a record, as
   * compacted ones, count.
   *
   * @param count offsets of each partition
   * @param take called with the records of a batch, some of which may be of other offsets; they are good until it
   * returns
   * @throws OutageError when the brokers are away, a partition has no leader, or the time is over
   * @throws FatalError when an ACL forbids it
   */
  async read(
    topic: string,
    { count, timeoutMs }: { readonly count: number; readonly timeoutMs: number },
    take: (fetched: FetchedRecords) => void,
  ): Promise<void> {
    const wanted = await this.#wanted(topic, BigInt(count));
    const open = new Map(wanted.map((each) => [partitionKey(each.from), each.end]));
    if (open.size === 0) {
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const fetcher = this.#fetcher({
        onFetched: (fetched) => {
          take(fetched);
          const key = partitionKey(fetched);
          if (fetched.nextOffset >= (open.get(key) ?? 0n)) {
            open.delete(key);
            fetcher.pause(fetched);
          }
          if (open.size === 0) {
            end();
          }
        },
        // What cannot be read has no records: the consumer says more of it.
        onUnreadable: (batch) => close(batch),
        onOutOfRange: (partition) => close(partition),
      });
      const timer = setTimeout(() => {
        const reason = `the last records of ${topic} did not come within ${timeoutMs / 1_000} s`;
        end(new OutageError(reason, { reason: 'kafka_away' }));
      }, timeoutMs);
      const end = (error?: Error) => {
        clearTimeout(timer);
        fetcher.stop();
        error === undefined ? resolve() : reject(error);
      };
      const close = (partition: TopicPartition) => {
        open.delete(partitionKey(partition));
        if (open.size === 0) {
          end();
        }
      };
      fetcher.assign(wanted.map(({ from }) => from));
      for (const { from } of wanted) {
        fetcher.seek(from);
        fetcher.resume(from);
      }
    });
  }

  /** Ends the connections. */
  close(): Promise<void> {
    return this.#admin.disconnect();
  }

  /** Partitions that have records. */
  async #wanted(topic: string, count: bigint): Promise<readonly Wanted[]> {
    const logs = await this.#admin.logRanges(topic);
    return logs.flatMap((log) => {
      if ('isLeaderless' in log) {
        throw new OutageError(`${partitionKey(log)} has no leader`, { reason: 'kafka_away' });
      }
      const { partition, start, end } = log;
      const first = end - count > start ? end - count : start;
      return first < end ? [{ from: { topic, partition, offset: first }, end }] : [];
    });
  }

  #fetcher(listener: Pick<FetchListener, 'onFetched' | 'onUnreadable' | 'onOutOfRange'>): PartitionFetcher {
    return new PartitionFetcher({
      connections: new BrokerConnections(clusterApart(this.#kafka, { onAnswer: NOTHING }), systemClock),
      memory: new MemoryBudget(),
      clock: systemClock,
      logger: SILENT,
      listener: { onLogEnds: NOTHING, onReadable: NOTHING, onRead: NOTHING, onTruncated: NOTHING, ...listener },
      onPoll: NOTHING,
      onFetchedByName: NOTHING,
    });
  }
}
