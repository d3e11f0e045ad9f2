import { backoffMs } from '../../stream/partition/retries.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { Position } from '../../stream/ports/record-source.ts';
import { asError, isForGood } from '../client/kafka-errors.ts';
import { replacedBySuccessor } from '../group/former-member.ts';
import {
  type GroupMember,
  type GroupMemberListener,
  HEARTBEAT_INTERVAL_MS,
  REPORTED_SILENCE_MS,
} from '../group/group-member.ts';
import { type TopicsAnswer, type TopicsPort, watchTopics } from '../group/subscribed-metadata.ts';
import type { HeartbeatAnswer, PartitionsById } from './consumer-group-heartbeat.ts';
import { unowned } from './consumer-group-requests.ts';
import {
  CODE,
  type ConsumerCoordinator,
  type ConsumerMemberOptions,
  ConsumerSession,
  protocolError,
} from './consumer-session.ts';
import { Reconciliation } from './reconciliation.ts';

/**
 * How long a coordinator may be silent before the member gives up what it owns: the brokers' default session time-out,
 * since they do not send theirs. Where it is shorter, two members fence each other until then.
 */
const SESSION_TIMEOUT_MS = 45_000;

/** How often the coordinator is asked who owns what is handed over. */
const HANDOVER_POLL_MS = 100;

/** The coordinator does not have the protocol. */
export class NotOffered extends Error {
  override readonly name = 'NotOffered';
}

export interface ConsumerMemberPorts {
  readonly coordinator: ConsumerCoordinator;
  readonly clock: Clock;
  readonly topics: TopicsPort;
  /** The ids of topics by their names; those that the brokers do not have are left out. */
  readonly topicIds: (topics: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** The member has ended: the group has to be joined by the other protocol. */
  readonly onNotOffered: (error: NotOffered) => void;
}

/**
 * A member by the protocol of KIP-848: the brokers assign, and a heartbeat is all that a member sends. It goes on with
 * what it keeps whatever happens to the others, and acknowledges what it lost once nothing of it is written.
 *
 * Handing over goes beyond the protocol. Who leaves is assigned nothing at once, and those who win its partitions learn
 * of it a beat or two later. So it leaves, and goes on writing each partition until its winner was assigned it. Why no
 * record is lost or doubled meanwhile: the compare-and-set of the stored offset is in the transaction of the rows. So
 * of two writers of a partition the one that is behind writes nothing. It reads the offset again, or finds the
 * partition gone.
 *
 * It leaves for good (epoch -1) always, with an instance id too: a stopped Pod does not come back under its uid, and
 * epoch -2 would keep its partitions from the others for the session time-out. A killed process could not leave. Its
 * successor, with the same instance id, releases the place (epoch -2 for the former member) and takes over what it had.
 */
export class ConsumerMember implements GroupMember {
  readonly #options: ConsumerMemberOptions;
  readonly #ports: ConsumerMemberPorts;
  readonly #session: ConsumerSession;
  readonly #reconciliation: Reconciliation;
  readonly #ending = new AbortController();
  #listener: GroupMemberListener | null = null;
  #onFirst: () => void = () => undefined;
  #staying: Promise<void> | null = null;
  #hasReleased = false;
  #joiningSince: number | null = null;
  /** Ends the pause before the next beat. */
  #waking = new AbortController();

  constructor(options: ConsumerMemberOptions, ports: ConsumerMemberPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#session = new ConsumerSession(options, ports.coordinator, ports.clock);
    this.#reconciliation = new Reconciliation({
      clock: ports.clock,
      topicIds: () => ports.topicIds(this.#session.subscribed),
      onAssigned: async (change) => {
        const written = this.#listener?.onAssigned({ ...change, isLeader: null, milliseconds: null });
        this.#onFirst();
        await written;
      },
      onReconciled: () => this.#session.isNews(this.#reconciliation.owned) && this.#waking.abort(),
    });
  }

  async join(listener: GroupMemberListener): Promise<void> {
    this.#listener = listener;
    const { signal } = this.#ending;
    const first = new Promise<void>((resolve, reject) => {
      this.#onFirst = resolve;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    void watchTopics(this.#options, { ...this.#ports, signal }, (answer) => this.#looked(answer, listener));
    await first;
  }

  async handOver(timeoutMs: number): Promise<boolean> {
    const until = this.#now() + timeoutMs;
    let { owned: kept } = this.#reconciliation;
    if (!this.#session.isJoined || kept.size === 0 || this.#ending.signal.aborted) {
      return false;
    }
    this.#stop();
    await this.#session.leave(timeoutMs);
    for (let left = until - this.#now(); !this.#session.isKnown && left > 0; left = until - this.#now()) {
      const members = await this.#session.members(left).catch(() => null);
      if (members?.length === 0) break;
      kept = unowned(kept, members ?? []);
      this.#reconciliation.assign(kept, this.#now());
      if (kept.size === 0) {
        await this.#reconciliation.settled();
        return true;
      }
      await this.#ports.clock.wait(HANDOVER_POLL_MS);
    }
    return false;
  }

  async leave(timeoutMs: number): Promise<void> {
    this.#stop();
    await this.#session.leave(timeoutMs);
    this.#ports.coordinator.close();
  }

  async commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    if (!this.#session.isJoined || this.#ending.signal.aborted) {
      throw new Error('the offsets were not committed: the process is not a member of its group');
    }
    await this.#session.commit(positions, metadata);
  }

  /** The first look comes before the first beat: from then on the brokers are known by their addresses. */
  #looked(answer: TopicsAnswer | Error, listener: GroupMemberListener): void {
    if (!(answer instanceof Error)) {
      listener.onTopics(answer.unknown, answer.partitions);
      this.#staying ??= this.#stay(listener);
    } else if (isForGood(answer)) {
      this.#end(answer, listener);
    } else {
      listener.onTryingAgain(answer, false);
    }
  }

  async #stay(listener: GroupMemberListener): Promise<void> {
    const { signal } = this.#ending;
    for (let failures = 0; !signal.aborted; ) {
      const failure = await this.#beat(listener);
      failures = failure === null ? 0 : failures + 1;
      if (failure !== null && !signal.aborted) {
        this.#failed(failure, listener);
      }
      await this.#pause(failures);
    }
  }

  /** None where there is news, and longer the more beats in a row have failed. */
  async #pause(failures: number): Promise<void> {
    const isNews = this.#session.isNews(this.#reconciliation.owned);
    if (this.#ending.signal.aborted || (failures === 0 && isNews)) {
      return;
    }
    this.#waking = new AbortController();
    const pause = failures > 0 ? backoffMs(failures) : Math.min(HEARTBEAT_INTERVAL_MS, this.#session.intervalMs);
    await this.#ports.clock.wait(Math.min(pause, this.#sessionLeftMs), this.#waking.signal);
    if (this.#joiningSince !== null) {
      this.#joiningSince = this.#now();
    }
  }

  /** @returns why another one is needed before the usual time; null: none is */
  async #beat(listener: GroupMemberListener): Promise<Error | null> {
    const { owned } = this.#reconciliation;
    if (!this.#session.isJoined && this.#joiningSince === null) {
      this.#joiningSince = this.#now();
      listener.onJoining();
    }
    try {
      const answer = await this.#session.beat(owned, this.#sessionLeftMs);
      return this.#ending.signal.aborted ? null : await this.#take(answer, owned, listener);
    } catch (error) {
      this.#ports.coordinator.forget();
      return isForGood(error) ? this.#end(asError(error), listener) : asError(error);
    }
  }

  async #take(
    answer: HeartbeatAnswer | null,
    owned: PartitionsById,
    listener: GroupMemberListener,
  ): Promise<Error | null> {
    const { errorCode, errorMessage } = answer ?? { errorCode: CODE.UNSUPPORTED_VERSION, errorMessage: null };
    if (answer !== null && errorCode === CODE.NONE) {
      this.#answered(answer, owned, listener);
      return null;
    }
    const { groupId, instanceId } = this.#options;
    const error = protocolError(errorCode, errorMessage);
    switch (errorCode) {
      case CODE.UNKNOWN_MEMBER_ID:
      case CODE.FENCED_MEMBER_EPOCH:
        return this.#fenced(error, listener);
      case CODE.UNSUPPORTED_VERSION:
        return this.#giveWay(error, listener);
      case CODE.UNRELEASED_INSTANCE_ID:
        return this.#takePlace(error);
      case CODE.FENCED_INSTANCE_ID:
        return this.#end(replacedBySuccessor({ groupId, instanceId: instanceId ?? '' }), listener);
      case CODE.TOPIC_AUTHORIZATION_FAILED:
      case CODE.GROUP_AUTHORIZATION_FAILED:
        return this.#session.mayPass(errorCode) ? error : this.#end(error, listener);
      default:
        return error;
    }
  }

  #answered({ assignment }: HeartbeatAnswer, owned: PartitionsById, listener: GroupMemberListener): void {
    listener.onHeartbeat();
    this.#hasReleased = false;
    const changedSince = this.#reconciliation.settle(owned);
    if (changedSince !== null) {
      listener.onAcknowledged(this.#now() - changedSince);
    }
    if (assignment === null) {
      this.#reconciliation.learnAgain(this.#now());
    } else {
      this.#reconciliation.assign(assignment, this.#joiningSince ?? this.#now());
      this.#joiningSince = null;
    }
  }

  #failed(error: Error, listener: GroupMemberListener): void {
    const { silenceMs, isJoined } = this.#session;
    if (silenceMs >= SESSION_TIMEOUT_MS) {
      this.#expel(new Error(`the group's coordinator has not answered for ${SESSION_TIMEOUT_MS / 1_000} s`), listener);
    }
    if (silenceMs >= REPORTED_SILENCE_MS || !isJoined) {
      listener.onTryingAgain(error, !isJoined);
    }
  }

  /** Joins anew at once; the answer to a join is tried again later. */
  #fenced(error: Error, listener: GroupMemberListener): Error | null {
    const wasJoined = this.#session.isJoined;
    this.#session.forgotten();
    this.#expel(error, listener);
    return wasJoined ? null : error;
  }

  #expel(reason: Error, listener: GroupMemberListener): void {
    const { open, owned } = this.#reconciliation;
    if (open.length > 0 || owned.size > 0) {
      this.#reconciliation.drop();
      listener.onExpelled(reason);
    }
  }

  /** Whoever has the place was killed, or learns that it was replaced. */
  async #takePlace(error: Error): Promise<Error | null> {
    const isFirst = !this.#hasReleased;
    this.#hasReleased = true;
    await this.#session.releasePlace();
    return isFirst ? null : error;
  }

  #giveWay(cause: Error, listener: GroupMemberListener): null {
    const error = new NotOffered('the brokers do not offer the group protocol consumer (Kafka 4.0)', { cause });
    this.#session.forgotten();
    this.#expel(error, listener);
    this.#stop(error);
    this.#ports.onNotOffered(error);
    return null;
  }

  #end(error: Error, listener: GroupMemberListener): null {
    listener.onFatal(error);
    this.#stop();
    return null;
  }

  #stop(reason: Error = new Error('the group was left before it was joined')): void {
    this.#ending.abort(reason);
    this.#waking.abort();
  }

  /** How long it may own what it owns without an answer, in milliseconds; without a bound once that is over. */
  get #sessionLeftMs(): number {
    const { silenceMs } = this.#session;
    return silenceMs < SESSION_TIMEOUT_MS ? SESSION_TIMEOUT_MS - silenceMs : Number.POSITIVE_INFINITY;
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }
}
