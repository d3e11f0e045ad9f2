import { expect } from '@jest/globals';
import { partitionKey, type TopicPartition } from '../../../app/records/record.ts';
import type { WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';
import { PARTITION } from './records.ts';
import { type Ending, SimulatedSink } from './simulated-sink.ts';
import { settle, setUp } from './simulation.ts';

/** Records of each partition. */
export const END = 40n;
/** After this time a topic that waits is looked at again: when the test says so. */
const LOOK_AGAIN_MS = 10_000;
export const MOST_MEMBERS = 4;

/** One topic for each, so that the stored offsets of some can be withheld, and its table may not fit. */
export const PARTITIONS: readonly TopicPartition[] = ['orders', 'payments', 'refunds', 'users'].map((topic) => ({
  ...PARTITION,
  topic,
}));

/** A sink that withholds the stored offsets of some topics, and writes nothing of those whose table does not fit. */
class WithholdingSink extends SimulatedSink {
  #withheld: ReadonlySet<string> = new Set();
  #answers: (() => void)[] = [];

  override async positions(topics: readonly string[]): Promise<Position[]> {
    if (topics.some((topic) => this.#withheld.has(topic))) {
      await new Promise<void>((answer) => this.#answers.push(answer));
    }
    return super.positions(topics);
  }

  override write(request: WriteRequest): ReturnType<SimulatedSink['write']> {
    const misfit = this.misfitting.get(request.topic);
    return misfit === undefined ? super.write(request) : Promise.reject(misfit);
  }

  /** No member gets the offsets of these topics, until they are released. */
  withhold(topics: readonly string[]): void {
    this.#withheld = new Set(topics);
  }

  release(): void {
    this.#withheld = new Set();
    for (const answer of this.#answers.splice(0)) answer();
  }

  /** Ends the transaction that has been under way for longest, of a partition where one is given. */
  end(how: Ending, partition?: TopicPartition): boolean {
    const nth = partition
      ? this.pending.findIndex(({ request }) => partitionKey(request) === partitionKey(partition))
      : 0;
    const [write] = nth < 0 ? [] : this.pending.splice(nth, 1);
    write?.(how);
    return write !== undefined;
  }
}

/** A member of the group: its process, and what its source knows of the group. */
class Member {
  readonly consumer: ReturnType<typeof setUp>;
  /** What it has learnt that it owns. */
  held: readonly TopicPartition[] = [];
  isLeaving = false;

  constructor(sink: SimulatedSink, mayWait: boolean) {
    this.consumer = setUp(END, sink, 'fail', mayWait ? { waiting: { mayWait: () => true } } : {});
    if (mayWait) {
      this.consumer.clock.holdWaits((ms) => ms === LOOK_AGAIN_MS);
    }
  }

  /** Topics of which nothing is read. */
  get waiting(): readonly string[] {
    return (this.consumer.pipeline.report().waiting ?? []).map(({ topic }) => topic);
  }

  /** It looks again at the topics that wait. */
  lookAgain(): void {
    this.consumer.clock.endWaits();
  }

  /** It learns what the group gave it: at a time of its own. */
  learn(owned: readonly TopicPartition[]): void {
    const { pipeline } = this.consumer;
    const added = owned.filter((partition) => !this.held.includes(partition));
    this.#drop(this.held.filter((partition) => !owned.includes(partition)));
    this.held = owned;
    pipeline.onAssigned({ added, owned });
  }

  /** The coordinator did not answer for the session time-out, or does not know it. */
  expel(): void {
    this.#drop(this.held);
    this.held = [];
  }

  #drop(revoked: readonly TopicPartition[]): void {
    for (const partition of revoked) this.consumer.source.pause(partition);
    void this.consumer.pipeline.onRevoked(revoked);
  }

  fetch(length: number, partition: TopicPartition): void {
    const batch = this.held.includes(partition) ? this.consumer.source.fetch(length, partition) : null;
    if (batch) {
      this.consumer.pipeline.onFetched(batch);
    }
  }
}

/**
 * A group that gives partitions without a pause: for a while two members may believe to own one, or none does. It gives
 * those of the topics that are there.
 */
export class Group {
  readonly sink = new WithholdingSink(PARTITIONS);
  readonly gone = new Set<string>();
  readonly all: Member[] = [];
  members: Member[] = [];
  #owners: readonly (Member | undefined)[] = [];
  readonly #there: Set<string>;
  readonly #mayWait: boolean;

  /**
   * @param topics those that are there. @default all
   * @param mayWait whether a topic waits where a process would end for it. @default false
   */
  constructor(topics: readonly string[] = PARTITIONS.map(({ topic }) => topic), mayWait = false) {
    this.#there = new Set(topics);
    this.#mayWait = mayWait;
  }

  /** A topic that was never there is. */
  create(topic: string, picks: readonly number[]): void {
    if (!this.gone.has(topic)) {
      this.#there.add(topic);
      this.deal(picks);
    }
  }

  /** A topic is deleted, with what was not written of it, and does not come back. */
  delete(topic: string, picks: readonly number[]): void {
    this.gone.add(topic);
    this.#there.delete(topic);
    this.deal(picks);
  }

  /** The table of a topic does not fit. What is under way may still be committed. */
  breakTable(topic: string): void {
    this.sink.misfitting.set(topic, new FatalError('TABLES_DO_NOT_FIT', `there is no table for ${topic}`));
  }

  mendTable(topic: string): void {
    this.sink.misfitting.delete(topic);
  }

  /** Each member looks again at the topics that wait. */
  lookAgain(): void {
    for (const member of this.members) member.lookAgain();
  }

  /** The group deals anew, in any way. Who learns of it when is another step. */
  deal(picks: readonly number[]): void {
    const staying = this.members.filter(({ isLeaving }) => !isLeaving);
    const dealt = PARTITIONS.map((_, nth) => staying[(picks[nth] ?? 0) % Math.max(1, staying.length)]);
    this.#owners = dealt.map((member, nth) => (this.#there.has(PARTITIONS[nth]?.topic ?? '') ? member : undefined));
  }

  join(picks: readonly number[]): void {
    if (this.members.length < MOST_MEMBERS) {
      const member = new Member(this.sink, this.#mayWait);
      this.all.push(member);
      this.members.push(member);
      this.deal(picks);
    }
  }

  /** It joins again as one that leaves, and goes on until it learns that others own its partitions. */
  handOver(nth: number, picks: readonly number[]): void {
    const member = this.member(nth);
    if (member) {
      member.isLeaving = true;
      this.deal(picks);
    }
  }

  /** The process dies; its transactions under way may still end in any way. */
  kill(nth: number, picks: readonly number[]): void {
    const member = this.member(nth);
    this.members = this.members.filter((other) => other !== member);
    this.deal(picks);
  }

  member(nth: number): Member | undefined {
    return this.members[nth % Math.max(1, this.members.length)];
  }

  /** While nothing can be opened, and no transaction of what moves ends, what the member keeps is read and written. */
  async learn(member: Member): Promise<void> {
    await settle();
    const owned = PARTITIONS.filter((_, nth) => this.#owners[nth] === member);
    const known = new Set(member.consumer.pipeline.positions().map(partitionKey));
    const waiting = new Set([...member.waiting, ...this.sink.misfitting.keys()]);
    const kept = member.held
      .filter((each) => owned.includes(each) && known.has(partitionKey(each)))
      .filter(({ topic }) => !waiting.has(topic));
    const keys = new Set(kept.map(partitionKey));
    this.sink.withhold(PARTITIONS.filter((each) => !keys.has(partitionKey(each))).map(({ topic }) => topic));
    const told = () => kept.map((partition) => [...member.consumer.source.of(partition).told]);
    const before = told();
    member.learn(owned);
    await settle();
    expect(told()).toEqual(before);
    for (const partition of kept) {
      expect(await this.#isWritten(member, partition)).toBe(true);
    }
    this.sink.release();
    if (member.isLeaving && owned.length === 0) {
      this.members = this.members.filter((other) => other !== member);
      void member.consumer.pipeline.drain();
    }
  }

  async #isWritten(member: Member, partition: TopicPartition): Promise<boolean> {
    const before = this.sink.of(partition).stored;
    for (let round = 0; round < 8; round += 1) {
      if (this.sink.of(partition).stored > before || before === END) {
        return true;
      }
      member.fetch(2, partition);
      await settle();
      this.sink.end('answered', partition);
      await settle();
    }
    return false;
  }

  #isBehind(): boolean {
    return PARTITIONS.some((each) => this.#there.has(each.topic) && this.sink.of(each).stored < END);
  }

  /** No more moves: everybody learns, and everything that is left gets written. */
  async calmDown(): Promise<void> {
    this.join([]);
    this.deal([0, 1, 2, 3]);
    for (const member of [...this.members]) await this.learn(member);
    // Of a topic that was deleted, too: where none is left, nobody is behind.
    while (this.sink.end('answered')) await settle();
    for (let round = 0; round < 200 && this.#isBehind(); round += 1) {
      this.lookAgain();
      for (const member of this.members) {
        for (const partition of PARTITIONS) member.fetch(7, partition);
      }
      await settle();
      while (this.sink.end('answered')) await settle();
    }
  }
}

/** The offsets below this one. */
export const upTo = (end: bigint): bigint[] => [...Array(Number(end)).keys()].map(BigInt);
