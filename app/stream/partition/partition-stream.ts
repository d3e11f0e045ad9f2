import type { TopicPartition } from '../../records/record.ts';
import { timeOfDay } from '../ports/clock.ts';
import type { Gap } from '../ports/record-sink.ts';
import type { FetchedRecords, PartitionLog, Position, UnreadableBatch } from '../ports/record-source.ts';
import { FatalError, OutageError, outageOnly } from '../ports/stream-errors.ts';
import { committedBatch } from '../ports/stream-listener.ts';
import type { PartitionReport } from './consumer-state.ts';
import { PartitionProgress } from './lag.ts';
import { requireTransition, type StreamState } from './partition-state.ts';
import { behindBrokenBatch, findPosition } from './positions.ts';
import { BatchLimit, type QueuedRecords, RecordQueue } from './record-queue.ts';
import type { PartitionOptions, StreamPorts } from './stream-ports.ts';
import { WriteAttempts } from './write-attempts.ts';

/**
 * One owned partition: takes batches in, writes them one transaction after the other.
 *
 * Why each record is written exactly once, whatever the source delivers:
 *
 * 1. The position of the state `open` is where the next batch has to begin. A batch that begins above it is refused and
 *    sought back, one that begins below it is cropped, so the queue holds every offset from `nextOffset` up to it once,
 *    in order.
 * 2. A batch carries its own first offset through the queue. Its transaction moves the stored offset from exactly that
 *    offset to the end of what it writes, or writes nothing. Two writers of one partition therefore never both commit
 *    the same offsets, even if both believe to own it. Records that stayed in the queue by mistake, after the stored
 *    offset went elsewhere, are refused by PostgreSQL instead of written over a hole.
 * 3. Whenever the outcome of a transaction is not known to be "committed", the queue is dropped and the position is
 *    read from PostgreSQL again. What was dropped is still ahead of the stored offset and is fetched again.
 */
export class PartitionStream {
  readonly partition: TopicPartition;
  readonly #ports: StreamPorts;
  readonly #options: PartitionOptions;
  readonly #queue: RecordQueue;
  /** Aborted by `drain` and `close`: nothing is waited for, sought or resumed any more. */
  readonly #ending = new AbortController();
  readonly #batchLimit: BatchLimit;
  readonly #attempts: WriteAttempts;
  readonly #progress: PartitionProgress;
  #queueShare: number;
  #state: StreamState = { kind: 'unopened' };
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

  /** @param isWon whether the group has just given the partition */
  constructor(partition: TopicPartition, options: PartitionOptions, ports: StreamPorts, isWon: boolean) {
    this.partition = partition;
    this.#options = options;
    this.#queueShare = options.queueShare;
    this.#ports = ports;
    this.#queue = new RecordQueue(ports.memory);
    this.#batchLimit = new BatchLimit(options.maxBatchRecords);
    this.#progress = new PartitionProgress(options.stallTimeoutMs, ports.clock.steady());
    this.#attempts = new WriteAttempts(partition, ports, this.#progress, isWon);
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
    this.#to({ kind: 'open', position: nextOffset, isFull });
    this.#pauseWhenFull();
    this.#writing ??= this.#writeAll();
  }

  /** The broker does not hold the position: waits for it to be there, or ends the consumer with the reason. */
  outOfRange(): void {
    const { source, clock } = this.#ports;
    this.#leave((offset, signal) => {
      this.#unreadable = null;
      return findPosition(source, this.#at(offset), this.#options.onGap, clock, signal);
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

  /** @param askedAt a steady time: the log is as it was then, or later */
  observeLog(log: PartitionLog, askedAt: Date): void {
    const [now, isWriting] = [this.#ports.clock.steady(), this.#writing !== null];
    this.#progress.observe(log, { askedAt, now, isWriting, nextOffset: this.nextOffset });
  }

  report(now: Date): PartitionReport {
    const position = { nextOffset: this.nextOffset, isSought: this.#state.kind === 'searching' && !this.#unreadable };
    const progress = this.#progress.report(position, this.#queue.oldest, this.#ports.clock.steady(), now);
    return Object.assign(progress, this.partition, this.#unreadable && { unreadable: this.#unreadable });
  }

  /** A generation of the group left the partition here, and its queue may have so many bytes from now on. */
  kept(queueShare: number): void {
    this.#attempts.handover.kept();
    if (queueShare !== this.#queueShare) {
      this.#queueShare = queueShare;
      this.#pauseWhenFull();
      this.#resumeWhenRoomy();
    }
  }

  /** The group gave the partition to another member, or may have; {@link giveUp} or {@link drain} follows. */
  revoked(): void {
    this.#attempts.handover.revoked();
  }

  /** Takes nothing in any more and writes the queue; an outage ends it: the rest stays ahead of the stored offset. */
  async drain(): Promise<void> {
    this.#end();
    this.#ports.source.pause(this.partition);
    await this.#writing;
  }

  /** Gives up what is queued. Resolves when the transaction under way, if any, is over: then nothing is written. */
  async giveUp(): Promise<void> {
    this.#end();
    this.#queue.clear();
    await this.#writing;
    this.#attempts.handover.kept();
  }

  /** The same, and waits for a search, which writes nothing any more and ends when the brokers answer. */
  readonly close = (): Promise<unknown> => Promise.all([this.giveUp(), this.#searching]);

  readonly #fail = (error: unknown): void => this.#ports.onFatal(FatalError.from(error), this.partition.topic);

  #at(offset: bigint): Position {
    return { offset, topicId: this.#topicId, leaderEpoch: this.#leaderEpoch, ...this.partition };
  }

  #to(state: StreamState): void {
    this.#state = requireTransition(this.#state, state);
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
      this.#fail(error);
    } finally {
      this.#writing = null;
    }
  }

  /** @param end called when the records are committed, and nobody reads them any more */
  async #write({ records, firstOffset, nextOffset, leaderEpoch = null, fetchedAt }: QueuedRecords, end: () => void) {
    this.#progress.writing(records.markAt(0), fetchedAt);
    const [{ topic, partition }, topicId] = [this.partition, this.#topicId];
    const request = { topic, partition, expectedOffset: firstOffset, nextOffset, records, topicId, leaderEpoch };
    const outcome = await this.#attempts.write(request, this.#ending.signal).catch(outageOnly);
    if (outcome instanceof OutageError || outcome.kind === 'fenced') {
      const consequence = this.#attempts.failed(outcome instanceof OutageError ? outcome : null);
      if (consequence.outage) {
        this.#batchLimit.failed(records.length);
      }
      return this.#recover(firstOffset, consequence);
    }
    this.#attempts.succeeded();
    this.#batchLimit.committed();
    this.nextOffset = nextOffset;
    const { clock, listener } = this.#ports;
    const [steadyNow, committedAt] = [clock.steady(), clock.now()];
    this.#progress.written(steadyNow);
    const times = { fetchedAt: timeOfDay(fetchedAt, steadyNow, committedAt), committedAt };
    listener.onCommitted(committedBatch(request, outcome, times));
    end();
    this.#resumeWhenRoomy();
  }

  /** Takes nothing in until the position to go on from is found. */
  #leave(find: (position: bigint, signal: AbortSignal) => Promise<bigint>): void {
    if (this.#state.kind !== 'open') {
      return;
    }
    const { position } = this.#state;
    const state: StreamState = { kind: 'searching' };
    this.#to(state);
    this.#searching = this.#search(position, state, find(position, this.#ending.signal)).catch(this.#fail);
  }

  /** The queue comes before the gap, so it is written first; if that ended elsewhere, recovery goes on from there. */
  async #search(offset: bigint, state: StreamState, finding: Promise<bigint>): Promise<void> {
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
      return this.#recover(gap.expectedOffset, this.#attempts.failed(outcome));
    }
    if (outcome.kind === 'fenced') {
      return this.#recover(gap.expectedOffset, this.#attempts.uncounted(null));
    }
    this.#attempts.succeeded();
    this.#unreadable = null;
    this.#ports.listener.onSkipped(gap);
    this.open({ ...gap, offset: gap.nextOffset });
  }

  #pauseWhenFull(): void {
    if (this.#state.kind === 'open' && !this.#state.isFull && this.#queue.bytes >= this.#queueShare) {
      this.#to({ ...this.#state, isFull: true });
      this.#ports.source.pause(this.partition);
    }
  }

  #resumeWhenRoomy(): void {
    if (this.#state.kind === 'open' && this.#state.isFull && this.#queue.bytes < this.#queueShare / 2) {
      this.#to({ ...this.#state, isFull: false });
      this.#ports.source.resume(this.partition);
    }
  }

  /** Drops the queue, reads the stored position until PostgreSQL returns it, and goes on from there. */
  async #recover(lastSeen: bigint, consequence: ReturnType<WriteAttempts['failed']>): Promise<void> {
    this.#queue.clear();
    if (this.#state.kind === 'ended') {
      return;
    }
    this.#to({ kind: 'recovering' });
    this.#ports.source.pause(this.partition);
    const position = await this.#attempts.position(lastSeen, consequence, this.#ending.signal);
    if (position !== undefined) {
      this.open(position);
    }
  }
}
