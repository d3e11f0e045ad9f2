import { EventEmitter } from 'node:events';
import type { MemoryBudget } from '../stream/memory-budget.ts';
import type { UnreadableBatch } from '../stream/record-source.ts';
import type { TruncatedLog } from '../stream/topic-ids.ts';
import type { LogEnds } from './client-listener.ts';
import { faultBehind } from './kafkajs-record-patches.ts';

/** A fetch asked for an offset, or a topic id, that the broker does not have. */
export interface OffsetOutOfRange {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

/** A fetch held offsets, but no record that is for a reader. */
export interface SkippedRange {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  readonly lastOffset: string;
  /** The decoded record set, the very array. */
  readonly rawMessages: readonly unknown[];
}

/** A broker was asked for topics by their names, since it does not offer fetches by id. */
export interface FetchByName {
  readonly groupId: string;
  /** The latest version of Fetch that it offers. */
  readonly offered: number;
  /** Whether it tells the ids of topics in its metadata. */
  readonly knowsIds: boolean;
}

/** A broker answered a fetch of the partition. */
export interface FetchAnswer extends LogEnds {
  readonly groupId: string;
}

/** A metadata response about the topics of a group. */
export interface TopicsAnswer {
  readonly groupId: string;
  /** Topics that the broker does not have. */
  readonly unknown: readonly string[];
  /** How many partitions the others have. */
  readonly partitions: ReadonlyMap<string, number>;
}

/** What kafkajs does not report by events of its own. */
export const kafkajsEvents = new EventEmitter<{
  outOfRange: [OffsetOutOfRange];
  skipped: [SkippedRange];
  unreadable: [UnreadableBatch & { readonly groupId: string }];
  answered: [FetchAnswer];
  topics: [TopicsAnswer];
  truncated: [TruncatedLog & { readonly groupId: string }];
  fetchedByName: [FetchByName];
}>();

/** The part of kafkajs's consumer group that the patches read or replace. */
interface ConsumerGroup {
  readonly groupId: string;
  readonly cluster: { refreshMetadataIfNecessary(): Promise<void> };
  readonly maxWaitTime: number;
  readonly subscriptionState: { active(): readonly { readonly partitions: readonly number[] }[] };
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
  fetch(nodeId: number): Promise<unknown[]>;
  resume(topicPartitions: unknown): void;
  commitOffsets(offsets: unknown): Promise<void>;
  checkForStaleAssignment(): void;
  recoverFromFetch(error: unknown): Promise<void>;
  recoverFromOffsetOutOfRange(error: { topic: string; partition: number }): Promise<void>;
}

/** Reports an offset that the broker does not hold, in the place of a jump to the log's start or end. */
export function reportOutOfRange(prototype: ConsumerGroup): void {
  prototype.recoverFromOffsetOutOfRange = async function report(this: ConsumerGroup, { topic, partition }) {
    kafkajsEvents.emit('outOfRange', { groupId: this.groupId, topic, partition });
  };
}

interface FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  /** The decoded record set, the very array. */
  readonly rawMessages: readonly unknown[];
  isEmptyDueToFiltering(): boolean;
  lastOffset(): string;
}

/** The part of kafkajs's runner that hands over batches and commits offsets. */
interface Runner {
  readonly running: boolean;
  readonly consumerGroup: ConsumerGroup;
  handleBatch(batch: FetchedBatch): Promise<void>;
  commitOffsets(offsets: unknown): Promise<void>;
}

/** Reports a fetch that held offsets, but no record for a reader. */
export function reportSkippedRanges(prototype: Runner): void {
  const handleBatch = prototype.handleBatch;
  prototype.handleBatch = function report(this: Runner, batch) {
    if (this.running && batch.isEmptyDueToFiltering()) {
      const { topic, partition, fetchedOffset, rawMessages } = batch;
      const { groupId } = this.consumerGroup;
      const lastOffset = batch.lastOffset();
      kafkajsEvents.emit('skipped', { groupId, topic, partition, fetchedOffset, lastOffset, rawMessages });
    }
    return handleBatch.call(this, batch);
  };
}

/** Reports a batch that cannot be read, behind the records in front of it. As shipped it fails the whole fetch. */
export function reportUnreadableBatches(prototype: Runner): void {
  const handleBatch = prototype.handleBatch;
  prototype.handleBatch = async function report(this: Runner, batch) {
    await handleBatch.call(this, batch);
    const fault = faultBehind(batch.rawMessages);
    if (this.running && fault) {
      const { topic, partition } = batch;
      kafkajsEvents.emit('unreadable', { groupId: this.consumerGroup.groupId, topic, partition, ...fault });
    }
  };
}

interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly messages: readonly unknown[];
      readonly highWatermark: string;
      /** Left out by brokers before 0.11. */
      readonly lastStableOffset?: string;
    }[];
  }[];
}

interface Broker {
  fetch(request: unknown): Promise<FetchResponse>;
}

/** Reports both ends of the log that each fetch's answer tells for a partition. As shipped one of them is dropped. */
export function reportLogEnds(broker: Broker, runner: Runner): void {
  const ends = new WeakMap<readonly unknown[], Pick<LogEnds, 'highWatermark' | 'lastStableOffset'>>();
  const { fetch } = broker;
  broker.fetch = async function fetchAndKeep(this: Broker, request) {
    const response = await fetch.call(this, request);
    for (const { messages, highWatermark, lastStableOffset } of response.responses.flatMap((of) => of.partitions)) {
      if (lastStableOffset !== undefined) {
        ends.set(messages, { highWatermark: BigInt(highWatermark), lastStableOffset: BigInt(lastStableOffset) });
      }
    }
    return response;
  };
  const handleBatch = runner.handleBatch;
  runner.handleBatch = function report(this: Runner, batch) {
    const known = ends.get(batch.rawMessages);
    if (this.running && known) {
      const { topic, partition } = batch;
      kafkajsEvents.emit('answered', { groupId: this.consumerGroup.groupId, topic, partition, ...known });
    }
    return handleBatch.call(this, batch);
  };
}

/**
 * Lets a consumer that restarts join its group as the member it was. Its cluster is the one thing that it keeps over a
 * restart, so the member's id is kept by cluster.
 */
export function rejoinAsSameMember(prototype: ConsumerGroup): void {
  const { joinAndSync, leave } = prototype;
  const memberIds = new WeakMap<object, string>();
  prototype.joinAndSync = async function joinAgain(this: ConsumerGroup) {
    this.memberId ??= memberIds.get(this.cluster) ?? null;
    await joinAndSync.call(this);
    if (this.memberId !== null) {
      memberIds.set(this.cluster, this.memberId);
    }
  };
  prototype.leave = async function leaveForGood(this: ConsumerGroup) {
    await leave.call(this);
    memberIds.delete(this.cluster);
  };
}

const hasNothingActive = ({ subscriptionState }: ConsumerGroup): boolean =>
  subscriptionState.active().every(({ partitions }) => partitions.length === 0);

/** The fetches of each group that wait for a partition to be resumed, or for memory. */
class FetchWaiters {
  readonly #waiters = new WeakMap<ConsumerGroup, Set<() => void>>();
  readonly #memory: MemoryBudget;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  /** Resolves when a partition is resumed, or there is room again, after `maxWaitTime` at the latest. */
  wait(group: ConsumerGroup): Promise<void> {
    const waiters = this.#waiters.get(group) ?? new Set();
    this.#waiters.set(group, waiters);
    return new Promise((resolve) => {
      const timer = setTimeout(() => wake(), group.maxWaitTime);
      const wake = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        forgetRoom();
        resolve();
      };
      waiters.add(wake);
      const forgetRoom = this.#memory.onRoom(wake);
    });
  }

  wakeAll(group: ConsumerGroup): void {
    for (const wake of [...(this.#waiters.get(group) ?? [])]) {
      wake();
    }
  }
}

/** Rejoins when topics or partitions came or went, as a fetch does. */
async function noticeTopicChanges(group: ConsumerGroup): Promise<void> {
  try {
    await group.cluster.refreshMetadataIfNecessary();
    group.checkForStaleAssignment();
  } catch (error) {
    await group.recoverFromFetch(error);
  }
}

/**
 * Lets a consumer whose partitions are all paused fetch as soon as one is resumed. As shipped it sleeps for the whole
 * of `maxWaitTimeInMs` first: at each start, after each rebalance, and whenever all queues were full. One that owns no
 * partition, or none that is active, or has no memory left, still sends heartbeats and notices topics that come and go.
 */
export function fetchWhenResumed(prototype: ConsumerGroup, memory: MemoryBudget): void {
  const { fetch, resume } = prototype;
  const waiters = new FetchWaiters(memory);
  const mayNotFetch = (group: ConsumerGroup): boolean => hasNothingActive(group) || !memory.hasRoom;
  prototype.resume = function resumeAndWake(this: ConsumerGroup, topicPartitions) {
    resume.call(this, topicPartitions);
    waiters.wakeAll(this);
  };
  prototype.fetch = async function fetchOnceActive(this: ConsumerGroup, nodeId) {
    if (mayNotFetch(this)) {
      await waiters.wait(this);
      if (mayNotFetch(this)) {
        await noticeTopicChanges(this);
        return [];
      }
    }
    return fetch.call(this, nodeId);
  };
}

/**
 * Commits offsets once, and rejects when the commit failed or could not be sent. As shipped a failed commit is retried
 * for seconds: after a rebalance under the new generation, for partitions whose new owners are further on. And a commit
 * of a consumer that does not run resolves without a request.
 */
export function commitOnce(prototype: Runner): void {
  prototype.commitOffsets = async function commitOrReject(this: Runner, offsets) {
    if (!this.running) {
      throw new Error('the offsets were not committed: the consumer is not in its group');
    }
    await this.consumerGroup.commitOffsets(offsets);
  };
}
