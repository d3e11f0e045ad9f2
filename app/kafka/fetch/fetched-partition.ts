import type { TopicPartition } from '../../records/record.ts';
import type { OffsetOrigin } from '../../stream/ports/record-source.ts';
import { NO_EPOCH } from '../kafkajs/flexible-versions.ts';

/** The leader of a partition whose leader is not known, which no broker is. */
export const NO_LEADER = -1;

/** The ends of a log that did not move are reported again after this time. */
const TELL_AGAIN_MS = 10_000;

const HALF_BITS = 32n;
const HALF = 0xffff_ffffn;

/** The log of a partition is reported for its lag at most once in this time: a second later is soon enough. */
const LOOK_MS = 1_000;

/**
 * The names of a topic in requests. There is one object a topic, and one Buffer a name, so that they are compared at
 * once.
 */
export class FetchedTopic {
  readonly name: Buffer;
  readonly #ids = new Map<string, Buffer>();

  constructor(topic: string) {
    this.name = Buffer.from(topic, 'utf8');
  }

  /** The bytes of a topic id. @param id as `kafka-topics --describe` prints it */
  id(id: string): Buffer {
    const known = this.#ids.get(id) ?? Buffer.from(id, 'base64url');
    this.#ids.set(id, known);
    return known;
  }
}

/**
 * An assigned partition: where it is fetched from next, and by what.
 *
 * Why nothing of an answer is taken for another position than it was asked for:
 *
 * 1. `request` is the one request whose answer may move the position. Whoever asks sets it, to an object that no other
 *    request has. A seek, a pause, and the end of the assignment clear it. So does a broker that asks after the one
 *    before, as when the leader moves while that one hangs.
 * 2. Position, topic id and leader epoch change only by a seek, or by the answer to `request`. So while `request` is
 *    still that of an answer, they are what was asked for, and of any other answer nothing is looked at.
 * 3. The position moves to the end of what is handed over, in the same tick: a seek from within that call comes behind
 *    it.
 */
export class FetchedPartition implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly #names: FetchedTopic;
  /** The broker that is asked for it. */
  leader: number = NO_LEADER;
  #position = 0n;
  /** The halves of the position, the upper one with its sign: it is written more often than it changes. */
  upperHalf = 0;
  lowerHalf = 0;
  topicId: string | null = null;
  /** That of the record before the position. */
  leaderEpoch = NO_EPOCH;
  /** The topic's id in requests; `null` where it is not known, and the topic is fetched by its name. */
  id: Buffer | null = null;
  /** The request under way whose answer counts; `null`: none. */
  request: object | null = null;
  /** Whether the log may have a line about a batch that cannot be read, which has to be followed by another one. */
  mayHaveFault = true;
  #isPaused = true;
  #isSought = false;
  #highWatermark = Number.NaN;
  #lastStableOffset = Number.NaN;
  #toldAt = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor({ topic, partition }: TopicPartition, names: FetchedTopic) {
    this.topic = topic;
    this.partition = partition;
    this.#names = names;
  }

  /** The offset that is fetched next. */
  get position(): bigint {
    return this.#position;
  }

  get name(): Buffer {
    return this.#names.name;
  }

  /** Whether records of it are to be fetched. */
  get isWanted(): boolean {
    return this.#isSought && !this.#isPaused;
  }

  /** Whether the log goes on behind the position, by what was last seen of it; as long as nothing was seen, it may. */
  get isBehind(): boolean {
    const end = this.#lastStableOffset < 0 ? this.#highWatermark : this.#lastStableOffset;
    return !(this.#position >= end);
  }

  seek(offset: bigint, { topicId = null, leaderEpoch = null }: OffsetOrigin): void {
    this.request = null;
    this.#isSought = true;
    this.#goTo(offset);
    this.topicId = topicId;
    this.id = topicId ? this.#names.id(topicId) : null;
    this.leaderEpoch = leaderEpoch ?? NO_EPOCH;
  }

  pause(): void {
    this.request = null;
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Records up to the offset are about to be handed over. */
  moveTo(nextOffset: bigint, leaderEpoch: number | null): void {
    this.#goTo(nextOffset);
    this.leaderEpoch = leaderEpoch ?? NO_EPOCH;
  }

  #goTo(offset: bigint): void {
    this.#position = offset;
    this.upperHalf = Number(offset >> HALF_BITS);
    this.lowerHalf = Number(offset & HALF);
  }

  /** Whether the log has to be reported for the lag. */
  isLookDue(now: number): boolean {
    const isDue = now - this.#lookedAt >= LOOK_MS;
    this.#lookedAt = isDue ? now : this.#lookedAt;
    return isDue;
  }

  /** Whether the ends of the log have to be reported: they moved, or were reported some time ago. */
  hasNewEnds(highWatermark: number, lastStableOffset: number, now: number): boolean {
    const isSame = highWatermark === this.#highWatermark && lastStableOffset === this.#lastStableOffset;
    if (isSame && now - this.#toldAt < TELL_AGAIN_MS) {
      return false;
    }
    this.#highWatermark = highWatermark;
    this.#lastStableOffset = lastStableOffset;
    this.#toldAt = now;
    return true;
  }
}
