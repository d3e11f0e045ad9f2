import { expect, test } from '@jest/globals';
import type { TopicsAnswer } from '../../../../app/kafka/group/subscribed-metadata.ts';
import { withMembers } from './simulated-members.ts';

const sizes = (members: readonly { readonly owned: readonly unknown[] }[]) => members.map(({ owned }) => owned.length);

test('partitions that a topic gets are dealt, and those of one that goes are nobody’s once that is certain', async () => {
  const { world, members } = await withMembers(2);
  world.counts.set('a', 10);
  await world.time.pass(6_100);
  expect(sizes(members)).toEqual([7, 6]);
  world.counts.delete('b');
  await world.time.pass(11_100);
  expect(sizes(members)).toEqual([5, 5]);
  expect(members[0]?.events).toContain('topics a,10, without b');
});

test('where the brokers tell too late, the leader deals all that they told before, and joins once', async () => {
  const { world, members } = await withMembers(3);
  const [leader, other, killed] = members;
  for (const { link } of members) link.topicsMs = 2_500;
  killed && world.kill(killed);
  await world.time.pass(15_000);
  expect(sizes([leader, other].flatMap((member) => member ?? []))).toEqual([6, 5]);
  const { joins } = world.group;
  await world.time.pass(30_000);
  expect(world.group.joins).toBe(joins);
});

test.each<[string, TopicsAnswer]>([
  ['does not know a topic', { unknown: ['b'], partitions: new Map([['a', 8]]) }],
  ['knows fewer partitions', { unknown: [], partitions: new Map(Object.entries({ a: 4, b: 3 })) }],
])('one answer of a broker that %s takes nothing away', async (_what, stale) => {
  const { world, members } = await withMembers(2);
  const third = world.start();
  await world.time.pass(0);
  // The leader asks next, as it deals to the third one.
  const topicsOf = world.topicsOf.bind(world);
  world.topicsOf = () => {
    world.topicsOf = topicsOf;
    return stale;
  };
  await world.time.pass(10_000, () => expect(sizes([...members, third]).reduce((sum, size) => sum + size, 0)).toBe(11));
  expect(world.topicsOf).toBe(topicsOf);
  expect(sizes([...members, third])).toEqual([4, 4, 3]);
});
