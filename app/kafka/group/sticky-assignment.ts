import { partitionKey, type TopicPartition } from '../../records/record.ts';

/** What a member says of itself when it joins. */
export interface JoinedMember {
  readonly id: string;
  /** The topics that it is subscribed to. */
  readonly topics: readonly string[];
  /** What it owns. */
  readonly owned: readonly TopicPartition[];
  /** The generation that gave it what it owns. */
  readonly generation: number;
  /** It wants nothing any more, and goes on with what it owns until the others have it. */
  readonly isLeaving: boolean;
}

/** How many partitions each topic has; `null`: that cannot be learned now. A topic that is left out does not exist. */
export type PartitionCounts = ReadonlyMap<string, number | null>;

/** A partition that is assigned. */
interface AssignedPartition extends TopicPartition {
  /** The member that owned it before. */
  readonly owner: string | null;
  /** It stays with its owner: its topic is not known now. */
  readonly isFixed: boolean;
}

/** A partition that moves from one share to another. */
interface Move {
  readonly target: AssignedPartition;
  readonly from: MemberShare;
  readonly to: MemberShare;
}

/** What a member is assigned. */
class MemberShare {
  readonly id: string;
  readonly topics: ReadonlySet<string>;
  readonly #partitions = new Map<string, AssignedPartition[]>();
  size = 0;

  constructor({ id, topics }: JoinedMember) {
    this.id = id;
    this.topics = new Set(topics);
  }

  get partitions(): readonly AssignedPartition[] {
    return [...this.#partitions.values()].flat();
  }

  take(target: AssignedPartition): void {
    const others = this.#partitions.get(target.topic);
    others === undefined ? this.#partitions.set(target.topic, [target]) : others.push(target);
    this.size += 1;
  }

  give({ topic, partition }: AssignedPartition): void {
    const others = this.#partitions.get(topic) ?? [];
    this.#partitions.set(
      topic,
      others.filter((other) => other.partition !== partition),
    );
    this.size -= 1;
  }

  /** What it can give to the other one: rather what it did not own before. */
  movableTo(other: MemberShare): AssignedPartition | undefined {
    let found: AssignedPartition | undefined;
    for (const [topic, partitions] of this.#partitions) {
      const movable = other.topics.has(topic) ? partitions.filter(({ isFixed }) => !isFixed) : [];
      const foreign = movable.find(({ owner }) => owner !== this.id);
      if (foreign !== undefined) {
        return foreign;
      }
      found ??= movable.at(-1);
    }
    return found;
  }
}

const bySize = (one: MemberShare, other: MemberShare): number => one.size - other.size;

/**
 * Assigns the partitions of a group to its members:
 *
 * - a partition goes to a member that is subscribed to its topic, or to none; one that leaves gets nothing, unless all
 *   leave: then nobody is left to hand over to, and each finishes what it owns
 * - of two members the one has at most one more than the other, as far as their subscriptions allow
 * - what moves is the least for that: each member keeps what it owns, up to its share
 * - of two that say to own a partition, that of the higher generation owns it: the other one did not hear of the later
 *   assignment
 * - what exists of a topic that cannot be learned now stays with its owners
 *
 * The same members and topics always give the same assignment.
 *
 * @returns the partitions by the ids of all members
 */
export function assignSticky(
  members: readonly JoinedMember[],
  counts: PartitionCounts,
): ReadonlyMap<string, readonly TopicPartition[]> {
  const sorted = members.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const staying = sorted.filter(({ isLeaving }) => !isLeaving);
  const shares = (staying.length === 0 ? sorted : staying).map((member) => new MemberShare(member));
  const shareOf = new Map(shares.map((share) => [share.id, share]));
  const free: AssignedPartition[] = [];
  for (const target of ownedPartitions(sorted, counts)) {
    const owner = shareOf.get(target.owner ?? '');
    owner?.topics.has(target.topic) ? owner.take(target) : free.push({ ...target, owner: null, isFixed: false });
  }
  for (const target of free) {
    leastOf(shares.filter(({ topics }) => topics.has(target.topic)))?.take(target);
  }
  balance(shares);
  return new Map(
    sorted.map(({ id }) => [
      id,
      (shareOf.get(id)?.partitions ?? []).map(({ topic, partition }) => ({ topic, partition })).toSorted(byName),
    ]),
  );
}

const byName = (one: TopicPartition, other: TopicPartition): number =>
  one.topic === other.topic ? one.partition - other.partition : one.topic < other.topic ? -1 : 1;

const leastOf = (shares: readonly MemberShare[]): MemberShare | undefined => shares.toSorted(bySize)[0];

/** All partitions, with the member that owns each: of several that say so, that of the highest generation. */
function ownedPartitions(members: readonly JoinedMember[], counts: PartitionCounts): readonly AssignedPartition[] {
  const owners = new Map<string, { readonly of: TopicPartition; readonly member: JoinedMember }>();
  for (const member of members) {
    for (const of of member.owned) {
      const other = owners.get(partitionKey(of));
      if (other === undefined || other.member.generation < member.generation) {
        owners.set(partitionKey(of), { of, member });
      }
    }
  }
  const subscribed = new Set(members.flatMap(({ topics }) => topics));
  const known = [...counts].flatMap(([topic, count]) =>
    subscribed.has(topic) ? [...Array(count ?? 0).keys()].map((partition) => ({ topic, partition })) : [],
  );
  const unknown = [...owners.values()].map(({ of }) => of).filter(({ topic }) => counts.get(topic) === null);
  return [...known, ...unknown].toSorted(byName).map(({ topic, partition }) => ({
    ...{ topic, partition, isFixed: counts.get(topic) === null },
    owner: owners.get(partitionKey({ topic, partition }))?.member.id ?? null,
  }));
}

/**
 * Moves partitions from shares that have more to shares that have fewer by two or more, each by as few moves as
 * possible. Each time the sum of the squares of the sizes falls, so it ends.
 */
function balance(shares: readonly MemberShare[]): void {
  for (let moves = nextMoves(shares); moves !== null; moves = nextMoves(shares)) {
    for (const { target, from, to } of moves) {
      from.give(target);
      to.take(target);
    }
  }
}

function nextMoves(shares: readonly MemberShare[]): readonly Move[] | null {
  const ascending = shares.toSorted(bySize);
  const smallest = ascending[0]?.size ?? 0;
  for (const share of ascending.toReversed()) {
    const moves = share.size - smallest < 2 ? null : movesFrom(share, ascending);
    if (moves !== null) {
      return moves;
    }
  }
  return null;
}

/**
 * The shortest chain from a share, by way of others where subscriptions differ, to one that has fewer by two or more.
 */
function movesFrom(start: MemberShare, ascending: readonly MemberShare[]): readonly Move[] | null {
  const reached = new Map<MemberShare, readonly Move[]>([[start, []]]);
  for (const [from, moves] of reached) {
    for (const to of ascending) {
      const target = reached.has(to) ? undefined : from.movableTo(to);
      if (target !== undefined) {
        const chain = [...moves, { target, from, to }];
        if (to.size <= start.size - 2) {
          return chain;
        }
        reached.set(to, chain);
      }
    }
  }
  return null;
}
