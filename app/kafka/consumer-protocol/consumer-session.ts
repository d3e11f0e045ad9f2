import { randomUUID } from 'node:crypto';
import type { Clock } from '../../stream/ports/clock.ts';
import type { Position } from '../../stream/ports/record-source.ts';
import { isAnswer } from '../client/kafka-errors.ts';
import { LEAVE_RETRY_MS, REBALANCE_TIMEOUT_MS } from '../group/group-member.ts';
import type { ProtocolRequest } from '../kafkajs/classes.ts';
import { internals } from '../kafkajs/internals.ts';
import {
  consumerGroupHeartbeat,
  HEARTBEAT_KEY,
  HEARTBEAT_VERSION,
  type Heartbeat,
  type HeartbeatAnswer,
  JOIN_EPOCH,
  LEAVE_EPOCH,
  type PartitionsById,
  RELEASE_EPOCH,
} from './consumer-group-heartbeat.ts';
import { consumerGroupDescribe, type ListedMember, offsetCommit } from './consumer-group-requests.ts';

/** A request without an answer for this long goes out again, over another connection. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Kafka's codes of errors that mean something to a member. */
export const CODE = {
  NONE: 0,
  UNKNOWN_MEMBER_ID: 25,
  TOPIC_AUTHORIZATION_FAILED: 29,
  GROUP_AUTHORIZATION_FAILED: 30,
  UNSUPPORTED_VERSION: 35,
  FENCED_INSTANCE_ID: 82,
  FENCED_MEMBER_EPOCH: 110,
  UNRELEASED_INSTANCE_ID: 111,
} as const;

/** Whether the broker does not coordinate the group, or not yet. */
const isElsewhere = (code: number): boolean => code !== CODE.NONE && !isAnswer(internals.createErrorFromCode(code));

/** The words of the broker, and kafkajs's error of the code as their cause. */
export function protocolError(code: number, words: string | null): Error {
  const cause = internals.createErrorFromCode(code);
  return words === null ? cause : new Error(words, { cause });
}

/** The group's coordinator, which is found anew before the next request once it was forgotten. */
export interface ConsumerCoordinator {
  /** The latest version of a request that it offers; -1: it does not know the request. */
  offers(apiKey: number): Promise<number>;
  send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer>;
  /** Closes its connection; a request under way fails. */
  forget(): void;
  /** Nothing is asked any more. */
  close(): void;
}

/** What a member takes by templates: it finds it itself, as no member leads. */
interface SubscribedTemplates {
  /** Topics that the settings name: these alone have to be there, and may not be forbidden. */
  readonly names: readonly string[];
  /** Topics of the cluster that templates take, as it was listed last. */
  readonly listed: readonly string[];
}

/** Who is a member, and of what. */
export interface ConsumerMemberOptions {
  readonly groupId: string;
  /** The place that the process runs in; null: none. */
  readonly instanceId: string | null;
  /** The topics that the brokers are asked about, as they are now; without templates these are the subscribed ones. */
  readonly topics: () => readonly string[];
  /** @default none */
  readonly templates?: SubscribedTemplates;
}

/**
 * What a member and its coordinator know of each other, and the requests about it.
 *
 * Why no assignment is missed: one is in an answer only where it changed, or where the request was a full one. Each
 * request that follows one without an answer, or with an error, is full, and has what the member owns at that moment.
 */
export class ConsumerSession {
  readonly #options: ConsumerMemberOptions;
  readonly #coordinator: ConsumerCoordinator;
  readonly #clock: Clock;
  readonly #memberId: string = randomUUID();
  #epoch: number = JOIN_EPOCH;
  #isFull = true;
  #reported: PartitionsById | null = null;
  /** Those that the coordinator knows of. */
  #topics: readonly string[] = [];
  #isKnown = false;
  #signAt = Number.NaN;
  #intervalMs = 0;

  constructor(options: ConsumerMemberOptions, coordinator: ConsumerCoordinator, clock: Clock) {
    this.#options = options;
    this.#coordinator = coordinator;
    this.#clock = clock;
  }

  get isJoined(): boolean {
    return this.#epoch !== JOIN_EPOCH;
  }

  /** Whether the coordinator may know the member. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Topics that it subscribes to by their names. */
  get subscribed(): readonly string[] {
    const { topics, templates } = this.#options;
    return templates === undefined ? topics() : [...templates.names, ...templates.listed];
  }

  /** A forbidden topic of a template is not subscribed to any more once the cluster is listed again. */
  mayPass(errorCode: number): boolean {
    return errorCode === CODE.TOPIC_AUTHORIZATION_FAILED && this.#options.templates !== undefined;
  }

  /** The longest pause that the broker asks for. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  /**
   * Since the coordinator got the last request that it answered, which was not before it was sent; before: the first
   * one.
   */
  get silenceMs(): number {
    return Number.isNaN(this.#signAt) ? 0 : this.#now() - this.#signAt;
  }

  /** Whether the coordinator has to hear of this, or of the member. */
  isNews(owned: PartitionsById): boolean {
    return !this.isJoined || owned !== this.#reported;
  }

  /** The coordinator does not know the member any more: it joins anew. */
  forgotten(): void {
    this.#epoch = JOIN_EPOCH;
  }

  /**
   * @param boundMs milliseconds that the answer may take at most, beside 10 s
   * @returns null where the coordinator does not know the request
   * @throws Error when there is no answer in time
   */
  async beat(owned: PartitionsById, boundMs: number): Promise<HeartbeatAnswer | null> {
    const sentAt = this.#now();
    const until = sentAt + Math.min(REQUEST_TIMEOUT_MS, boundMs);
    this.#signAt = Number.isNaN(this.#signAt) ? sentAt : this.#signAt;
    if ((await this.#within(this.#coordinator.offers(HEARTBEAT_KEY), until - sentAt)) < HEARTBEAT_VERSION) {
      return null;
    }
    // Brokers refuse a subscription to nothing.
    const { subscribed } = this;
    const topics = subscribed.length > 0 ? subscribed : this.#topics;
    const isFull = this.#isFull || !this.isJoined || topics.join() !== this.#topics.join();
    const isNews = isFull || owned !== this.#reported;
    this.#isFull = true;
    this.#isKnown = true;
    const full = isFull && { rebalanceTimeoutMs: REBALANCE_TIMEOUT_MS, topics };
    const beat = { ...full, memberEpoch: this.#epoch, owned: isNews ? owned : null };
    const answer = await this.#beat(beat, until - this.#now());
    if (answer.errorCode === CODE.NONE && this.#isKnown) {
      this.#epoch = answer.memberEpoch;
      this.#intervalMs = answer.intervalMs;
      this.#isFull = false;
      this.#reported = owned;
      this.#topics = topics;
      this.#signAt = sentAt;
    } else if (isElsewhere(answer.errorCode)) {
      this.#coordinator.forget();
    }
    return answer;
  }

  /** The members of the group. @throws Error when there is no answer in time */
  members(milliseconds: number = REQUEST_TIMEOUT_MS): Promise<readonly ListedMember[]> {
    return this.#within(this.#coordinator.send(consumerGroupDescribe(this.#options.groupId)), milliseconds);
  }

  /** Frees the place of the process: what the member owned that had it goes to the next one that joins in it. */
  async releasePlace(): Promise<void> {
    const { instanceId } = this.#options;
    for (const member of await this.members()) {
      if (member.instanceId === instanceId && member.memberId !== this.#memberId) {
        await this.#beat({ memberId: member.memberId, memberEpoch: RELEASE_EPOCH });
      }
    }
  }

  /** Leaves for good. Repeated at the coordinator of then, where the one of before does not take it. Never rejects. */
  async leave(timeoutMs: number): Promise<void> {
    const until = this.#now() + timeoutMs;
    while (this.#isKnown && this.#now() < until) {
      const answer = await this.#beat({ memberEpoch: LEAVE_EPOCH }, until - this.#now()).catch(() => null);
      this.#isKnown = answer === null || isElsewhere(answer.errorCode);
      if (this.#isKnown) {
        this.#coordinator.forget();
        await this.#clock.wait(LEAVE_RETRY_MS);
      }
    }
  }

  /** @throws Error when the epoch is over, or an offset was not taken */
  async commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    const { groupId } = this.#options;
    const at = { groupId, memberId: this.#memberId, memberEpoch: this.#epoch };
    const errorCode = await this.#coordinator.send(offsetCommit({ ...at, positions, metadata }));
    if (errorCode !== CODE.NONE) {
      throw protocolError(errorCode, null);
    }
  }

  #beat(
    beat: Pick<Heartbeat, 'memberEpoch'> & Partial<Heartbeat>,
    milliseconds: number = REQUEST_TIMEOUT_MS,
  ): Promise<HeartbeatAnswer> {
    const { groupId, instanceId } = this.#options;
    const request = consumerGroupHeartbeat({ groupId, memberId: this.#memberId, instanceId, ...beat });
    return this.#within(this.#coordinator.send(request), milliseconds);
  }

  async #within<Answer>(answer: Promise<Answer>, milliseconds: number = REQUEST_TIMEOUT_MS): Promise<Answer> {
    const ending = new AbortController();
    const late = this.#clock.wait(milliseconds, ending.signal).then(() => {
      const message = `the group's coordinator did not answer within ${milliseconds / 1_000} s`;
      throw new internals.errors.KafkaJSConnectionError(message, { broker: 'the coordinator' });
    });
    return Promise.race([answer, late]).finally(() => {
      late.catch(() => undefined);
      ending.abort();
    });
  }

  #now(): number {
    return this.#clock.steady().getTime();
  }
}
