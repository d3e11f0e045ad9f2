import type { Cluster, ConsumerGroup, Runner } from './classes.ts';
import { joinKey } from './internals.ts';

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
