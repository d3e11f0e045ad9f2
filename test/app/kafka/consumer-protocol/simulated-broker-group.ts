import type { Heartbeat, PartitionsById } from '../../../../app/kafka/consumer-protocol/consumer-group-heartbeat.ts';
import type { ListedMember } from '../../../../app/kafka/consumer-protocol/consumer-group-requests.ts';
import type { SimulatedTime } from '../group/simulated-time.ts';

/** Silence after which a broker takes a member for dead. */
const SESSION_MS = 45_000;

/** What the coordinator answers, as far as members look at it. */
interface SimulatedAnswer {
  readonly errorCode: number;
  readonly memberEpoch: number;
  readonly assignment: PartitionsById | null;
}

interface Member {
  readonly memberId: string;
  readonly instanceId: string | null;
  epoch: number;
  previousEpoch: number;
  topics: readonly string[];
  /** What it may own, told or about to be. */
  assigned: Set<string>;
  /** What it has not given up yet. */
  revoking: Set<string>;
  target: Set<string>;
  isReleased: boolean;
  seenAt: number;
}

/** A topic's id is its name's first letter, sixteen times. */
export const idOf = (topic: string): string => Buffer.alloc(16, topic).toString('base64url');

const keysOf = (partitions: PartitionsById): string[] =>
  [...partitions].flatMap(([id, numbers]) => numbers.map((number) => `${id}/${number}`));

function byId(keys: Iterable<string>): PartitionsById {
  const found = new Map<string, number[]>();
  for (const key of [...keys].toSorted()) {
    const [id = '', number] = key.split('/');
    found.set(id, [...(found.get(id) ?? []), Number(number)]);
  }
  return found;
}

const refuse = (errorCode: number): SimulatedAnswer => ({ errorCode, memberEpoch: 0, assignment: null });

/** A group that the brokers hold, as Kafka 4.3 does it: members reconcile one by one, and targets are computed once a while. */
export class SimulatedBrokerGroup {
  readonly members = new Map<string, Member>();
  readonly #time: SimulatedTime;
  readonly #counts: ReadonlyMap<string, number>;
  /** Least time between two assignments. */
  readonly #assignmentMs: number;
  #epoch = 1;
  #targetEpoch = 0;
  #assignedAt = Number.NEGATIVE_INFINITY;

  constructor(time: SimulatedTime, counts: ReadonlyMap<string, number>, assignmentMs = 1_000) {
    this.#time = time;
    this.#counts = counts;
    this.#assignmentMs = assignmentMs;
  }

  /** Takes a member for dead. */
  expire(memberId: string): void {
    this.members.delete(memberId);
    this.#epoch += 1;
  }

  describe(): readonly ListedMember[] {
    this.#expireSilent();
    return [...this.members.values()].map(({ memberId, instanceId, assigned }) => ({
      ...{ memberId, instanceId, assigned: byId(assigned) },
    }));
  }

  /** The code of an error. */
  commit(memberId: string, epoch: number): number {
    const member = this.members.get(memberId);
    return member === undefined ? 25 : member.epoch === epoch ? 0 : 113;
  }

  beat({ memberId, instanceId = null, memberEpoch, topics, owned = null }: Heartbeat): SimulatedAnswer {
    this.#expireSilent();
    const inPlace = [...this.members.values()].find((each) => instanceId !== null && each.instanceId === instanceId);
    if (inPlace !== undefined && inPlace.memberId !== memberId) {
      if (memberEpoch !== 0) return refuse(82);
      if (!inPlace.isReleased) return refuse(111);
      this.members.delete(inPlace.memberId);
      this.members.set(memberId, { ...inPlace, memberId, isReleased: false });
    }
    if (memberEpoch < 0) {
      return this.#leave(memberId, memberEpoch);
    }
    const known = this.members.get(memberId);
    const wrong = this.#wrongEpoch(known, memberEpoch, owned);
    if (wrong !== 0) {
      return refuse(wrong);
    }
    const member = known ?? this.#added(memberId, instanceId);
    member.seenAt = this.#time.milliseconds;
    if (topics != null && topics.join() !== member.topics.join()) {
      member.topics = topics;
      this.#epoch += 1;
    }
    this.#assignWhenDue();
    const before = [...member.assigned].toSorted().join();
    this.#reconcile(member, memberEpoch === 0 ? new Map() : owned);
    const isTold = topics != null || before !== [...member.assigned].toSorted().join();
    return { errorCode: 0, memberEpoch: member.epoch, assignment: isTold ? byId(member.assigned) : null };
  }

  #leave(memberId: string, epoch: number): SimulatedAnswer {
    const member = this.members.get(memberId);
    if (member === undefined) {
      return refuse(25);
    }
    if (epoch === -2) {
      member.isReleased = true;
    } else {
      this.expire(memberId);
    }
    return { errorCode: 0, memberEpoch: epoch, assignment: null };
  }

  #wrongEpoch(member: Member | undefined, epoch: number, owned: PartitionsById | null): number {
    if (epoch === 0) {
      return owned?.size === 0 ? 0 : 42;
    }
    if (member === undefined) {
      return 25;
    }
    const isOfBefore = epoch === member.previousEpoch && owned !== null;
    const isLostAnswer = isOfBefore && keysOf(owned).every((key) => member.assigned.has(key));
    return epoch === member.epoch || isLostAnswer ? 0 : 110;
  }

  #added(memberId: string, instanceId: string | null): Member {
    const member: Member = {
      ...{ memberId, instanceId, epoch: 0, previousEpoch: 0, topics: [], isReleased: false },
      ...{ assigned: new Set(), revoking: new Set(), target: new Set(), seenAt: this.#time.milliseconds },
    };
    this.members.set(memberId, member);
    this.#epoch += 1;
    return member;
  }

  #expireSilent(): void {
    for (const { memberId, seenAt } of [...this.members.values()]) {
      if (this.#time.milliseconds - seenAt >= SESSION_MS) this.expire(memberId);
    }
  }

  /** Each member keeps its share of the target before, and the rest is dealt out. */
  #assignWhenDue(): void {
    if (this.#targetEpoch === this.#epoch || this.#time.milliseconds - this.#assignedAt < this.#assignmentMs) {
      return;
    }
    const members = [...this.members.values()].filter(({ topics }) => topics.length > 0);
    const all = [...this.#counts].flatMap(([topic, count]) =>
      [...Array(count).keys()].map((number) => `${idOf(topic)}/${number}`),
    );
    const most = Math.ceil(all.length / Math.max(1, members.length));
    const taken = new Set<string>();
    for (const member of this.members.values()) {
      const kept = members.includes(member) ? [...member.target].filter((key) => all.includes(key)).slice(0, most) : [];
      member.target = new Set(kept);
      for (const key of kept) taken.add(key);
    }
    for (const key of all.filter((each) => !taken.has(each))) {
      members.toSorted((one, other) => one.target.size - other.target.size)[0]?.target.add(key);
    }
    this.#targetEpoch = this.#epoch;
    this.#assignedAt = this.#time.milliseconds;
  }

  #reconcile(member: Member, told: PartitionsById | null): void {
    const owned = told === null ? null : new Set(keysOf(told));
    if (owned !== null) {
      member.revoking = new Set([...member.revoking].filter((key) => owned.has(key)));
    }
    if (member.revoking.size > 0) {
      return;
    }
    const lost = [...member.assigned].filter((key) => !member.target.has(key));
    member.assigned = new Set([...member.assigned].filter((key) => member.target.has(key)));
    member.revoking = new Set(lost.filter((key) => owned?.has(key) ?? true));
    if (member.revoking.size > 0) {
      return;
    }
    if (member.epoch !== this.#targetEpoch) {
      member.previousEpoch = member.epoch;
      member.epoch = this.#targetEpoch;
    }
    const others = [...this.members.values()].filter((other) => other !== member);
    for (const key of member.target) {
      if (!others.some(({ assigned, revoking }) => assigned.has(key) || revoking.has(key))) member.assigned.add(key);
    }
  }
}
