import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  assignSticky,
  type JoinedMember,
  type PartitionCounts,
} from '../../../../app/kafka/group/sticky-assignment.ts';
import { partitionKey, type TopicPartition } from '../../../../app/records/record.ts';

const TOPICS = ['a', 'b', 'c'];

const some = (partitions: readonly number[], topic = 'a') => partitions.map((partition) => ({ topic, partition }));

const member = (id: string, owned: readonly TopicPartition[] = [], of: Partial<JoinedMember> = {}): JoinedMember => ({
  ...{ id, topics: ['a'], owned, generation: 1, isLeaving: false },
  ...of,
});

/** What is dealt, as `id: partitions`. */
const dealt = (members: readonly JoinedMember[], counts: readonly (readonly [string, number | null])[]) =>
  [...assignSticky(members, new Map(counts))].map(
    ([id, deals]) => `${id}: ${deals.map(({ topic, partition }) => `${topic}${partition}`).join(' ')}`,
  );

const counts: fc.Arbitrary<PartitionCounts> = fc
  .array(fc.option(fc.integer({ min: 0, max: 9 }), { freq: 9 }), { minLength: 3, maxLength: 3 })
  .map((all) => new Map(all.map((count, nth) => [TOPICS[nth] ?? '', count])));

const aPartition = fc.record({ topic: fc.constantFrom(...TOPICS), partition: fc.integer({ min: 0, max: 11 }) });

/** Members that say anything of themselves. */
const members = (topics: fc.Arbitrary<string[]>): fc.Arbitrary<JoinedMember[]> =>
  fc
    .array(
      fc.record({
        topics,
        owned: fc.uniqueArray(aPartition, { maxLength: 12, selector: partitionKey }),
        generation: fc.integer({ min: 0, max: 3 }),
        isLeaving: fc.boolean(),
      }),
      { maxLength: 6 },
    )
    .map((all) => all.map((of, nth) => ({ ...of, id: `m${nth}`, isLeaving: of.isLeaving && nth > 0 })));

const anySubscriptions = members(fc.subarray(TOPICS));
const sameSubscriptions = members(fc.constant(TOPICS));

/** Each partition that a topic has, or that is owned of one that is not known now. */
const existing = (group: readonly JoinedMember[], of: PartitionCounts): TopicPartition[] =>
  [...of].flatMap(([topic, count]) =>
    count === null
      ? [...new Set(group.flatMap(({ owned }) => owned.filter((each) => each.topic === topic).map(partitionKey)))].map(
          (key) => ({ topic, partition: Number(key.split('/')[1]) }),
        )
      : some([...Array(count).keys()], topic),
  );

/** The member whose word counts: of the highest generation, and the first of several. */
const ownerOf = (group: readonly JoinedMember[], of: TopicPartition): JoinedMember | undefined =>
  group
    .filter(({ owned }) => owned.some((each) => partitionKey(each) === partitionKey(of)))
    .toSorted((one, other) => other.generation - one.generation)[0];

const stays = (owner: JoinedMember | undefined, { topic }: TopicPartition): boolean =>
  owner !== undefined && !owner.isLeaving && owner.topics.includes(topic);

test('each partition goes to one member that is subscribed to its topic and stays, or to none where there is no such', () => {
  fc.assert(
    fc.property(anySubscriptions, counts, (group, of) => {
      const given = assignSticky(group, of);
      expect([...given.keys()].toSorted()).toEqual(group.map(({ id }) => id).toSorted());
      const expected = existing(group, of).filter(({ topic }) =>
        group.some(({ topics, isLeaving }) => !isLeaving && topics.includes(topic)),
      );
      expect([...given.values()].flat().map(partitionKey).toSorted()).toEqual(expected.map(partitionKey).toSorted());
      for (const { id, topics, isLeaving } of group) {
        const outside = given.get(id)?.filter(({ topic }) => isLeaving || !topics.includes(topic));
        expect(outside).toEqual([]);
      }
    }),
  );
});

test('no member could get a partition of one that has two more', () => {
  fc.assert(
    fc.property(anySubscriptions, counts, (group, of) => {
      const given = assignSticky(group, of);
      for (const poor of group.filter(({ isLeaving }) => !isLeaving)) {
        const size = given.get(poor.id)?.length ?? 0;
        for (const [, deals] of given) {
          const movable = deals.filter(({ topic }) => poor.topics.includes(topic) && of.get(topic) !== null);
          expect(deals.length - size >= 2 && movable.length > 0).toBe(false);
        }
      }
    }),
  );
});

test('where all are subscribed to the same topics, nothing moves but what balance needs', () => {
  const known = counts.map((of) => new Map([...of].map(([topic, count]) => [topic, count ?? 1])));
  fc.assert(
    fc.property(sameSubscriptions, known, (group, of) => {
      const given = assignSticky(group, of);
      const staying = group.filter(({ isLeaving }) => !isLeaving);
      const all = existing(group, of);
      const had = (id: string) => all.filter((each) => ownerOf(group, each)?.id === id).map(partitionKey);
      const shares = staying.map(({ id }) => had(id).length).toSorted((one, other) => other - one);
      const least = Math.floor(all.length / (staying.length || 1));
      const richer = all.length - least * staying.length;
      const most = shares.reduce((sum, share, nth) => sum + Math.min(share, nth < richer ? least + 1 : least), 0);
      const kept = staying.flatMap(({ id }) =>
        (given.get(id) ?? []).map(partitionKey).filter((key) => had(id).includes(key)),
      );
      expect(kept).toHaveLength(most);
    }),
  );
});

test('what is not known now stays with its owner', () => {
  fc.assert(
    fc.property(anySubscriptions, (group) => {
      const of: PartitionCounts = new Map(TOPICS.map((topic) => [topic, null]));
      const given = assignSticky(group, of);
      for (const each of existing(group, of)) {
        const owner = ownerOf(group, each);
        if (owner !== undefined && stays(owner, each)) {
          expect(given.get(owner.id)?.map(partitionKey)).toContain(partitionKey(each));
        }
      }
    }),
  );
});

test('the order in which members joined makes no difference', () => {
  fc.assert(
    fc.property(anySubscriptions, counts, (group, of) => {
      const sorted = (deals: ReturnType<typeof assignSticky>) => [...deals].toSorted();
      expect(sorted(assignSticky(group.toReversed(), of))).toEqual(sorted(assignSticky(group, of)));
    }),
  );
});

test('the first members of a group share its partitions', () => {
  const group = [member('x', [], { topics: ['a', 'b'] }), member('y', [], { topics: ['a', 'b'] })];
  expect(
    dealt(group, [
      ['a', 3],
      ['b', 2],
    ]),
  ).toEqual(['x: a0 a2 b1', 'y: a1 b0']);
});

test('a member that joins gets its share from those that have more', () => {
  expect(dealt([member('x', some([0, 1, 2])), member('y', some([3, 4, 5])), member('z')], [['a', 6]])).toEqual([
    'x: a0 a1',
    'y: a3 a4',
    'z: a2 a5',
  ]);
});

test('what a member leaves goes to the others, and theirs stays where it is', () => {
  const leaving = member('y', some([2, 3]), { isLeaving: true });
  expect(dealt([member('x', some([0, 1])), leaving, member('z', some([4, 5]))], [['a', 6]])).toEqual([
    'x: a0 a1 a2',
    'y: ',
    'z: a3 a4 a5',
  ]);
});

test('where all leave, each keeps what it owns, to finish it', () => {
  const group = ['x', 'y'].map((id) => member(id, some([id === 'x' ? 0 : 1]), { isLeaving: true }));
  expect(dealt(group, [['a', 2]])).toEqual(['x: a0', 'y: a1']);
});

test('of two that say to own a partition, the one of the later generation keeps it', () => {
  const back = member('x', some([0, 1, 2]), { generation: 4 });
  const now = member('y', some([0, 1, 2, 3]), { generation: 5 });
  expect(dealt([back, now], [['a', 4]])).toEqual(['x: a2 a3', 'y: a0 a1'].toSorted());
});

test('partitions that went with their topic, or that it never had, go to nobody', () => {
  expect(dealt([member('x', [...some([0, 7]), ...some([0], 'gone')], { topics: ['a', 'gone'] })], [['a', 1]])).toEqual([
    'x: a0',
  ]);
});

test('a member whose topics few are subscribed to gets of them by way of another one', () => {
  const wide = member('x', some([0, 1, 2]), { topics: ['a', 'b'] });
  const middle = member('y', some([0, 1], 'b'), { topics: ['a', 'b'] });
  const narrow = member('z', [], { topics: ['b'] });
  const given = assignSticky(
    [wide, middle, narrow],
    new Map([
      ['a', 3],
      ['b', 2],
    ]),
  );
  expect([...given.values()].map((deals) => deals.length).toSorted()).toEqual([1, 2, 2]);
});
