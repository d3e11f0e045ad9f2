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
