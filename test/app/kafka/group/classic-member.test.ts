import { expect, test } from '@jest/globals';
import { partitionKey } from '../../../../app/records/record.ts';
import { passCalmly, sizes, wrong } from './partition-owners.ts';
import { type SimulatedWorld, withMembers } from './simulated-members.ts';

type Process = ReturnType<SimulatedWorld['start']>;

test('the first member gets everything, and the others their shares within a beat of joining', async () => {
  const { world, members } = await withMembers(1);
  expect(sizes(members)).toEqual([11]);
  const second = world.start();
  await passCalmly(world, 1_000);
  expect(sizes([...members, second])).toEqual([6, 5]);
  const third = world.start();
  await passCalmly(world, 1_000);
  expect(sizes([...members, second, third])).toEqual([4, 4, 3]);
});

test('a member that joins takes nothing away but its share', async () => {
  const { world, members } = await withMembers(3);
  const before = members.map(({ owned }) => owned.map(partitionKey));
  world.start();
  await passCalmly(world, 1_500);
  const moved = before.flat().length - members.flatMap(({ owned }) => owned).length;
  expect(moved).toBe(2);
  for (const [nth, { owned }] of members.entries()) {
    expect(before[nth]).toEqual(expect.arrayContaining(owned.map(partitionKey)));
  }
});

test('what a killed member had is with the others after its session, and theirs goes on', async () => {
  const { world, members } = await withMembers(3);
  const killed = members[0] as Process;
  const its = killed.owned.map(partitionKey);
  world.kill(killed);
  const elsewhere = () => wrong(world).filter((text) => !its.some((key) => text.startsWith(`${key} has 0`)));
  await world.time.pass(9_500, () => expect(elsewhere()).toEqual([]));
  await world.time.pass(2_000, () => expect(elsewhere()).toEqual([]));
  expect(wrong(world)).toEqual([]);
});

test('while a join waits behind a killed member the others go on, and begin no second join', async () => {
  const { world, members } = await withMembers(3);
  world.kill(members[2] as Process);
  world.start();
  await world.time.pass(7_500);
  expect(world.group.state).toBe('PreparingRebalance');
  for (const { link, owned, events } of members.slice(0, 2)) {
    expect(owned).toHaveLength(4);
    expect(events.filter((event) => event.startsWith('trying') || event.startsWith('expelled'))).toEqual([]);
    expect(link.sent.slice(link.sent.lastIndexOf('join')).filter((name) => name === 'join')).toHaveLength(1);
    expect(link.sent.at(-1)).toBe('beat');
  }
});

test('who is killed and started again in the same place is replaced at once', async () => {
  const { world, members } = await withMembers(3);
  world.kill(members[1] as Process);
  await world.time.pass(500);
  const back = world.start('place-1');
  await world.time.pass(1_500);
  expect(wrong(world)).toEqual([]);
  expect(back.link.sent.slice(0, 3)).toEqual(['describe', 'leave', 'join']);
});

test('who finds the member that it replaced in its place again replaces it again', async () => {
  const { world, members } = await withMembers(3);
  world.kill(members[1] as Process);
  await world.time.pass(500);
  const back = world.start('place-1');
  // The new coordinator knows the generation before the one without the killed member.
  const { join } = back.link;
  back.link.join = (...asked) => {
    if (asked[0] !== '') {
      back.link.join = join;
      world.group.move();
    }
    return join.apply(back.link, asked);
  };
  await world.time.pass(15_000);
  expect(back.events.filter((event) => event.startsWith('fatal'))).toEqual([]);
  expect(sizes([members[0] as Process, back, members[2] as Process])).toEqual([4, 3, 4]);
});

test('who finds a newer member in its place ends with the reason', async () => {
  const { world, members } = await withMembers(2);
  world.start('place-1');
  await world.time.pass(4_000);
  expect(members[1]?.events.at(-1)).toContain('fatal: another consumer of the group');
  expect(members[1]?.owned).toEqual([]);
  await passCalmly(world, 5_000);
});

test('a member whose session was over joins again, where nobody took its place', async () => {
  const { world, members } = await withMembers(2);
  const away = members[1] as Process;
  away.link.cutUntil = world.time.milliseconds + 14_000;
  await world.time.pass(9_000);
  expect(away.owned).toHaveLength(5);
  await world.time.pass(2_000);
  expect(away.events).toContain("expelled: the group's coordinator has not answered for 10 s");
  expect(away.owned).toEqual([]);
  await world.time.pass(14_000);
  expect(sizes(members)).toEqual([6, 5]);
  expect(wrong(world)).toEqual([]);
});

test('a member without an answer stops before the group gives its partitions to another one', async () => {
  const { world, members } = await withMembers(2);
  (members[1] as Process).link.cutUntil = Number.POSITIVE_INFINITY;
  await world.time.pass(15_000, () => expect(wrong(world).filter((text) => text.endsWith('2 owners'))).toEqual([]));
  expect(sizes(members)).toEqual([11, 0]);
});

test('a coordinator that moves is found, and nothing stops for it', async () => {
  const { world, members } = await withMembers(3);
  const generation = world.group.generation;
  world.group.move();
  await passCalmly(world, 5_000);
  expect(world.group.generation).toBe(generation);
  expect(members.flatMap(({ events }) => events.filter((event) => event.startsWith('trying')))).toEqual([]);
});

test('members whose generation is over keep their ids', async () => {
  const { world, members } = await withMembers(3);
  const ids = () => world.group.describe().members.map(({ memberId }) => memberId);
  const before = ids();
  // The new coordinator does not know of the third member.
  world.group.move(1);
  await world.time.pass(3_500);
  expect(ids()).toEqual([...before.slice(0, 2), 'm004']);
  expect(wrong(world)).toEqual([]);
  expect(sizes(members)).toEqual([4, 4, 3]);
});

test('a join takes as long as the attempt that succeeded, and beats and looks that fail are no joins', async () => {
  const { world, members } = await withMembers(1);
  const [member] = members as [Process];
  const isCut = () => world.time.milliseconds < member.link.cutUntil;
  member.link.cutUntil = world.time.milliseconds + 8_000;
  await world.time.pass(9_000);
  expect(member.events.filter((event) => event.startsWith('trying'))).not.toEqual([]);
  expect(member.owner.failedJoins).toBe(0);
  member.link.cutUntil = world.time.milliseconds + 40_000;
  await world.time.pass(120_000);
  expect(isCut()).toBe(false);
  expect(member.owner.failedJoins).toBeGreaterThan(0);
  expect(sizes(members)).toEqual([11]);
  expect(member.owner.joinMs.at(-1)).toBeLessThan(5_000);
});

test.each(['join', 'sync'])(
  'where the answer to %s is lost, the member joins again and takes what it is dealt',
  async (name) => {
    const { world, members } = await withMembers(2);
    const { link, events } = members[1] as Process;
    link.loses = name;
    world.start();
    await world.time.pass(3_000);
    expect(link.loses).toBe(null);
    expect(events.filter((event) => event.startsWith('trying'))).toEqual(['trying again: Closed connection']);
    expect(wrong(world)).toEqual([]);
  },
);

test('a group that cannot be joined is tried again after longer and longer pauses, of 5 s at most', async () => {
  const { world, members } = await withMembers(1);
  const { link, owner } = world.start();
  const tried: number[] = [];
  link.join = async () => {
    tried.push(world.time.milliseconds);
    throw Object.assign(new Error('no broker'), { retriable: true });
  };
  await world.time.pass(60_000);
  const pauses = tried.slice(1).map((at, nth) => at - (tried[nth] ?? 0));
  expect(pauses.length).toBeGreaterThan(12);
  expect(pauses[0]).toBeLessThanOrEqual(100);
  expect(Math.min(...pauses.slice(7))).toBeGreaterThanOrEqual(2_500);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
  expect(owner.events.filter((event) => event.startsWith('trying'))).toHaveLength(tried.length);
  expect(sizes(members)).toEqual([11]);
});

test('what forbids the group ends the member with the reason, and what fails besides is tried again', async () => {
  const { world, members } = await withMembers(1);
  const { link, owner, owned } = members[0] as Process;
  const refuse = (type: string) => async () => {
    throw Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: false });
  };
  link.beat = refuse('GROUP_AUTHORIZATION_FAILED');
  await world.time.pass(1_000);
  expect(owned).toHaveLength(11);
  expect(owner.events.at(-1)).toBe('fatal: GROUP_AUTHORIZATION_FAILED');
  const before = link.sent.length;
  await world.time.pass(20_000);
  expect(link.sent).toHaveLength(before);
});

test('what the leader cannot learn of now is dealt by what it learned before', async () => {
  const { world, members } = await withMembers(2);
  for (const { link } of members) link.knowsNoTopics = true;
  const third = world.start();
  await passCalmly(world, 4_000);
  expect(sizes([...members, third])).toEqual([4, 4, 3]);
});

test('beside members of the version before all deal by their protocol, whoever leads', async () => {
  const { world, members } = await withMembers(1);
  const old = world.startOfBefore();
  await world.time.pass(4_000);
  expect(wrong(world)).toEqual([]);
  expect(sizes([...members, old])).toEqual([6, 5]);
  const stopped = members[0]?.stop();
  await world.time.pass(5_000);
  await stopped;
  expect(members[0]?.handedOver).toBe(true);
  const back = world.start();
  await world.time.pass(4_000);
  expect(sizes([old, back])).toEqual([6, 5]);
  const leaving = back.stop();
  await world.time.pass(5_000);
  await leaving;
  // The old one leads, and deals to the one that leaves again.
  expect(back.handedOver).toBe(false);
  expect(wrong(world)).toEqual([]);
});

test('offsets are committed by a member alone', async () => {
  const { world, members } = await withMembers(1);
  const position = { topic: 'a', partition: 0, offset: 1n };
  await members[0]?.member.commit([position], null);
  expect(members[0]?.link.sent.at(-1)).toBe('commit');
  const unjoined = world.start();
  await expect(unjoined.member.commit([position], null)).rejects.toThrow('not a member');
});

test('a member whose commits are answered is alive, though its beats are not', async () => {
  const { world, members } = await withMembers(1);
  const { link, member, events } = members[0] as Process;
  link.unanswered = new Set(['beat']);
  for (let seconds = 0; seconds < 15; seconds += 1) {
    await member.commit([], null);
    await world.time.pass(1_000);
  }
  expect(events.filter((event) => event.startsWith('expelled'))).toEqual([]);
});

test('a commit that is not answered stops nobody from beating, and is no sign of life', async () => {
  const { world, members } = await withMembers(1);
  const { link, member, events } = members[0] as Process;
  link.unanswered = new Set(['commit']);
  void member.commit([], null).catch(() => undefined);
  await passCalmly(world, 30_000);
  link.unanswered = new Set(['beat', 'commit', 'join']);
  void member.commit([], null).catch(() => undefined);
  await world.time.pass(11_000);
  expect(events.find((event) => event.startsWith('expelled'))).toContain('has not answered for 10 s');
});
