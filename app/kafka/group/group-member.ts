import type { TopicPartition } from '../../records/record.ts';
import type { Position } from '../../stream/ports/record-source.ts';

/** The pause between two heartbeats: what changes in the group is learned by the next one. Brokers ask for less. */
export const HEARTBEAT_INTERVAL_MS = 1_000;

/** Silence of the coordinator that is reported: one heartbeat that fails, as where the coordinator moves, is none. */
export const REPORTED_SILENCE_MS = 3_000;

/** How long the group waits for a member that has to join again, or to give partitions up, before it is expelled. */
export const REBALANCE_TIMEOUT_MS = 60_000;

/** The pause before a request to leave that the coordinator did not take is sent to the coordinator of then. */
export const LEAVE_RETRY_MS = 100;

/** What the group gave a member in a generation (KIP-848: at an epoch). */
export interface Assignment {
  /** All partitions that the member owns from now on. */
  readonly owned: readonly TopicPartition[];
  /** Those of them that it did not own before; after {@link GroupMemberListener.onExpelled} all of them. */
  readonly added: readonly TopicPartition[];
  /** Those that it owned before and does not own any more. */
  readonly revoked: readonly TopicPartition[];
  /** Whether the member leads the generation; null: the brokers assign, and nobody leads (KIP-848). */
  readonly isLeader: boolean | null;
  /** How long the join took, in milliseconds; null: {@link GroupMemberListener.onAcknowledged} reports it (KIP-848). */
  readonly milliseconds: number | null;
}

/** Events of a member. A listener must not throw. */
export interface GroupMemberListener {
  /** A join began. The member goes on with what it owns. */
  onJoining(): void;
  /**
   * A generation began. Nothing of `revoked` may be fetched from the call on. Resolves when nothing of it is written
   * any more, which a member of KIP-848 acknowledges then; a classic one goes on with its beats meanwhile.
   */
  onAssigned(assignment: Assignment): Promise<void>;
  /**
   * The coordinator has heard that the member gave up what it lost and has what it won.
   *
   * @param milliseconds since the assignment reached it, or since it began to join
   */
  onAcknowledged(milliseconds: number): void;
  /**
   * The group may have given everything to others: nothing may be fetched or written before the next assignment.
   *
   * @param reason no answer for the session time-out, or the coordinator does not know the member
   */
  onExpelled(reason: Error): void;
  /** The coordinator answered: the process is a member. */
  onHeartbeat(): void;
  /**
   * The brokers answered about the subscribed topics, and do not have the unknown ones.
   *
   * @param partitions how many partitions the others have
   */
  onTopics(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void;
  /**
   * A request failed; the member tries again.
   *
   * @param isJoin whether the group was not joined for that; else a heartbeat or a look at the topics failed
   */
  onTryingAgain(error: Error, isJoin: boolean): void;
  /** The process will never be a member again. */
  onFatal(error: Error): void;
}

/** A member of a consumer group, by either group protocol. */
export interface GroupMember {
  /**
   * Joins the group, and stays in it until {@link leave}. Resolves after the first assignment.
   *
   * @throws Error when the member left before
   */
  join(listener: GroupMemberListener): Promise<void>;
  /**
   * Gives everything to the others while it goes on with it until they have it: joins as one that leaves, and is
   * assigned nothing. Resolves with true once that happened, with false when it did not in time or cannot.
   *
   * @param timeoutMs milliseconds, lookups and retries included
   */
  handOver(timeoutMs: number): Promise<boolean>;
  /** Leaves the group and closes the member's connections, in this many milliseconds at most. Never rejects. */
  leave(timeoutMs: number): Promise<void>;
  /**
   * Commits offsets once, in the generation of now.
   *
   * @throws Error when the generation is over, or the process is not a member
   */
  commit(positions: readonly Position[], metadata: string | null): Promise<void>;
}
