import { createRequire } from 'node:module';

/** The part of kafkajs's consumer group that fetches. */
interface FetchingGroup {
  readonly maxWaitTime: number;
  readonly subscriptionState: { active(): readonly { readonly partitions: readonly number[] }[] };
  fetch(nodeId: number): Promise<unknown[]>;
  resume(topicPartitions: unknown): void;
}

const hasNothingActive = ({ subscriptionState }: FetchingGroup): boolean =>
  subscriptionState.active().every(({ partitions }) => partitions.length === 0);

/** Whoever waits for a partition of a group to be resumed. */
class ResumeWaiters {
  readonly #waiters = new WeakMap<FetchingGroup, Set<() => void>>();

  /** Resolves when a partition is resumed, after `maxWaitTime` at the latest. */
  wait(group: FetchingGroup): Promise<void> {
    const waiters = this.#waiters.get(group) ?? new Set();
    this.#waiters.set(group, waiters);
    return new Promise((resolve) => {
      const timer = setTimeout(() => wake(), group.maxWaitTime);
      const wake = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        resolve();
      };
      waiters.add(wake);
    });
  }

  wakeAll(group: FetchingGroup): void {
    for (const wake of [...(this.#waiters.get(group) ?? [])]) {
      wake();
    }
  }
}

/**
 * Lets a consumer whose partitions are all paused fetch as soon as one is resumed. As shipped it sleeps for the whole of
 * `maxWaitTimeInMs` first: at each start, after each rebalance, and whenever all queues were full.
 */
export function fetchWhenResumed(prototype: FetchingGroup): void {
  const { fetch, resume } = prototype;
  const waiters = new ResumeWaiters();
  prototype.resume = function resumeAndWake(this: FetchingGroup, topicPartitions) {
    resume.call(this, topicPartitions);
    waiters.wakeAll(this);
  };
  prototype.fetch = async function fetchOnceActive(this: FetchingGroup, nodeId) {
    if (hasNothingActive(this)) {
      await waiters.wait(this);
      if (hasNothingActive(this)) {
        return [];
      }
    }
    return fetch.call(this, nodeId);
  };
}

const requireErrors = createRequire(import.meta.url);

interface Cluster {
  findGroupCoordinatorMetadata(options: unknown): Promise<unknown>;
}

interface KafkajsErrors {
  readonly KafkaJSError: new (message: string) => Error;
  readonly KafkaJSGroupCoordinatorNotFound: new (message: string) => Error;
}

/**
 * Tells that no broker knew the group's coordinator with an error that is tried again. As shipped it counts as one that
 * never passes, although it says only that the brokers are starting, or were cut off in the middle of the question.
 */
export function coordinatorComesBack(prototype: Cluster): void {
  const { KafkaJSError, KafkaJSGroupCoordinatorNotFound } = requireErrors('kafkajs/src/errors') as KafkajsErrors;
  const find = prototype.findGroupCoordinatorMetadata;
  prototype.findGroupCoordinatorMetadata = async function findOrTryAgain(this: Cluster, options) {
    try {
      return await find.call(this, options);
    } catch (error) {
      throw error instanceof KafkaJSGroupCoordinatorNotFound ? new KafkaJSError(error.message) : error;
    }
  };
}

/** The part of kafkajs's runner that commits offsets. */
interface CommittingRunner {
  readonly running: boolean;
  readonly consumerGroup: { commitOffsets(offsets: unknown): Promise<void> };
  commitOffsets(offsets: unknown): Promise<void>;
}

/**
 * Commits offsets once, and rejects when that failed or could not be tried. As shipped a failed commit is tried again for
 * seconds: after a rebalance in the name of the new generation, for partitions that others own and have gone on with. And
 * one of a consumer that does not run succeeds without a word and without doing anything.
 */
export function commitOnce(prototype: CommittingRunner): void {
  prototype.commitOffsets = async function commitOrReject(this: CommittingRunner, offsets) {
    if (!this.running) {
      throw new Error('the offsets were not committed: the consumer is not in its group');
    }
    await this.consumerGroup.commitOffsets(offsets);
  };
}
