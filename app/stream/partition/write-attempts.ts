import type { TopicPartition } from '../../records/record.ts';
import type { WriteOutcome, WriteRequest } from '../ports/record-sink.ts';
import type { Position } from '../ports/record-source.ts';
import type { OutageError } from '../ports/stream-errors.ts';
import { Handover } from './handover.ts';
import type { PartitionProgress } from './lag.ts';
import { storedPosition } from './positions.ts';
import { Retries } from './retries.ts';
import type { StreamPorts } from './stream-ports.ts';
import { identifiedPositions } from './topic-ids.ts';

/** What follows from a failed write. */
interface Consequence {
  /** `null`: no outage is reported, unless the position cannot be read. */
  readonly outage: OutageError | null;
  /** Whether the first attempt to read the position is one of the retries that are reported. */
  readonly isRetry: boolean;
}

/** Attempts to write records of one partition: counts those that fail, and finds out where to go on from. */
export class WriteAttempts {
  readonly handover: Handover;
  readonly #partition: TopicPartition;
  readonly #ports: StreamPorts;
  readonly #progress: PartitionProgress;
  readonly #retries: Retries;

  /** @param isWon whether the group has just given the partition */
  constructor(partition: TopicPartition, ports: StreamPorts, progress: PartitionProgress, isWon: boolean) {
    this.handover = new Handover(partition, ports, isWon);
    this.#partition = partition;
    this.#ports = ports;
    this.#progress = progress;
    this.#retries = new Retries(ports.clock);
  }

  /**
   * Writes the records of a request, behind what has to be known for that: no transaction waits for it, and no other
   * partition. Once the signal is aborted, what is missing is not waited for, and the records stay ahead of the stored
   * offset.
   */
  async write(request: WriteRequest, signal: AbortSignal): Promise<WriteOutcome> {
    const { prepare, clock, sink } = this.#ports;
    const fetching = prepare?.(request, signal);
    if (fetching === undefined) {
      this.#progress.schemaWait.end();
    } else {
      await this.#progress.schemaWait.during(fetching, clock.steady());
    }
    return sink.write(request);
  }

  /** One was committed. */
  succeeded(): void {
    this.#retries.succeeded();
  }

  /**
   * @param outage `null`: another writer had moved the offset
   * @throws FatalError `DATABASE_REFUSED` when there are as many unknown outages in a row as this one allows, and
   * `TABLE_REFUSES_ROWS` where it is about one table
   */
  failed(outage: OutageError | null): Consequence {
    const explanation = this.handover.failed(outage);
    if (explanation === 'counted') {
      return this.uncounted(outage);
    }
    // A former owner that has moved the offset is done: the new one goes on at once. Any other one may still write.
    if (outage || explanation === 'set aside') {
      this.#retries.failed();
      return { outage: null, isRetry: false };
    }
    return { outage: null, isRetry: true };
  }

  /**
   * The same of one that is counted elsewhere, or not at all. A registry that is away holds up this partition alone,
   * and a table that takes no rows its topic, where that may wait: for the others the sink is there.
   */
  uncounted(outage: OutageError | null): Consequence {
    this.#retries.failed(outage ?? undefined);
    const isOfTopic = outage?.table !== undefined && this.#ports.mayWait?.(this.#partition.topic) === true;
    return { outage: isOfTopic || outage?.reason === 'registry_away' ? null : outage, isRetry: true };
  }

  /**
   * Reads the stored position until PostgreSQL returns it, or the signal is aborted.
   *
   * @param lastSeen the stored offset as far as it was known
   * @throws FatalError as {@link failed} does, `STORED_OFFSET_MISSING`, `TOPIC_RECREATED`
   */
  async position(
    lastSeen: bigint,
    { outage, isRetry }: Consequence,
    signal: AbortSignal,
  ): Promise<Position | undefined> {
    const { listener, onOutage } = this.#ports;
    let reported = outage;
    if (outage) {
      onOutage(outage);
    }
    let isReported = isRetry;
    const read = () => identifiedPositions(this.#ports, [this.#partition.topic]);
    const stored = await this.#retries.until(read, signal, {
      onOutage: (error) => {
        this.#progress.positionIsUnread();
        if (reported === null) {
          // Whatever the write was, a position that cannot be read is an outage.
          reported = error;
          onOutage(error);
        }
      },
      onRetry: () => {
        if (isReported) {
          listener.onRetry();
        }
        isReported = true;
      },
    });
    if (stored !== undefined) {
      this.#progress.positionIsRead();
    }
    const position = stored && storedPosition(this.#partition, stored.positions, lastSeen);
    if (reported) {
      onOutage(null);
    }
    return position;
  }
}
