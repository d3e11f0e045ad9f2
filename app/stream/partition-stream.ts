import { backoffMs } from './backoff.ts';
import { BatchLimit } from './batch-limit.ts';
import { timeOfDay } from './clock.ts';
import type { PartitionReport } from './consumer-report.ts';
import { FatalError } from './fatal-error.ts';
import { findPosition } from './out-of-range.ts';
import { OutageError, outageOnly, UnknownOutages } from './outage-error.ts';
import { ownPosition } from './own-position.ts';
import { PartitionProgress } from './partition-progress.ts';
import type { RecordBatch, TopicPartition } from './record.ts';
import { type QueuedRecords, RecordQueue } from './record-queue.ts';
import type { Gap } from './record-sink.ts';
import type { LogRange } from './record-source.ts';
import type { StreamOptions, StreamPorts } from './stream-ports.ts';

/**
 * One owned partition: takes batches in, writes them one transaction after the other.
 *
 * Why each record is written exactly once, whatever the source delivers:
 *
 * 1. `#position` is where the next batch has to begin. A batch that begins above it is refused and sought back, one that
 *    begins below it is cropped, so the queue holds every offset from `#nextOffset` up to `#position` once, in order.
 * 2. A batch carries its own first offset through the queue. Its transaction moves the stored offset from exactly that
 *    offset to the end of what it writes, or writes nothing. Two writers of one partition therefore never both commit the
 *    same offsets, even if both believe to own it; and records that stayed in the queue by mistake, after the stored offset
 *    went elsewhere, are refused by PostgreSQL instead of written over a hole.
 * 3. Whenever the outcome of a transaction is not known to be "committed", the queue is dropped and `#nextOffset` and
 *    `#position` are read from PostgreSQL again. What was dropped is still ahead of the stored offset and is fetched again.
 */
export class PartitionStream {
  readonly partition: TopicPartition;
  readonly #ports: StreamPorts;
  readonly #options: StreamOptions;
  readonly #queue = new RecordQueue();
  /** Aborted by `drain` and `close`: nothing is waited for, sought or resumed any more. */
  readonly #ending = new AbortController();
  readonly #batchLimit: BatchLimit;
  /** What PostgreSQL expects next, as far as is known: for lag and messages. Means nothing before the first `open`. */
  #nextOffset = 0n;
  #wasOpened = false;
  #position: bigint | null = null;
  #isFull = false;
  #troubles = 0;
  readonly #unknownOutages = new UnknownOutages();
  readonly #progress: PartitionProgress;
  #writing: Promise<void> | null = null;
  #searching: Promise<void> | null = null;

  constructor(partition: TopicPartition, options: StreamOptions, ports: StreamPorts) {
    this.partition = partition;
    this.#options = options;
    this.#ports = ports;
    this.#batchLimit = new BatchLimit(options.maxBatchRecords);
    this.#progress = new PartitionProgress(options.stallTimeoutMs, ports.clock.steady());
  }

  /** Delivers from `nextOffset` on; before this call every batch is ignored. */
  open(nextOffset: bigint): void {
    if (!this.#wasOpened) {
      this.#wasOpened = true;
      this.#progress.opened(this.#ports.clock.steady());
    }
    this.#nextOffset = nextOffset;
    this.#queue.clear();
    if (this.#ending.signal.aborted) {
      return;
    }
    this.#isFull = false;
    this.#position = nextOffset;
    this.#ports.source.seek({ ...this.partition, offset: nextOffset });
    this.#ports.source.resume(this.partition);
  }

  accept(batch: RecordBatch): void {
    const position = this.#position;
    if (position === null) {
      return;
    }
    if (batch.fetchedOffset > position || batch.nextOffset <= position) {
      this.#ports.source.seek({ ...this.partition, offset: position });
      return;
    }
    const isAligned = batch.fetchedOffset === position;
    const records = isAligned ? batch.records : batch.records.filter(({ offset }) => offset >= position);
    const { nextOffset } = batch;
    this.#queue.push({ records, firstOffset: position, nextOffset, fetchedAt: this.#ports.clock.steady() });
    this.#position = nextOffset;
    if (this.#queue.bytes >= this.#options.maxQueuedBytes && !this.#isFull) {
      this.#isFull = true;
      this.#ports.source.pause(this.partition);
    }
    this.#writing ??= this.#writeAll();
  }

  /** The broker does not hold the position: waits for it to be there, or ends the consumer with the reason. */
  outOfRange(): void {
    const offset = this.#position;
    if (offset === null) {
      return;
    }
    this.#position = null;
    this.#searching = this.#search(offset).catch((error: unknown) => this.#ports.onFatal(FatalError.from(error)));
  }

  observeLog(range: LogRange): void {
    const { clock } = this.#ports;
    this.#progress.looked(range, this.#storedOffset(), clock.steady(), clock.now());
  }

  report(now: Date): PartitionReport {
    const { topic, partition } = this.partition;
    const steadyNow = this.#ports.clock.steady();
    const progress = this.#progress.report(this.#storedOffset(), this.#queue.oldest, steadyNow, now);
    return { topic, partition, ...progress };
  }

  /** Takes nothing in any more and writes what is queued; an outage ends it, since what is left stays ahead of the stored offset. */
  async drain(): Promise<void> {
    this.#ending.abort();
    this.#position = null;
    this.#ports.source.pause(this.partition);
    await this.#writing;
  }

  /** Gives up what is queued. Resolves when the transaction under way, if any, is over. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#position = null;
    this.#queue.clear();
    await Promise.all([this.#writing, this.#searching]);
  }

  #storedOffset(): bigint | null {
    return this.#wasOpened ? this.#nextOffset : null;
  }

  /** `#writing` is reset in the same tick in which the queue was seen empty, so no batch can slip in between. */
  async #writeAll(): Promise<void> {
    try {
      while (!this.#queue.isEmpty) {
        await this.#write(this.#queue.take({ records: this.#batchLimit.records, bytes: this.#options.maxQueuedBytes }));
      }
    } catch (error) {
      this.#queue.clear();
      this.#position = null;
      this.#ports.onFatal(FatalError.from(error));
    } finally {
      this.#writing = null;
    }
  }

  async #write({ records, firstOffset, nextOffset, fetchedAt }: QueuedRecords): Promise<void> {
    this.#progress.writing(records[0]);
    const request = { ...this.partition, expectedOffset: firstOffset, nextOffset, records };
    const outcome = await this.#ports.sink.write(request).catch(outageOnly);
    if (outcome instanceof OutageError) {
      this.#ports.listener.onFailed(this.partition, outcome);
      this.#batchLimit.failed(records.length);
      this.#unknownOutages.count(outcome);
      return this.#recover(outcome);
    }
    if (outcome.kind === 'fenced') {
      this.#ports.listener.onFenced(this.partition);
      return this.#recover(null);
    }
    this.#troubles = 0;
    this.#unknownOutages.succeeded();
    this.#batchLimit.committed();
    this.#nextOffset = nextOffset;
    const { clock, listener } = this.#ports;
    const [steadyNow, committedAt] = [clock.steady(), clock.now()];
    this.#progress.written(steadyNow);
    const { deadLetters, rows } = outcome;
    const counts = { records: records.length, written: records, deadLetters, rows };
    const times = { fetchedAt: timeOfDay(fetchedAt, steadyNow, committedAt), committedAt };
    listener.onCommitted({ ...this.partition, ...counts, ...times, nextOffset });
    this.#resumeWhenRoomy();
  }

  /** What is queued comes before the gap, so it is written first; if that ended elsewhere, the recovery goes on from there. */
  async #search(offset: bigint): Promise<void> {
    const { source, clock } = this.#ports;
    const found = await findPosition(
      source,
      { ...this.partition, offset },
      this.#options.onGap,
      clock,
      this.#ending.signal,
    );
    await this.#writing;
    if (this.#ending.signal.aborted || this.#nextOffset !== offset) {
      return;
    }
    if (found > offset) {
      const skipping = this.#skip({ ...this.partition, expectedOffset: offset, nextOffset: found });
      this.#writing = skipping
        .catch(() => undefined)
        .finally(() => {
          this.#writing = null;
        });
      await skipping;
    } else {
      this.open(offset);
    }
  }

  async #skip(gap: Gap): Promise<void> {
    const outcome = await this.#ports.sink.skip(gap).catch(outageOnly);
    if (outcome instanceof OutageError) {
      this.#ports.listener.onFailed(this.partition, outcome);
      this.#unknownOutages.count(outcome);
      return this.#recover(outcome);
    }
    if (outcome.kind === 'fenced') {
      return this.#recover(null);
    }
    this.#ports.listener.onSkipped(gap);
    this.open(gap.nextOffset);
  }

  #resumeWhenRoomy(): void {
    if (this.#isFull && this.#position !== null && this.#queue.bytes < this.#options.maxQueuedBytes / 2) {
      this.#isFull = false;
      this.#ports.source.resume(this.partition);
    }
  }

  /** Drops the queue, reads the stored position until PostgreSQL tells it, and goes on from there. */
  async #recover(outage: OutageError | null): Promise<void> {
    this.#queue.clear();
    this.#position = null;
    const { signal } = this.#ending;
    if (signal.aborted) {
      return;
    }
    this.#ports.source.pause(this.partition);
    if (outage) {
      this.#ports.onOutage(outage);
    }
    while (!signal.aborted) {
      this.#troubles += 1;
      await this.#ports.clock.wait(backoffMs(this.#troubles), signal);
      if (signal.aborted) {
        break;
      }
      this.#ports.listener.onRetry();
      const stored = await this.#ports.sink.positions([this.partition.topic]).catch(outageOnly);
      if (!(stored instanceof OutageError)) {
        this.#progress.sinkIsBack(this.#ports.clock.steady());
        this.open(ownPosition(this.partition, stored, this.#nextOffset));
        break;
      }
      this.#unknownOutages.count(stored);
      this.#progress.sinkIsAway();
    }
    if (outage) {
      this.#ports.onOutage(null);
    }
  }
}
