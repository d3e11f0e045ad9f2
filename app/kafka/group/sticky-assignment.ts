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

/** A partition that is dealt. */
interface Deal extends TopicPartition {
  /** The member that owned it before. */
  readonly owner: string | null;
  /** It stays with its owner: its topic is not known now. */
  readonly isFixed: boolean;
}

/** A partition that moves from one hand to another. */
interface Move {
  readonly deal: Deal;
  readonly from: Hand;
  readonly to: Hand;
}

/** What a member is dealt. */
class Hand {
  readonly id: string;
  readonly topics: ReadonlySet<string>;
  readonly #deals = new Map<string, Deal[]>();
  size = 0;

  constructor({ id, topics }: JoinedMember) {
    this.id = id;
    this.topics = new Set(topics);
  }

  get deals(): readonly Deal[] {
    return [...this.#deals.values()].flat();
  }

  take(deal: Deal): void {
    const others = this.#deals.get(deal.topic);
    others === undefined ? this.#deals.set(deal.topic, [deal]) : others.push(deal);
    this.size += 1;
  }

  give({ topic, partition }: Deal): void {
    const others = this.#deals.get(topic) ?? [];
    this.#deals.set(
      topic,
      others.filter((other) => other.partition !== partition),
    );
    this.size -= 1;
  }

  /** What it can give to the other one: rather what it did not own before. */
  dealFor(other: Hand): Deal | undefined {
    let found: Deal | undefined;
    for (const [topic, deals] of this.#deals) {
      const movable = other.topics.has(topic) ? deals.filter(({ isFixed }) => !isFixed) : [];
      const foreign = movable.find(({ owner }) => owner !== this.id);
      if (foreign !== undefined) {
        return foreign;
      }
      found ??= movable.at(-1);
    }
    return found;
  }
}

const bySize = (one: Hand, other: Hand): number => one.size - other.size;

/**
 * Deals the partitions of a group to its members:
 *
 * - a partition goes to a member that is subscribed to its topic, or to none; one that leaves gets nothing, unless all leave:
 *   then nobody is there to hand over to, and each finishes what it owns
 * - of two members the one has at most one more than the other, as far as their subscriptions allow
 * - what moves is the least for that: each member keeps what it owns, up to its share
 * - of two that say to own a partition, that of the higher generation owns it: the other one did not hear of the later deal
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
  const hands = (staying.length === 0 ? sorted : staying).map((member) => new Hand(member));
  const handOf = new Map(hands.map((hand) => [hand.id, hand]));
  const free: Deal[] = [];
  for (const deal of dealsOf(sorted, counts)) {
    const owner = handOf.get(deal.owner ?? '');
    owner?.topics.has(deal.topic) ? owner.take(deal) : free.push({ ...deal, owner: null, isFixed: false });
  }
  for (const deal of free) {
    leastOf(hands.filter(({ topics }) => topics.has(deal.topic)))?.take(deal);
  }
  balance(hands);
  return new Map(
    sorted.map(({ id }) => [
      id,
      (handOf.get(id)?.deals ?? []).map(({ topic, partition }) => ({ topic, partition })).toSorted(byName),
    ]),
  );
}

const byName = (one: TopicPartition, other: TopicPartition): number =>
  one.topic === other.topic ? one.partition - other.partition : one.topic < other.topic ? -1 : 1;

const leastOf = (hands: readonly Hand[]): Hand | undefined => hands.toSorted(bySize)[0];

/** All partitions, with the member that owns each: of several that say so, that of the highest generation. */
function dealsOf(members: readonly JoinedMember[], counts: PartitionCounts): readonly Deal[] {
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
 * Moves partitions from hands that have more to hands that have fewer by two or more, each by as few moves as possible.
 * Each time the sum of the squares of the sizes falls, so it ends.
 */
function balance(hands: readonly Hand[]): void {
  for (let moves = nextMoves(hands); moves !== null; moves = nextMoves(hands)) {
    for (const { deal, from, to } of moves) {
      from.give(deal);
      to.take(deal);
    }
  }
}

function nextMoves(hands: readonly Hand[]): readonly Move[] | null {
  const ascending = hands.toSorted(bySize);
  const smallest = ascending[0]?.size ?? 0;
  for (const hand of ascending.toReversed()) {
    const moves = hand.size - smallest < 2 ? null : movesFrom(hand, ascending);
    if (moves !== null) {
      return moves;
    }
  }
  return null;
}

/** The shortest chain from a hand, by way of others where subscriptions differ, to one that has fewer by two or more. */
function movesFrom(start: Hand, ascending: readonly Hand[]): readonly Move[] | null {
  const reached = new Map<Hand, readonly Move[]>([[start, []]]);
  for (const [from, moves] of reached) {
    for (const to of ascending) {
      const deal = reached.has(to) ? undefined : from.dealFor(to);
      if (deal !== undefined) {
        const chain = [...moves, { deal, from, to }];
        if (to.size <= start.size - 2) {
          return chain;
        }
        reached.set(to, chain);
      }
    }
  }
  return null;
}
