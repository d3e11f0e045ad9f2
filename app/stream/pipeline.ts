import type { TopicPartition } from '../records/record.ts';
import { OwnedStreams, type OwnedStreamsOptions } from './owned-streams.ts';
import { type ConsumerReport, Lifecycle } from './partition/consumer-state.ts';
import type { PartitionStream } from './partition/partition-stream.ts';
import type { StreamPorts } from './partition/stream-ports.ts';
import { type WaitingOptions, WaitingTopics } from './partition/waiting-topics.ts';
import { timeOfDay } from './ports/clock.ts';
import type { Gap } from './ports/record-sink.ts';
import type {
  AssignedPartitions,
  FetchedRecords,
  PartitionLog,
  Position,
  RecordSourceListener,
} from './ports/record-source.ts';
import { FatalError, OutageError } from './ports/stream-errors.ts';
import type { CommittedBatch, StreamListener } from './ports/stream-listener.ts';
import { Membership, type OnTopicGone, SubscribedTopics } from './subscribed-topics.ts';

export interface PipelineOptions extends OwnedStreamsOptions {
  readonly groupId: string;
  /** The topics that are read now. */
  readonly topics: () => readonly string[];
  /** Templates that topics are waited for by. @default none */
  readonly templates?: readonly string[];
  readonly onTopicGone: OnTopicGone;
  /** Time without a sign of the group's coordinator after which the process counts as out of the group. */
  readonly groupTimeoutMs: number;
}

export interface PipelinePorts extends Omit<StreamPorts, 'onOutage' | 'onFatal' | 'mayWait'>, WaitingOptions {
  /** Called once nothing but the end of the process is left. */
  readonly onFatal: (error: FatalError) => void;
}

/**
 * Passes what the source brings to the streams of the owned partitions, and knows the consumer's state. Speaks to Kafka
 * and PostgreSQL through ports only.
 */
export class Pipeline implements RecordSourceListener, StreamListener {
  readonly #options: PipelineOptions;
  readonly #ports: PipelinePorts;
  readonly #lifecycle: Lifecycle;
  readonly #topics: SubscribedTopics;
  readonly #streams: OwnedStreams;
  readonly #waiting: WaitingTopics;
  #generation = 0;
  #outages = 0;
  readonly #membership: Membership;
  #lastProgressAt: Date | null = null;
  #lastError: { readonly message: string; readonly at: Date } | null = null;

  constructor(options: PipelineOptions, ports: PipelinePorts) {
    this.#options = options;
    this.#ports = ports;
    this.#lifecycle = new Lifecycle(() => ports.clock.steady());
    this.#topics = new SubscribedTopics(options.topics, ports.clock, options.isTemplated);
    this.#membership = new Membership(ports.clock, options.groupTimeoutMs);
    this.#waiting = new WaitingTopics(ports, ports.clock);
    this.#streams = new OwnedStreams(options, {
      ...ports,
      listener: this,
      mayWait: this.#waiting.mayWait,
      isWaiting: this.isWaiting,
      onFatal: this.onFatal,
      onOutage: this.#onOutage,
      isUnknown: (topic) => this.#topics.isUnknown(topic),
      onLog: (log) => this.onLog(log),
      onOpened: this.#onOpened,
    });
  }

  report(): ConsumerReport {
    const [now, waiting] = [this.#ports.clock.now(), this.#waiting.report()];
    return {
      state: this.#lifecycle.state,
      stateSince: timeOfDay(this.#lifecycle.since, this.#ports.clock.steady(), now),
      groupId: this.#options.groupId,
      ...this.#membership.report(now),
      partitions: this.#streams.all.map((stream) => this.#waiting.shown(stream.report(now))),
      topics: this.#topics.report(),
      ...(waiting.length > 0 && { waiting }),
      lastProgressAt: this.#lastProgressAt,
      lastError: this.#lastError?.message ?? null,
      ...(this.#lastError && { lastErrorAt: this.#lastError.at }),
    };
  }

  /** Records have to wait for a generation that keeps no partition of the process. */
  onAssigned(assigned: AssignedPartitions): void {
    if (this.#lifecycle.isEnding) {
      return;
    }
    this.#membership.confirmed();
    this.#generation += 1;
    this.#waiting.keep(new Set(assigned.owned.map(({ topic }) => topic)));
    if (!this.#streams.assign(assigned)) {
      this.#lifecycle.to('assigning');
      this.#unlessAwaited();
    }
  }

  onRevoked(partitions: readonly TopicPartition[]): Promise<void> {
    const revoked = this.#streams.revoke(partitions);
    const isLeft = partitions.length > 0 && this.#streams.all.length === 0;
    if (isLeft && !this.#lifecycle.isEnding) {
      this.#lifecycle.to('assigning');
    }
    return revoked;
  }

  /** The partitions stay in the report, as in any outage: they are behind by more and more. */
  onExpelled(): void {
    this.#streams.suspend();
  }

  /** Begins again with the same partitions, at the stored offsets, which are read anew. */
  reopen(): void {
    if (!this.#lifecycle.isEnding && this.#streams.all.length > 0) {
      this.#lifecycle.to('assigning');
      this.#streams.reopen();
      this.#unlessAwaited();
    }
  }

  readonly onUnlisted: RecordSourceListener['onUnlisted'] = (...topics) => this.#waiting.unlisted(...topics);

  onTopics(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void {
    this.#topics.answered(unknown, partitions);
    const gone = this.#options.onTopicGone === 'stop' && !this.#lifecycle.isEnding ? this.#topics.error() : null;
    if (gone) {
      this.onFatal(gone);
    }
  }

  onAsked(): void {
    this.#membership.asked([...this.#options.topics(), ...(this.#options.templates ?? [])]);
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
    const stream: PartitionStream | undefined = this.#streams.of(fetched);
    stream?.accept(fetched);
  }

  readonly onOutOfRange: RecordSourceListener['onOutOfRange'] = (of) => this.#streams.of(of)?.outOfRange();

  readonly onUnreadable: RecordSourceListener['onUnreadable'] = (batch) => this.#streams.unreadable(batch);

  onReadable(partition: TopicPartition): void {
    this.#waiting.allowed(partition.topic);
    this.#streams.of(partition)?.readable();
  }

  /** Whether a topic waits alone. */
  readonly isWaiting = (topic: string): boolean => this.#waiting.has(topic);

  readonly onFatal = (error: Error, topicInHand?: string): void => {
    if (this.#lifecycle.state === 'failed' || this.#lifecycle.state === 'stopped') {
      return;
    }
    const fatal = FatalError.from(error);
    const topic = fatal.topic ?? topicInHand;
    if (topic !== undefined && fatal.isOfTopic && this.#waiting.mayWait(topic)) {
      this.#wait(topic, fatal);
      return;
    }
    this.#wentWrong(error.message);
    this.#lifecycle.to('failed');
    this.#ports.onFatal(fatal);
  };

  /** The next owner meets the error of a topic that the process owns no longer, and so does the next process. */
  #wait(topic: string, error: FatalError): void {
    if (this.#lifecycle.isEnding || !this.#streams.all.some(({ partition }) => partition.topic === topic)) {
      return;
    }
    this.#wentWrong(error.message);
    this.#waiting.failed(topic, error);
    this.#streams.wait(topic);
    this.#unlessAwaited();
  }

  /** Where the topics of all partitions wait, no position is awaited. */
  #unlessAwaited(): void {
    const { all } = this.#streams;
    if (all.length > 0 && all.every(({ partition }) => this.#waiting.has(partition.topic))) {
      this.#onOpened([]);
    }
  }

  onCommitted(batch: CommittedBatch): void {
    this.#lastProgressAt = this.#ports.clock.now();
    this.#waiting.committed(batch.topic);
    this.#ports.listener.onCommitted(batch);
  }

  onSkipped(gap: Gap): void {
    this.#waiting.committed(gap.topic);
    this.#ports.listener.onSkipped(gap);
  }

  onFenced(partition: TopicPartition): void {
    this.#ports.listener.onFenced(partition);
  }

  onHandover(partition: TopicPartition): void {
    this.#ports.listener.onHandover(partition);
  }

  onFailed(partition: TopicPartition, error: Error): void {
    this.#wentWrong(error.message);
    if (error instanceof OutageError) {
      this.#waiting.heldUp(partition.topic, error);
    }
    this.#ports.listener.onFailed(partition, error);
  }

  onRetry(): void {
    this.#ports.listener.onRetry();
  }

  onPaused(isPaused: boolean): void {
    this.#ports.listener.onPaused(isPaused);
  }

  /** Takes in what the brokers report of a partition's log, for its lag. */
  readonly onLog = (log: PartitionLog, askedAt = this.#ports.clock.steady()): void => {
    this.#topics.observeLog(log, askedAt.getTime());
    this.#waiting.looked(log.topic);
    this.#streams.of(log)?.observeLog(log, askedAt);
  };

  /** Positions as PostgreSQL returned them; a partition has none before its position was read. */
  positions(): Position[] {
    return this.#streams.positions();
  }

  /** Returns a function that returns the positions of the partitions that are owned now, revoked or not. */
  followPositions(): () => Position[] {
    return this.#streams.follow();
  }

  /** How many generations of the group have begun. */
  get generation(): number {
    return this.#generation;
  }

  /** Stops taking records in and writes the queues; what was revoked ends its transaction. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#lifecycle.isEnding) {
      this.#lifecycle.to('draining');
    }
    await this.#streams.drain();
  }

  /** Gives up whatever still waits; it stays ahead of the stored offsets. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    await this.#streams.close();
    if (this.#lifecycle.state === 'draining') {
      this.#lifecycle.to('stopped');
    }
  }

  readonly #onOutage = (error: OutageError | null): void => {
    this.#outages += error ? 1 : -1;
    this.onPaused(this.#outages > 0);
    if (!this.#lifecycle.isEnding && this.#lifecycle.state !== 'assigning') {
      this.#flow();
    }
  };

  readonly #onOpened = (topics: readonly string[]): void => {
    for (const topic of topics) {
      this.#waiting.opened(topic);
    }
    if (this.#lifecycle.state === 'assigning') {
      this.#flow();
    }
  };

  #flow(): void {
    this.#lifecycle.to(this.#outages > 0 ? 'paused' : 'running');
  }
}
