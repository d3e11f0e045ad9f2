import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partitionKey, type TopicPartition } from '../../../app/records/record.ts';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { PARTITION } from './records.ts';
import { type Ending, SimulatedSink, settle, setUp } from './simulation.ts';

const END = 40n;
const MOST_MEMBERS = 4;

/** One topic for each, so that the stored offsets of some can be withheld. */
const PARTITIONS: readonly TopicPartition[] = ['orders', 'payments', 'refunds', 'users'].map((topic) => ({
  ...PARTITION,
  topic,
}));

/** A sink that withholds the stored offsets of some topics. */
class WithholdingSink extends SimulatedSink {
  #withheld: ReadonlySet<string> = new Set();
  #answers: (() => void)[] = [];

  override async positions(topics: readonly string[]): Promise<Position[]> {
    if (topics.some((topic) => this.#withheld.has(topic))) {
      await new Promise<void>((answer) => this.#answers.push(answer));
    }
    return super.positions(topics);
  }

  /** Nobody is told the offsets of these topics, until they are released. */
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

  constructor(sink: SimulatedSink) {
    this.consumer = setUp(END, sink);
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

/** A group that gives partitions without a pause: for a while two members may believe to own one, or none does. */
class Group {
  readonly sink = new WithholdingSink(PARTITIONS);
  readonly all: Member[] = [];
  members: Member[] = [];
  #owners: readonly (Member | undefined)[] = [];

  /** The group deals anew, in any way. Who learns of it when is another step. */
  deal(picks: readonly number[]): void {
    const staying = this.members.filter(({ isLeaving }) => !isLeaving);
    this.#owners = PARTITIONS.map((_, nth) => staying[(picks[nth] ?? 0) % Math.max(1, staying.length)]);
  }

  join(picks: readonly number[]): void {
    if (this.members.length < MOST_MEMBERS) {
      const member = new Member(this.sink);
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
    const kept = member.held.filter((each) => owned.includes(each) && known.has(partitionKey(each)));
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

  /** No more moves: everybody learns, and everything that is left gets written. */
  async calmDown(): Promise<void> {
    this.join([]);
    this.deal([0, 1, 2, 3]);
    for (const member of [...this.members]) await this.learn(member);
    for (let round = 0; round < 200 && PARTITIONS.some((each) => this.sink.of(each).stored < END); round += 1) {
      for (const member of this.members) {
        for (const partition of PARTITIONS) member.fetch(7, partition);
      }
      await settle();
      while (this.sink.end('answered')) await settle();
    }
  }
}

type Step = (group: Group) => Promise<void> | void;

const nth = fc.nat({ max: MOST_MEMBERS - 1 });
const picks = fc.array(nth, { minLength: PARTITIONS.length, maxLength: PARTITIONS.length });
const partition = fc.constantFrom(...PARTITIONS);
const ending = fc.constantFrom<Ending>('answered', 'answered', 'answered', 'cut before', 'cut after', 'locked');

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: picks.map(
      (dealt): Step =>
        (group) =>
          group.join(dealt),
    ),
  },
  {
    weight: 2,
    arbitrary: picks.map(
      (dealt): Step =>
        (group) =>
          group.deal(dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(nth, picks).map(
      ([who, dealt]): Step =>
        (group) =>
          group.handOver(who, dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(nth, picks).map(
      ([who, dealt]): Step =>
        (group) =>
          group.kill(who, dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: nth.map(
      (who): Step =>
        (group) =>
          group.member(who)?.expel(),
    ),
  },
  {
    weight: 5,
    arbitrary: nth.map(
      (who): Step =>
        async (group) => {
          const member = group.member(who);
          await (member && group.learn(member));
        },
    ),
  },
  {
    weight: 8,
    arbitrary: fc.tuple(nth, fc.integer({ min: 1, max: 9 }), partition).map(
      ([who, length, of]): Step =>
        (group) =>
          group.member(who)?.fetch(length, of),
    ),
  },
  {
    weight: 8,
    arbitrary: ending.map(
      (how): Step =>
        (group) =>
          void group.sink.end(how),
    ),
  },
);

const upTo = (end: bigint): bigint[] => [...Array(Number(end)).keys()].map(BigInt);

test('whoever joins, hands over, dies or is expelled, and learns of it late: each record is written once, and what is kept never stalls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const group = new Group();
      group.join([]);
      for (const act of steps) {
        await settle();
        await act(group);
        for (const { stored, rows } of PARTITIONS.map((each) => group.sink.of(each))) {
          expect(rows).toEqual(upTo(stored));
        }
      }
      await group.calmDown();
      expect(PARTITIONS.map((each) => group.sink.of(each).rows)).toEqual(PARTITIONS.map(() => upTo(END)));
      expect(group.all.flatMap(({ consumer }) => consumer.fatal)).toEqual([]);
      expect(group.members.map(({ consumer }) => consumer.memory.held)).toEqual(group.members.map(() => 0));
    }),
    { numRuns: 150 },
  );
});
