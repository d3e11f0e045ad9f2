import { partitionKey, type TopicPartition } from '../records/record.ts';
import { type ConsumerReport, Lifecycle } from './consumer-state.ts';
import { Membership } from './membership.ts';
import { PartitionStream } from './partition-stream.ts';
import { assignedPositions, type StartFrom } from './positions.ts';
import type { Gap } from './record-sink.ts';
import type { FetchedRecords, PartitionLog, Position, RecordSourceListener, UnreadableBatch } from './record-source.ts';
import { Retries } from './retries.ts';
import { FatalError, type OutageError } from './stream-errors.ts';
import type { CommittedBatch, StreamListener } from './stream-listener.ts';
import type { StreamOptions, StreamPorts } from './stream-ports.ts';
import { type OnTopicGone, SubscribedTopics } from './subscribed-topics.ts';

/**
 * A transaction of the assignment before may still run; the compare-and-set makes it harmless, so the wait is short.
 */
const SETTLE_MS = 5_000;

/** Health awaits the position of a partition that has a leader now, so it is read soon after one was seen. */
const LED_AGAIN_MS = 100;

export interface PipelineOptions extends StreamOptions {
  readonly groupId: string;
  /** The subscribed topics. */
  readonly topics: readonly string[];
  readonly startFrom: StartFrom;
  readonly onTopicGone: OnTopicGone;
  /** Time without a sign of the group's coordinator after which the process counts as out of the group. */
  readonly groupTimeoutMs: number;
}

export type PipelinePorts = Omit<StreamPorts, 'onOutage'>;

/**
 * Owns the streams of the assigned partitions: reads their positions from PostgreSQL on every assignment, hands batches
 * to them, and knows the consumer's state. Speaks to Kafka and PostgreSQL through ports only.
 */
export class Pipeline implements RecordSourceListener, StreamListener {
  readonly #options: PipelineOptions;
  readonly #ports: PipelinePorts;
  readonly #lifecycle = new Lifecycle();
  readonly #topics: SubscribedTopics;
  readonly #background = new Set<Promise<void>>();
  #streams = new Map<string, PartitionStream>();
  #assignment = new AbortController();
  #outages = 0;
  readonly #membership: Membership;
  #lastProgressAt: Date | null = null;
  #lastError: { readonly message: string; readonly at: Date } | null = null;

  constructor(options: PipelineOptions, ports: PipelinePorts) {
    this.#options = options;
    this.#ports = ports;
    this.#topics = new SubscribedTopics(options.topics, ports.clock);
    this.#membership = new Membership(ports.clock, options.groupTimeoutMs);
  }

  report(): ConsumerReport {
    const now = this.#ports.clock.now();
    return {
      state: this.#lifecycle.state,
      groupId: this.#options.groupId,
      ...this.#membership.report(now),
      partitions: Array.from(this.#streams.values(), (stream) => stream.report(now)),
      topics: this.#topics.report(),
      lastProgressAt: this.#lastProgressAt,
      lastError: this.#lastError?.message ?? null,
      ...(this.#lastError && { lastErrorAt: this.#lastError.at }),
    };
  }

  onAssigned(partitions: readonly TopicPartition[]): void {
    if (this.#lifecycle.isEnding) {
      return;
    }
    this.#lifecycle.to('assigning');
    this.#membership.confirmed();
    this.#assignment.abort();
    this.#assignment = new AbortController();
    const before = [...this.#streams.values()].map((stream) => this.#track(this.#leave(stream)));
    const ports = { ...this.#ports, listener: this, onFatal: this.onFatal, onOutage: this.#onOutage };
    const maxQueuedBytes = Math.min(this.#options.maxQueuedBytes, this.#ports.memory.share(partitions.length));
    const options = { ...this.#options, maxQueuedBytes };
    const streams = partitions.map((partition) => new PartitionStream(partition, options, ports));
    this.#streams = new Map(streams.map((stream) => [partitionKey(stream.partition), stream]));
    void this.#track(this.#begin(streams, before, this.#assignment.signal));
  }

  /** Begins again with the same partitions: what is queued stays ahead of the stored offsets, which are read anew. */
  reopen(): void {
    this.onAssigned([...this.#streams.values()].map(({ partition }) => partition));
  }

  onTopics(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void {
    this.#topics.answered(unknown, partitions);
    const gone = this.#options.onTopicGone === 'stop' && !this.#lifecycle.isEnding ? this.#topics.error() : null;
    if (gone) {
      this.onFatal(gone);
    }
  }

  onAsked(): void {
    this.#membership.asked(this.#options.topics);
  }

  onFound(topics: readonly string[]): void {
    this.#membership.asked(topics);
  }

  onHeartbeat(): void {
    this.#membership.confirmed();
  }

  onWaiting(reason: string): void {
    this.#wentWrong(reason);
  }

  #wentWrong(message: string): void {
    this.#lastError = { message, at: this.#ports.clock.now() };
  }

  onFetched(fetched: FetchedRecords): void {
    this.#streams.get(partitionKey(fetched))?.accept(fetched);
  }

  onOutOfRange(partition: TopicPartition): void {
    this.#streams.get(partitionKey(partition))?.outOfRange();
  }

  onUnreadable(batch: UnreadableBatch): void {
    this.#streams.get(partitionKey(batch))?.unreadable(batch);
  }

  onReadable(partition: TopicPartition): void {
    this.#streams.get(partitionKey(partition))?.readable();
  }

  readonly onFatal = (error: Error): void => {
    if (this.#lifecycle.state === 'failed' || this.#lifecycle.state === 'stopped') {
      return;
    }
    this.#wentWrong(error.message);
    this.#lifecycle.to('failed');
    this.#ports.onFatal(FatalError.from(error));
  };

  onCommitted(batch: CommittedBatch): void {
    this.#lastProgressAt = this.#ports.clock.now();
    this.#ports.listener.onCommitted(batch);
  }

  onSkipped(gap: Gap): void {
    this.#ports.listener.onSkipped(gap);
  }

  onFenced(partition: TopicPartition): void {
    this.#ports.listener.onFenced(partition);
  }

  onFailed(partition: TopicPartition, error: Error): void {
    this.#wentWrong(error.message);
    this.#ports.listener.onFailed(partition, error);
  }

  onRetry(): void {
    this.#ports.listener.onRetry();
  }

  onPaused(isPaused: boolean): void {
    this.#ports.listener.onPaused(isPaused);
  }

  /** Takes in what the brokers report of a partition's log, for its lag. */
  readonly observeLog = (log: PartitionLog): void => {
    this.#topics.observeLog(log);
    this.#streams.get(partitionKey(log))?.observeLog(log);
  };

  /** Positions that PostgreSQL has told; partitions that were not read yet have none. */
  positions(): Position[] {
    return Array.from(this.#streams.values()).flatMap(({ partition, nextOffset: offset }) =>
      offset === null ? [] : { ...partition, offset },
    );
  }

  /** Stops taking records in and writes the queues. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#lifecycle.isEnding) {
      this.#lifecycle.to('draining');
    }
    this.#assignment.abort();
    await Promise.all([...this.#streams.values()].map((stream) => stream.drain()));
  }

  /**
   * Gives up whatever still waits; it stays ahead of the stored offsets. Resolves when nothing of the pipeline runs any
   * more.
   */
  async close(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((stream) => stream.close()));
    await Promise.all(this.#background);
    if (this.#lifecycle.state === 'draining') {
      this.#lifecycle.to('stopped');
    }
  }

  /**
   * What is queued of a partition that went to another member stays ahead of the stored offset, and is read there. That
   * of a deleted topic can be read nowhere any more, so it is written first: then it is in its table, or in the dead
   * letters. Only an outage of PostgreSQL makes it go with its topic.
   */
  async #leave(stream: PartitionStream): Promise<void> {
    if (this.#topics.isUnknown(stream.partition.topic)) {
      await stream.drain();
    }
    await stream.close();
  }

  readonly #onOutage = (error: OutageError | null): void => {
    this.#outages += error ? 1 : -1;
    this.onPaused(this.#outages > 0);
    if (!this.#lifecycle.isEnding && this.#lifecycle.state !== 'assigning') {
      this.#lifecycle.to(this.#outages > 0 ? 'paused' : 'running');
    }
  };

  async #begin(streams: readonly PartitionStream[], before: Promise<void>[], signal: AbortSignal): Promise<void> {
    try {
      await Promise.race([Promise.all(before), this.#ports.clock.wait(SETTLE_MS, signal)]);
      const leaderless = await this.#open(streams, signal);
      if (signal.aborted) {
        return;
      }
      this.#lifecycle.to('running');
      await this.#openOnceLed(leaderless, signal);
    } catch (error) {
      if (!signal.aborted) {
        this.onFatal(FatalError.from(error));
      }
    }
  }

  /**
   * Reads the positions of the streams' topics, or stores first ones, once the group is known to write here and nowhere
   * else; tries again while PostgreSQL or Kafka is away.
   *
   * @returns the streams that have neither a stored position nor a leader; all others are open
   */
  async #open(streams: readonly PartitionStream[], signal: AbortSignal): Promise<PartitionStream[]> {
    const { source, clock } = this.#ports;
    const partitions = streams.map(({ partition }) => partition);
    const [first] = partitions;
    const read = async () => {
      await source.claim(signal);
      return assignedPositions(this.#ports, partitions, this.#options.startFrom, this.observeLog);
    };
    const positions = await new Retries(clock).until(read, signal, {
      onOutage: (outage) => first && this.onFailed(first, outage),
      onRetry: () => this.onRetry(),
    });
    const unopened = new Map(streams.map((stream) => [partitionKey(stream.partition), stream]));
    for (const position of signal.aborted ? [] : (positions ?? [])) {
      unopened.get(partitionKey(position))?.open(position);
      unopened.delete(partitionKey(position));
    }
    return [...unopened.values()];
  }

  /**
   * Opens streams that have no position yet, each when a broker leads its partition. Nothing of them was read or written
   * before, so all their records are still ahead of the first offset, which is stored then.
   */
  async #openOnceLed(streams: readonly PartitionStream[], signal: AbortSignal): Promise<void> {
    let waiting = streams;
    while (waiting.length > 0 && !signal.aborted) {
      await this.#ports.clock.wait(LED_AGAIN_MS, signal);
      const now = this.#ports.clock.now();
      if (waiting.some((stream) => stream.report(now).leaderlessSince === undefined)) {
        waiting = await this.#open(waiting, signal);
      }
    }
  }

  /** Work in the background; {@link close} waits for it. */
  #track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.#background.delete(tracked));
    this.#background.add(tracked);
    return tracked;
  }
}
