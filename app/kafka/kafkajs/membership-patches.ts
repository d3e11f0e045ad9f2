import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, ConsumerGroup, Runner } from './classes.ts';
import { internals, joinKey } from './internals.ts';

/** Reported by kafkajs of joins that follow a heartbeat alone; others follow a session that is over, or new topics. */
const REBALANCING = 'consumer.rebalancing';

/**
 * Reports each join of a group when it begins, and lets a consumer that restarts join as the member it was. Its cluster is
 * the one thing that it keeps over a restart, so the member's id is kept by cluster.
 *
 * Lets a consumer that stops leave its group while it waits to join it. As shipped it waits for the end of the rebalance,
 * which a member that does not answer puts off until its session is over; and one that goes without leaving is waited for
 * as long, once the others have joined.
 *
 * The request goes over the connection of other requests, since a broker answers those of one connection in order. The
 * coordinator then answers the join with UNKNOWN_MEMBER_ID, for which kafkajs would join anew.
 */
export function joinAsMember(
  group: ConsumerGroup,
  runner: Runner,
  { findGroupCoordinator }: Pick<Cluster, 'findGroupCoordinator'>,
): void {
  const joining = new WeakSet<ConsumerGroup>();
  const stopped = new WeakSet<ConsumerGroup>();
  const memberIds = new WeakMap<Cluster, string>();
  const joinOnce = joinKey();
  const { joinAndSync, leave, [joinOnce]: join } = group;
  group[joinOnce] = async function joinUnlessStopped(this: ConsumerGroup) {
    if (stopped.has(this)) {
      throw new Error('the group is not joined: the consumer stops');
    }
    await join?.call(this);
  };
  group.joinAndSync = async function joinAndTell(this: ConsumerGroup) {
    joining.add(this);
    this.memberId ??= memberIds.get(this.cluster) ?? null;
    const { groupId, memberId } = this;
    this.instrumentationEmitter.emit(REBALANCING, { groupId, memberId });
    await joinAndSync.call(this).finally(() => joining.delete(this));
    if (this.memberId !== null) {
      memberIds.set(this.cluster, this.memberId);
    }
  };
  group.leave = async function leaveForGood(this: ConsumerGroup) {
    await leave.call(this);
    memberIds.delete(this.cluster);
  };
  const { stop } = runner;
  runner.stop = async function leaveAndStop(this: Runner) {
    const member = this.consumerGroup;
    const { groupId, memberId } = member;
    stopped.add(member);
    const ended = stop.call(this);
    if (joining.has(member) && memberId !== null) {
      const coordinator = await findGroupCoordinator.call(member.cluster, { groupId }).catch(() => null);
      await coordinator?.leaveGroup({ groupId, memberId }).catch(() => undefined);
    }
    await ended;
  };
}

/** The metadata that the assignment of each group was last compared with: to compare them takes a while with 1,000 partitions. */
const compared = new WeakMap<ConsumerGroup, object>();

/** A look at topics that come and go. */
interface Look {
  isOver: boolean;
  failure: { readonly error: unknown } | null;
}

const looks = new WeakMap<ConsumerGroup, Look>();

/** The look that is under way, or a new one. */
function lookOf(group: ConsumerGroup): Look {
  const before = looks.get(group);
  if (before !== undefined) {
    return before;
  }
  const look: Look = { isOver: false, failure: null };
  looks.set(group, look);
  void group.cluster
    .refreshMetadataIfNecessary()
    .catch((error: unknown) => {
      look.failure = { error };
    })
    .finally(() => {
      look.isOver = true;
    });
  return look;
}

/** As shipped only partitions that were added make an assignment stale: those of a topic that is gone stay assigned. */
function requireAssignedTopics(group: ConsumerGroup): void {
  const known = group.generatePartitionsPerSubscribedTopic();
  for (const [topic, before] of group.partitionsPerSubscribedTopic ?? []) {
    if (before.length > 0 && known.get(topic)?.length === 0) {
      const gone = { topic, unknownPartitions: [] };
      throw new internals.errors.KafkaJSStaleTopicMetadataAssignment('Topic is gone', gone);
    }
  }
}

/** Rejoins when topics or partitions came or went, as a fetch of kafkajs's does. */
async function noticeTopicChanges(group: ConsumerGroup, { failure }: Look): Promise<void> {
  const { metadata } = group.cluster.brokerPool;
  try {
    if (failure !== null) {
      throw failure.error;
    }
    if (metadata === null || compared.get(group) !== metadata) {
      group.checkForStaleAssignment();
      requireAssignedTopics(group);
      compared.set(group, metadata ?? {});
    }
  } catch (error) {
    await group.recoverFromFetch(error);
  }
}

/**
 * Keeps a consumer from fetching: it joins its group and stays in it, and what it is assigned is fetched by others. In the
 * place of each fetch it waits for as long as an empty one takes, and notices topics that come and go. A heartbeat follows
 * each, so it waits for no broker: metadata that one holds back, as over a quota, are looked at once they are there.
 */
export function waitInsteadOfFetching(prototype: ConsumerGroup): void {
  prototype.fetch = async function waitAndNotice(this: ConsumerGroup) {
    const look = lookOf(this);
    await delay(this.maxWaitTime);
    // There is a fetch for each broker: one of them takes what all have waited for.
    if (look.isOver && looks.get(this) === look) {
      looks.delete(this);
      await noticeTopicChanges(this, look);
    }
    return [];
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
