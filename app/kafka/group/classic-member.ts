import type { TopicPartition } from '../../records/record.ts';
import { backoffMs } from '../../stream/partition/retries.ts';
import type { Position } from '../../stream/ports/record-source.ts';
import { asError, EXPELLED, errorTypeOf, isForGood, OF_GENERATION } from '../client/kafka-errors.ts';
import { MemberPlace } from './former-member.ts';
import { GroupJoin, type MemberOptions, type MemberPorts } from './group-join.ts';
import type { GroupMember, GroupMemberListener } from './group-member.ts';
import { Heartbeats } from './heartbeats.ts';
import { MemberState } from './member-state.ts';
import { TOPICS_POLL_MS, type TopicsAnswer } from './subscribed-metadata.ts';

/** Nothing is waited for but a reason to join again. */
const IDLE_CONNECTION_MS = 60_000;

/** Gets whether everything was handed over. */
type Leaving = (isHandedOver: boolean) => void;

/**
 * A member by the classic group protocol, whose assignments the leader makes (sticky-assignment.ts).
 *
 * It goes on with what it owns while it joins: a new generation gives and takes by difference, and touches nothing
 * else. How soon a change of the group is through depends on how often the members ask, so it beats every second.
 */
export class ClassicMember implements GroupMember {
  readonly #options: MemberOptions;
  readonly #ports: MemberPorts;
  readonly #state = new MemberState();
  readonly #group: GroupJoin;
  readonly #place: MemberPlace;
  readonly #heartbeats: Heartbeats;
  readonly #ending = new AbortController();
  #listener: GroupMemberListener | null = null;
  #isAsked = true;
  #isJoining = false;
  #hasLooked = false;
  #failures = 0;
  /** How many joins in a row ended as another generation began. */
  #overtakes = 0;
  /** When the attempt to join began, by the steady clock: what an outage takes before it is no join. */
  #joiningSince = 0;
  /** Ends the pause before the next join. */
  #wake: () => void = () => undefined;
  #onFirst: () => void = () => undefined;
  /** Resolves what waits until everything is handed over; `null`: the member is to stay. */
  #onLeaving: Leaving | null = null;

  constructor(options: MemberOptions, ports: MemberPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#group = new GroupJoin(options, ports);
    const { startedAt } = this.#group;
    this.#place = new MemberPlace({ ...options, startedAt }, ports, options.sessionTimeoutMs);
    this.#heartbeats = new Heartbeats(this.#state, ports, options.sessionTimeoutMs, {
      onAnswered: () => this.#listener?.onHeartbeat(),
      onRebalance: () => this.#isJoining || this.#joinAgain(),
      onExpelled: (error) => this.#expel(error),
      onFailed: (error) => this.#report(error),
    });
  }

  async join(listener: GroupMemberListener): Promise<void> {
    this.#listener = listener;
    const { signal } = this.#ending;
    const first = new Promise<void>((resolve, reject) => {
      this.#onFirst = resolve;
      signal.addEventListener('abort', () => reject(new Error('the group was left before it was joined')));
    });
    void this.#stayJoined();
    void this.#watchTopics();
    void this.#heartbeats.run(signal);
    await first;
  }

  async handOver(timeoutMs: number): Promise<boolean> {
    if (!this.#state.isWriting || this.#group.isAlone || this.#ending.signal.aborted) {
      return false;
    }
    const timer = new AbortController();
    const handedOver = new Promise<boolean>((resolve) => {
      this.#onLeaving = resolve;
    });
    // The join that waits says that the member stays.
    this.#joinAnew();
    const isLate = this.#ports.clock.wait(timeoutMs, timer.signal).then(() => false);
    return Promise.race([handedOver, isLate]).finally(() => timer.abort());
  }

  async leave(timeoutMs: number): Promise<void> {
    this.#stop();
    this.#onLeaving?.(false);
    const { clock, coordinator } = this.#ports;
    const timer = new AbortController();
    await Promise.race([this.#group.leave(this.#state, timer.signal), clock.wait(timeoutMs, timer.signal)]);
    timer.abort();
    coordinator.close();
  }

  async commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    const { owning } = this.#state;
    if (owning === null || this.#ending.signal.aborted) {
      throw new Error('the offsets were not committed: the process is not a member of its group');
    }
    const sentAt = this.#now();
    await this.#ports.coordinator.commit(owning, positions, metadata);
    this.#state.answered(sentAt);
  }

  async #stayJoined(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      if (this.#isAsked) {
        await this.#joinUntilDone();
      } else {
        await this.#pause(IDLE_CONNECTION_MS);
      }
    }
  }

  /** Joins soon, also where a pause before the next join is under way. */
  #joinAgain(): void {
    this.#isAsked = true;
    this.#wake();
  }

  /** Joins soon; a join that waits is given up, and the next one takes its place over another connection. */
  #joinAnew(): void {
    if (this.#group.isAsking) {
      this.#ports.coordinator.cutJoin();
    }
    this.#joinAgain();
  }

  /** Ends sooner when a join is asked for, or the member ends. */
  async #pause(milliseconds: number): Promise<void> {
    const waking = new AbortController();
    this.#wake = () => waking.abort();
    await this.#ports.clock.wait(milliseconds, waking.signal);
  }

  async #joinUntilDone(): Promise<void> {
    const { signal } = this.#ending;
    this.#joiningSince = this.#now();
    this.#isJoining = true;
    this.#listener?.onJoining();
    for (let isDone = false; !isDone && !signal.aborted; ) {
      this.#isAsked = false;
      isDone = await this.#joinOnce().catch((error: unknown) => this.#joinFailed(error));
    }
    this.#isJoining = false;
  }

  async #joinOnce(): Promise<boolean> {
    const { signal } = this.#ending;
    await this.#prepare();
    if (signal.aborted) {
      return true;
    }
    // Whatever was asked for until now is in this join.
    this.#isAsked = false;
    const onLeaving = this.#onLeaving;
    const onTopics = (answer: TopicsAnswer): void => this.#tellTopics(answer);
    const owned = await this.#group.join(this.#state, onLeaving !== null, { signal, onTopics });
    if (owned === null) {
      return this.#overtaken();
    }
    if (!signal.aborted) {
      this.#failures = 0;
      this.#overtakes = 0;
      this.#assigned(owned, this.#now() - this.#joiningSince, onLeaving);
    }
    return true;
  }

  /** What has to be known before the group is joined. */
  async #prepare(): Promise<void> {
    if (!this.#hasLooked) {
      await this.#look();
    }
    await this.#place.clear(this.#state.id, this.#ending.signal);
  }

  #assigned(owned: readonly TopicPartition[], milliseconds: number, onLeaving: Leaving | null): void {
    this.#place.settled();
    const change = this.#state.assigned(owned);
    const released = this.#listener?.onAssigned({ ...change, isLeader: this.#group.isLeader, milliseconds });
    this.#onFirst();
    if (onLeaving !== null) {
      // Assigned something again: the leader is of the version before.
      const isHandedOver = owned.length === 0;
      void Promise.resolve(released).then(() => onLeaving(isHandedOver));
    }
  }

  /** @returns whether nothing is tried again */
  async #joinFailed(error: unknown): Promise<boolean> {
    if (this.#ending.signal.aborted) {
      return true;
    }
    const type = errorTypeOf(error);
    if (EXPELLED.has(type)) {
      this.#expel(asError(error));
    }
    if (this.#isAsked) {
      return false;
    }
    if (OF_GENERATION.has(type)) {
      return this.#overtaken();
    }
    this.#failures += 1;
    const isFirstAnswer = EXPELLED.has(type) && this.#failures === 1;
    if (!isFirstAnswer && !this.#report(error, true)) {
      await this.#pause(backoffMs(this.#failures));
      this.#joiningSince = this.#now();
    }
    return this.#ending.signal.aborted;
  }

  /**
   * The group began another generation. Where that happens again and again, as in a group that KIP-848 members
   * converted, the member does not ask all the time.
   *
   * @returns whether nothing is tried again
   */
  async #overtaken(): Promise<boolean> {
    this.#overtakes += 1;
    if (this.#overtakes > 1 && !this.#isAsked) {
      await this.#pause(backoffMs(this.#overtakes - 1));
    }
    return this.#ending.signal.aborted;
  }

  /** @returns whether the member ends */
  #report(error: unknown, isJoin = false): boolean {
    if (!isForGood(error) || EXPELLED.has(errorTypeOf(error))) {
      this.#listener?.onTryingAgain(asError(error), isJoin);
      return false;
    }
    this.#listener?.onFatal(asError(error));
    this.#stop();
    return true;
  }

  /**
   * Nothing is fetched or written before the next assignment. Joins again, where no join is under way that may succeed.
   */
  #expel(reason: Error): void {
    if (EXPELLED.has(errorTypeOf(reason))) {
      this.#place.forgotten();
      this.#state.forgotten();
    }
    if (this.#state.expelled()) {
      this.#listener?.onExpelled(reason);
      this.#onLeaving?.(false);
    }
    if (!this.#isJoining || (EXPELLED.has(errorTypeOf(reason)) && this.#group.isAsking)) {
      this.#joinAnew();
    }
  }

  async #watchTopics(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#ports.clock.wait(TOPICS_POLL_MS, signal);
      if (!signal.aborted && this.#hasLooked) {
        await this.#look().catch((error: unknown) => signal.aborted || this.#report(error));
      }
    }
  }

  async #look(): Promise<void> {
    const answer = await this.#group.look();
    this.#hasLooked = true;
    this.#tellTopics(answer);
    if (!this.#isJoining && this.#group.isStale) {
      this.#joinAgain();
    }
  }

  #tellTopics({ unknown, partitions }: TopicsAnswer): void {
    const topics = this.#options.topics();
    const isOwn = (topic: string): boolean => topics.includes(topic);
    const own = new Map([...partitions].filter(([topic]) => isOwn(topic)));
    if (!this.#ending.signal.aborted) {
      this.#listener?.onTopics(unknown.filter(isOwn), own);
    }
  }

  #stop(): void {
    this.#ending.abort();
    this.#wake();
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }
}
