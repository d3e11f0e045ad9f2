import type { TopicPartition } from '../records/record.ts';
import { timeOfDay } from './clock.ts';
import type { PartitionReport } from './consumer-state.ts';
import { PartitionProgress } from './lag.ts';
import { requireWay, type State } from './partition-state.ts';
import { behindBrokenBatch, findPosition, storedPosition } from './positions.ts';
import { BatchLimit, type QueuedRecords, RecordQueue } from './record-queue.ts';
import type { Gap } from './record-sink.ts';
import type { FetchedRecords, PartitionLog, Position, UnreadableBatch } from './record-source.ts';
import { Retries } from './retries.ts';
import { FatalError, OutageError, outageOnly } from './stream-errors.ts';
import type { StreamOptions, StreamPorts } from './stream-ports.ts';
import { identifiedPositions } from './topic-ids.ts';

/**
 * One owned partition: takes batches in, writes them one transaction after the other.
 *
 * Why each record is written exactly once, whatever the source delivers:
 *
 * 1. The position of the state `open` is where the next batch has to begin. A batch that begins above it is refused and
 *    sought back, one that begins below it is cropped, so the queue holds every offset from `nextOffset` up to it
 *    once, in order.
 * 2. A batch carries its own first offset through the queue. Its transaction moves the stored offset from exactly that
 *    offset to the end of what it writes, or writes nothing. Two writers of one partition therefore never both commit
 *    the same offsets, even if both believe to own it; and records that stayed in the queue by mistake, after the
 *    stored offset went elsewhere, are refused by PostgreSQL instead of written over a hole.
 * 3. Whenever the outcome of a transaction is not known to be "committed", the queue is dropped and the position is
 *    read from PostgreSQL again. What was dropped is still ahead of the stored offset and is fetched again.
 */
export class PartitionStream {
  readonly partition: TopicPartition;
  readonly #ports: StreamPorts;
  readonly #options: StreamOptions;
  readonly #queue: RecordQueue;
  /** Aborted by `drain` and `close`: nothing is waited for, sought or resumed any more. */
  readonly #ending = new AbortController();
  readonly #batchLimit: BatchLimit;
  readonly #retries: Retries;
  readonly #progress: PartitionProgress;
  #state: State = { kind: 'unopened' };
  /** What PostgreSQL expects next, as far as is known, for lag and messages; `null` before the first `open`. */
  nextOffset: bigint | null = null;
  /** That of the stored offset: it is fetched by, and stored again with each offset. */
  #topicId: string | null = null;
  /** Of the last record that was taken in. */
  #leaderEpoch: number | null = null;
  #writing: Promise<void> | null = null;
  #searching: Promise<void> | null = null;
  /** Not read yet, so its records are still ahead of the stored offset. */
  #unreadable: UnreadableBatch | null = null;

  constructor(partition: TopicPartition, options: StreamOptions, ports: StreamPorts) {
    this.partition = partition;
    this.#options = options;
    this.#ports = ports;
    this.#queue = new RecordQueue(ports.memory);
    this.#batchLimit = new BatchLimit(options.maxBatchRecords);
    this.#retries = new Retries(ports.clock);
    this.#progress = new PartitionProgress(options.stallTimeoutMs, ports.clock.steady());
  }

  /** Delivers from the position on; before this call every batch is ignored. */
  open({ offset: nextOffset, topicId = null, leaderEpoch = null }: Position): void {
    this.#topicId = topicId;
    this.#leaderEpoch = leaderEpoch;
    if (this.nextOffset === null) {
      this.#progress.opened(nextOffset, this.#ports.clock.steady());
    }
    this.nextOffset = nextOffset;
    this.#queue.clear();
    if (this.#state.kind === 'ended') {
      return;
    }
    this.#to({ kind: 'open', position: nextOffset, isFull: false });
    this.#ports.source.seek(this.#at(nextOffset));
    this.#ports.source.resume(this.partition);
  }

  accept(fetched: FetchedRecords): void {
    if (this.#state.kind !== 'open') {
      return;
    }
    const { position, isFull } = this.#state;
    const { fetchedOffset, nextOffset, leaderEpoch = null } = fetched;
    if (fetchedOffset > position || nextOffset <= position) {
      this.#ports.source.seek(this.#at(position));
      return;
    }
    // Brokers send whole batches: the first one may begin below what was asked for.
    const records = fetched.records.behind(position);
    this.#unreadable = null;
    const fetchedAt = this.#ports.clock.steady();
    this.#leaderEpoch = leaderEpoch;
    this.#queue.push({ records, firstOffset: position, nextOffset, leaderEpoch, fetchedAt });
    this.#progress.fetched(nextOffset, this.nextOffset, fetchedAt);
    const isFullNow = isFull || this.#queue.bytes >= this.#options.maxQueuedBytes;
    this.#to({ kind: 'open', position: nextOffset, isFull: isFullNow });
    if (isFullNow && !isFull) {
      this.#ports.source.pause(this.partition);
    }
    this.#writing ??= this.#writeAll();
  }

  /** The broker does not hold the position: waits for it to be there, or ends the consumer with the reason. */
  outOfRange(): void {
    const { source, clock } = this.#ports;
    const { onGap } = this.#options;
    this.#leave((offset, signal) => {
      this.#unreadable = null;
      return findPosition(source, this.#at(offset), onGap, clock, signal);
    });
  }

  /** The batch at the position cannot be read: it is fetched again after a while, and then may be skipped. */
  unreadable(batch: UnreadableBatch): void {
    this.#leave((offset, signal) => {
      const broken = { batch, before: this.#unreadable, onBrokenBatch: this.#options.onBrokenBatch };
      this.#unreadable = batch;
      return behindBrokenBatch(offset, broken, this.#ports.clock, signal);
    });
  }

  readable(): void {
    this.#unreadable = null;
  }

  observeLog(log: PartitionLog): void {
    const now = this.#ports.clock.steady();
    if (log.isLeaderless) {
      this.#progress.lookedWithoutLeader(this.#writing !== null, now);
    } else {
      this.#progress.looked(log, this.nextOffset, now);
    }
  }

  report(now: Date): PartitionReport {
    const position = { nextOffset: this.nextOffset, isSought: this.#state.kind === 'searching' && !this.#unreadable };
    const progress = this.#progress.report(position, this.#queue.oldest, this.#ports.clock.steady(), now);
    return { ...this.partition, ...progress, ...(this.#unreadable && { unreadable: this.#unreadable }) };
  }

  /** Takes nothing in any more and writes the queue; an outage ends it: the rest stays ahead of the stored offset. */
  async drain(): Promise<void> {
    this.#end();
    this.#ports.source.pause(this.partition);
    await this.#writing;
  }

  /** Gives up what is queued. Resolves when the transaction under way, if any, is over. */
  async close(): Promise<void> {
    this.#end();
    this.#queue.clear();
    await Promise.all([this.#writing, this.#searching]);
  }

  #at(offset: bigint): Position {
    return { ...this.partition, offset, topicId: this.#topicId, leaderEpoch: this.#leaderEpoch };
  }

  #to(state: State): void {
    this.#state = requireWay(this.#state, state);
  }

  #end(): void {
    this.#ending.abort();
    this.#to({ kind: 'ended' });
  }

  /** `#writing` is reset in the same tick in which the queue was seen empty, so no batch can slip in between. */
  async #writeAll(): Promise<void> {
    try {
      while (!this.#queue.isEmpty) {
        const limit = { records: this.#batchLimit.records, bytes: this.#options.maxQueuedBytes };
        await this.#queue.use(limit, (taken, end) => this.#write(taken, end));
      }
    } catch (error) {
      this.#queue.clear();
      this.#end();
      this.#ports.onFatal(FatalError.from(error));
    } finally {
      this.#writing = null;
    }
  }

  /** @param end called when the records are committed, and nobody reads them any more */
  async #write({ records, firstOffset, nextOffset, leaderEpoch, fetchedAt }: QueuedRecords, end: () => void) {
    this.#progress.writing(records.markAt(0), fetchedAt);
    const origin = { topicId: this.#topicId, leaderEpoch: leaderEpoch ?? null };
    const request = { ...this.partition, ...origin, expectedOffset: firstOffset, nextOffset, records };
    const outcome = await this.#ports.sink.write(request).catch(outageOnly);
    if (outcome instanceof OutageError) {
      this.#ports.listener.onFailed(this.partition, outcome);
      this.#batchLimit.failed(records.length);
      return this.#recover(firstOffset, outcome);
    }
    if (outcome.kind === 'fenced') {
      this.#ports.listener.onFenced(this.partition);
      return this.#recover(firstOffset);
    }
    this.#retries.succeeded();
    this.#batchLimit.committed();
    this.nextOffset = nextOffset;
    const { clock, listener } = this.#ports;
    const [steadyNow, committedAt] = [clock.steady(), clock.now()];
    this.#progress.written(steadyNow);
    const { kind: _kind, ...counts } = outcome;
    const times = { fetchedAt: timeOfDay(fetchedAt, steadyNow, committedAt), committedAt, nextOffset };
    listener.onCommitted({ ...this.partition, ...counts, ...times, records: records.length, written: records });
    end();
    this.#resumeWhenRoomy();
  }

  /** Takes nothing in until the position to go on from is found. */
  #leave(find: (position: bigint, signal: AbortSignal) => Promise<bigint>): void {
    if (this.#state.kind !== 'open') {
      return;
    }
    const { position } = this.#state;
    const state: State = { kind: 'searching' };
    this.#to(state);
    const searching = this.#search(position, state, find(position, this.#ending.signal));
    this.#searching = searching.catch((error: unknown) => this.#ports.onFatal(FatalError.from(error)));
  }

  /**
   * The queue comes before the gap, so it is written first; if that ended elsewhere, the recovery goes on from there.
   */
  async #search(offset: bigint, state: State, finding: Promise<bigint>): Promise<void> {
    const found = await finding;
    await this.#writing;
    if (this.#state !== state) {
      return;
    }
    if (found > offset) {
      const range = { expectedOffset: offset, nextOffset: found };
      const skipping = this.#skip({ ...this.partition, ...range, topicId: this.#topicId, broken: this.#unreadable });
      this.#writing = skipping
        .catch(() => undefined)
        .finally(() => {
          this.#writing = null;
        });
      await skipping;
    } else {
      this.open(this.#at(offset));
    }
  }

  async #skip(gap: Gap): Promise<void> {
    const outcome = await this.#ports.sink.skip(gap).catch(outageOnly);
    if (outcome instanceof OutageError) {
      this.#ports.listener.onFailed(this.partition, outcome);
      return this.#recover(gap.expectedOffset, outcome);
    }
    if (outcome.kind === 'fenced') {
      return this.#recover(gap.expectedOffset);
    }
    this.#retries.succeeded();
    this.#unreadable = null;
    this.#ports.listener.onSkipped(gap);
    this.open({ ...gap, offset: gap.nextOffset });
  }

  #resumeWhenRoomy(): void {
    if (this.#state.kind === 'open' && this.#state.isFull && this.#queue.bytes < this.#options.maxQueuedBytes / 2) {
      this.#to({ ...this.#state, isFull: false });
      this.#ports.source.resume(this.partition);
    }
  }

  /**
   * Drops the queue, reads the stored position until PostgreSQL tells it, and goes on from there.
   *
   * @param lastSeen the stored offset as far as it was known
   * @param outage @default another writer was first, which is no outage
   */
  async #recover(lastSeen: bigint, outage?: OutageError): Promise<void> {
    this.#retries.failed(outage);
    this.#queue.clear();
    if (this.#state.kind === 'ended') {
      return;
    }
    this.#to({ kind: 'recovering' });
    this.#ports.source.pause(this.partition);
    if (outage) {
      this.#ports.onOutage(outage);
    }
    const read = () => identifiedPositions(this.#ports, [this.partition.topic]);
    const stored = await this.#retries.until(read, this.#ending.signal, {
      onOutage: () => this.#progress.positionIsUnread(),
      onRetry: () => this.#ports.listener.onRetry(),
    });
    if (stored !== undefined) {
      this.#progress.positionIsRead();
      this.open(storedPosition(this.partition, stored.positions, lastSeen));
    }
    if (outage) {
      this.#ports.onOutage(null);
    }
  }
}
