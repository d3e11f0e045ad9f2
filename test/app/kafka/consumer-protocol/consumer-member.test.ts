import { describe, expect, test } from '@jest/globals';
import { ForbiddenTopics } from '../../../../app/kafka/client/kafka-errors.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { partitionKey } from '../../../../app/records/record.ts';
import { idOf } from './simulated-broker-group.ts';
import { type ConsumerProcess, ConsumerWorld, fewest, most, withMembers } from './simulated-broker-members.ts';

const sizes = (members: readonly ConsumerProcess[]) => members.map(({ owned }) => owned.length);

/** Lets time pass, in which no partition has two writers at any moment. */
const passWithoutDoubles = (world: ConsumerWorld, ms: number) =>
  world.time.pass(ms, () => expect(most(world)).toBeLessThanOrEqual(1));

describe('a member', () => {
  test('gets everything as the first one, and its share beside others', async () => {
    const { world, members } = await withMembers(3);
    expect(sizes(members).toSorted()).toEqual([3, 4, 4]);
    expect([...world.writers.values()].every((count) => count === 1)).toBe(true);
    expect(world.mistakes).toEqual([]);
  });

  test('joins with its topics and an empty list, and asks every second for nothing more then', async () => {
    const { members } = await withMembers(1);
    const [join, ...others] = members[0]?.link.beats ?? [];
    expect(join).toMatchObject({ memberEpoch: 0, rebalanceTimeoutMs: 60_000, topics: ['a', 'b'], owned: new Map() });
    expect(others.at(-1)).toMatchObject({ memberEpoch: 3, rebalanceTimeoutMs: -1, topics: null, owned: null });
    expect(others.length).toBeGreaterThanOrEqual(6);
    expect(others.length).toBeLessThanOrEqual(8);
  });

  test('acknowledges what it lost once nothing of it is written, and beats meanwhile', async () => {
    const { world, members } = await withMembers(1);
    const [first] = members as [ConsumerProcess];
    first.releaseMs = 5_000;
    const second = world.start();
    await passWithoutDoubles(world, 2_500);
    expect(sizes([first, second])).toEqual([6, 0]);
    const beats = first.link.beats.length;
    await passWithoutDoubles(world, 2_000);
    expect(first.link.beats.length - beats).toBeGreaterThanOrEqual(2);
    expect(first.link.beats.at(-1)?.owned).toBeNull();
    expect(sizes([second])).toEqual([0]);
    await passWithoutDoubles(world, 3_000);
    expect(sizes([second])).toEqual([5]);
    expect(first.acknowledged.at(-1)).toBeGreaterThanOrEqual(5_000);
  });

  test('tells how long its join took, up to the acknowledgement', async () => {
    const { members } = await withMembers(1);
    expect(members[0]?.acknowledged).toEqual([0]);
  });

  test('sends everything again after an answer that did not come, and misses no assignment', async () => {
    const { world, members } = await withMembers(2);
    const [first, second] = members as [ConsumerProcess, ConsumerProcess];
    second.link.losesAnswers = 2;
    first.kill();
    world.group.expire([...world.group.members.keys()][0] ?? '');
    await world.time.pass(5_000);
    expect(sizes([second])).toEqual([11]);
    expect(second.link.beats.filter(({ topics }) => topics !== null).length).toBeGreaterThan(2);
    expect(second.events.filter((event) => event.startsWith('trying again'))).toEqual([]);
  });

  test.each([25, 110])('that is refused with %d gives everything up, and joins with the same id', async (code) => {
    const { world, members } = await withMembers(1);
    const [member] = members as [ConsumerProcess];
    member.link.refusals.push(code);
    await world.time.pass(1_500);
    expect(member.events.slice(-3)).toEqual([
      expect.stringContaining('expelled'),
      'joining',
      expect.stringContaining('assigned a'),
    ]);
    const ids = new Set(member.link.beats.map(({ memberId }) => memberId));
    expect(ids.size).toBe(1);
    expect(sizes([member])).toEqual([11]);
  });

  test('that the coordinator took for dead is given what is left, and nothing twice', async () => {
    const { world, members } = await withMembers(2);
    world.group.expire([...world.group.members.keys()][1] ?? '');
    await world.time.pass(10_000);
    expect(fewest(world)).toBe(1);
    expect(most(world)).toBe(1);
    expect(members[1]?.events.some((event) => event.startsWith('expelled'))).toBe(true);
    expect(world.mistakes).toEqual([]);
  });

  test('that is expelled while it gives partitions up has nothing then, and says so', async () => {
    const { world, members } = await withMembers(1);
    const [first] = members as [ConsumerProcess];
    first.releaseMs = 5_000;
    world.start();
    await world.time.pass(3_000);
    first.link.refusals.push(25, ...Array(8).fill(16));
    await world.time.pass(30_000);
    expect(world.mistakes).toEqual([]);
    expect([fewest(world), most(world)]).toEqual([1, 1]);
  });

  test('gives everything up after 45 s of silence, and opens it again when the coordinator answers', async () => {
    const { world, members } = await withMembers(1);
    const [member] = members as [ConsumerProcess];
    member.link.cutUntil = world.time.milliseconds + 60_000;
    await world.time.pass(40_000);
    expect(sizes([member])).toEqual([11]);
    expect(member.events.at(-1)).toMatch(/^trying again/);
    await world.time.pass(5_100);
    expect(sizes([member])).toEqual([0]);
    await world.time.pass(13_900);
    expect(member.events).toContain("expelled: the group's coordinator has not answered for 45 s");
    // A beat of before waits for its answer for 10 s, and the next one comes 5 s later at most.
    await world.time.pass(16_000);
    expect(sizes([member])).toEqual([11]);
  });

  test('owns a topic whose name it does not know yet, and opens it when it does', async () => {
    const world = new ConsumerWorld();
    world.unnamed.add('b');
    const member = world.start();
    await world.time.pass(4_000);
    expect(sizes([member])).toEqual([8]);
    expect(member.link.beats.some(({ owned }) => owned?.has(idOf('b')))).toBe(true);
    world.unnamed.clear();
    await world.time.pass(1_500);
    expect(sizes([member])).toEqual([11]);
    expect(world.mistakes).toEqual([]);
  });

  test('joins once the brokers have told about its topics, and reports those that come and go', async () => {
    const world = new ConsumerWorld();
    world.topics = () => {
      throw new Error('no broker answers');
    };
    const member = world.start();
    await world.time.pass(2_000);
    expect(new Set(member.events)).toEqual(new Set(['trying again: no broker answers']));
    world.topics = () => ({ unknown: ['b'], partitions: new Map() });
    await world.time.pass(7_000);
    expect(member.events).toContain('without b');
    expect(sizes([member])).toEqual([11]);
  });

  test('ends for good where the lookup of the coordinator is forbidden, and asks again where it fails', async () => {
    const world = new ConsumerWorld();
    world.lookupError = new Error('no broker knows it');
    const member = world.start();
    await world.time.pass(2_000);
    expect(member.events.at(-1)).toBe('trying again: no broker knows it');
    world.lookupError = internals.createErrorFromCode(30);
    await world.time.pass(5_000);
    expect(member.events.at(-1)).toMatch(/^fatal: Not authorized to access group/);
    expect(member.link.beats).toEqual([]);
  });

  test('ends for good where it may not describe a topic', async () => {
    const { world, members } = await withMembers(1);
    world.topics = () => {
      throw new ForbiddenTopics(['a']);
    };
    await world.time.pass(6_000);
    expect(members[0]?.events.at(-1)).toBe('fatal: not authorized to describe a');
  });

  test.each([14, 15, 16])('goes on, and asks again, when the coordinator answers %d', async (code) => {
    const { world, members } = await withMembers(1);
    members[0]?.link.refusals.push(code, code);
    await world.time.pass(3_000);
    expect(sizes(members)).toEqual([11]);
    expect(members[0]?.events).toEqual(['joining', expect.stringContaining('assigned')]);
  });

  test.each([29, 30])('ends for good when an ACL forbids it (%d)', async (code) => {
    const world = new ConsumerWorld();
    const member = world.start();
    member.link.refusals.push(code);
    await world.time.pass(5_000);
    expect(member.events).toEqual(['joining', expect.stringMatching(/^fatal: Not authorized/)]);
    expect(member.link.beats).toHaveLength(1);
    await expect(member.joined).rejects.toThrow('left before it was joined');
  });
});

describe('where the brokers do not have the protocol', () => {
  const NOT_OFFERED = 'not offered: the brokers do not offer the group protocol consumer (Kafka 4.0)';

  test('a member gives way before it has asked for anything', async () => {
    const world = new ConsumerWorld();
    world.offered = 0;
    const member = world.start();
    await world.time.pass(5_000);
    expect(member.events).toEqual(['joining', NOT_OFFERED]);
    expect(member.link.beats).toEqual([]);
    await expect(member.joined).rejects.toMatchObject({ name: 'NotOffered' });
  });

  test('a member that had joined gives everything up first', async () => {
    const { world, members } = await withMembers(1);
    members[0]?.link.refusals.push(35);
    await world.time.pass(5_000);
    expect(members[0]?.events.slice(-2)).toEqual([expect.stringMatching(/^expelled/), NOT_OFFERED]);
    expect(sizes(members)).toEqual([0]);
  });
});

describe('who was killed and starts again in its place', () => {
  test('takes over what it owned at once, and nothing else moves', async () => {
    const { world, members } = await withMembers(3);
    const [first, killed, third] = members as [ConsumerProcess, ConsumerProcess, ConsumerProcess];
    const its = killed.owned.map(partitionKey);
    const others = [first.events.length, third.events.length];
    killed.kill();
    await world.time.pass(500);
    const again = world.start('place-1');
    await world.time.pass(100);
    expect(again.owned.map(partitionKey)).toEqual(its);
    await world.time.pass(5_000);
    expect([first.events.length, third.events.length]).toEqual(others);
  });

  test('ends the process that runs there still, with an error', async () => {
    const { world, members } = await withMembers(1);
    const again = world.start('place-0');
    await world.time.pass(2_500);
    expect(members[0]?.events.at(-1)).toMatch(
      /^fatal: another consumer of the group group has taken the place of this one/,
    );
    expect(sizes([again])).toEqual([11]);
    expect(world.group.members.size).toBe(1);
  });
});

describe('a commit', () => {
  const HINT = [{ topic: 'a', partition: 0, offset: 7n }];

  test('goes out at the epoch of now, and is refused in none', async () => {
    const { world, members } = await withMembers(1);
    const [member] = members as [ConsumerProcess];
    await member.member.commit(HINT, null);
    world.group.expire([...world.group.members.keys()][0] ?? '');
    await expect(member.member.commit(HINT, null)).rejects.toThrow();
    await member.member.leave(100);
    await expect(member.member.commit(HINT, null)).rejects.toThrow('not a member');
  });

  test('of a process that has not joined is not sent', async () => {
    const world = new ConsumerWorld();
    await expect(world.start().member.commit(HINT, null)).rejects.toThrow('not a member');
  });
});
