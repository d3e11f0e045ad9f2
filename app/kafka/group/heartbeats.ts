import { asError, EXPELLED, errorTypeOf, isForGood, OF_GENERATION, REBALANCING } from '../client/kafka-errors.ts';
import type { InGeneration } from './coordinator.ts';
import type { MemberPorts } from './group-join.ts';
import { HEARTBEAT_INTERVAL_MS, REPORTED_SILENCE_MS } from './group-member.ts';
import type { MemberState } from './member-state.ts';

/**
 * The part of the session in which a beat has to be answered; then the coordinator is found anew, and asked once more.
 */
const ANSWER_SHARE = 0.5;

/** A beat. */
interface Sent {
  readonly at: number;
  /**
   * SyncGroup was answered before. Brokers before 2.6 answer REBALANCE_IN_PROGRESS until then: the join of now is
   * meant.
   */
  readonly isSynced: boolean;
}

/** What the answers to beats say. */
interface HeartbeatListener {
  /** A sign of life. */
  onAnswered(): void;
  /** The group is being joined, or has another generation. */
  onRebalance(): void;
  /** The coordinator does not know the member, or has not answered for the session time-out. */
  onExpelled(error: Error): void;
  onFailed(error: unknown): void;
}

/**
 * Beats of a member. While a join waits, behind a killed member for as long as the session lasts, they are the only
 * sign that the coordinator is alive; then any answer is one, and says nothing else.
 */
export class Heartbeats {
  readonly #state: MemberState;
  readonly #ports: Pick<MemberPorts, 'coordinator' | 'clock'>;
  readonly #sessionTimeoutMs: number;
  readonly #listener: HeartbeatListener;
  /** The beat that is under way. */
  #sent: Sent | null = null;

  constructor(
    state: MemberState,
    ports: Pick<MemberPorts, 'coordinator' | 'clock'>,
    sessionTimeoutMs: number,
    listener: HeartbeatListener,
  ) {
    this.#state = state;
    this.#ports = ports;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#listener = listener;
  }

  /** Beats until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ports.clock.wait(this.#pause(), signal);
      if (!signal.aborted) {
        this.#expelIfSilent();
        this.#beatOnce(signal);
      }
    }
  }

  /** Until the next beat, or the end of the session. */
  #pause(): number {
    const { isWriting, signAt } = this.#state;
    return Math.min(
      HEARTBEAT_INTERVAL_MS,
      isWriting ? Math.max(0, signAt + this.#sessionTimeoutMs - this.#now()) : HEARTBEAT_INTERVAL_MS,
    );
  }

  /** The session began when the coordinator got the last request that it answered, which was not before it was sent. */
  #expelIfSilent(): void {
    if (this.#state.isWriting && this.#now() - this.#state.signAt >= this.#sessionTimeoutMs) {
      const seconds = this.#sessionTimeoutMs / 1_000;
      this.#listener.onExpelled(new Error(`the group's coordinator has not answered for ${seconds} s`));
    }
  }

  #beatOnce(signal: AbortSignal): void {
    const { inGeneration } = this.#state;
    if (this.#sent !== null && this.#now() - this.#sent.at >= this.#sessionTimeoutMs * ANSWER_SHARE) {
      // Given up: the one that takes its place has as long.
      this.#sent = null;
      this.#ports.coordinator.forget();
    }
    if (this.#sent === null && inGeneration !== null) {
      void this.#beat(inGeneration, signal);
    }
  }

  async #beat(member: InGeneration, signal: AbortSignal): Promise<void> {
    const sent = { at: this.#now(), isSynced: this.#state.claim.generation === member.generationId };
    this.#sent = sent;
    const answer = await this.#ports.coordinator.beat(member).then(
      () => null,
      (error: unknown) => ({ error, type: errorTypeOf(error) }),
    );
    this.#sent = this.#sent === sent ? null : this.#sent;
    if (signal.aborted) {
      return;
    }
    if (answer === null || OF_GENERATION.has(answer.type)) {
      this.#state.answered(sent.at);
      this.#listener.onAnswered();
    }
    const { inGeneration } = this.#state;
    const isOfNow = inGeneration?.memberId === member.memberId && inGeneration.generationId === member.generationId;
    if (answer !== null && (sent.isSynced || answer.type !== REBALANCING)) {
      this.#failed(answer, isOfNow);
    }
  }

  /** An answer to a member of before, or in a generation of before, says nothing about the one of now. */
  #failed({ error, type }: { readonly error: unknown; readonly type: string | undefined }, isOfNow: boolean): void {
    if (OF_GENERATION.has(type)) {
      isOfNow && this.#listener.onRebalance();
    } else if (EXPELLED.has(type)) {
      isOfNow && this.#listener.onExpelled(asError(error));
    } else if (isForGood(error) || this.#now() - this.#state.signAt >= REPORTED_SILENCE_MS) {
      this.#listener.onFailed(error);
    }
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }
}
