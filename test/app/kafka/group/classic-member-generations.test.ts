import { expect, test } from '@jest/globals';
import type { InGeneration } from '../../../../app/kafka/group/coordinator.ts';
import { decodeMember, STICKY } from '../../../../app/kafka/group/member-metadata.ts';
import { SimulatedWorld, withMembers } from './simulated-members.ts';

type Members = Awaited<ReturnType<typeof withMembers>>['members'];

/** The member of the place, which has to run. */
function nth(members: Members, place: number): Members[number] {
  const found = members[place];
  if (found === undefined) {
    throw new Error(`there are ${members.length} members`);
  }
  return found;
}

test('offsets are committed in the generation that gave what is owned, while the next one is dealt', async () => {
  const { world, members } = await withMembers(2);
  const [leader, other] = [nth(members, 0), nth(members, 1)];
  const { generation } = world.group;
  const asked: InGeneration[] = [];
  other.link.commit = async (member: InGeneration) => void asked.push(member);
  leader.link.topicsMs = 1_500;
  world.start();
  await world.time.pass(2_000);
  expect(world.group.state).toBe('CompletingRebalance');
  await other.member.commit([], null);
  await world.time.pass(1_000);
  await other.member.commit([], null);
  expect(asked.map(({ generationId }) => generationId - generation)).toEqual([0, 1]);
});

test.each([
  ['whose id the coordinator does not know any more', 1_500],
  ['whose session is over', 12_000],
])('an answer to SyncGroup gives nothing to a member %s', async (_what, late) => {
  const { world, members } = await withMembers(2);
  const { link, owner } = nth(members, 1);
  const id = world.group.describe().members[1]?.memberId ?? '';
  const sync = link.sync.bind(link);
  const assignments = () => owner.events.filter((event) => event.startsWith('assigned')).length;
  const before: number[] = [];
  link.sync = async (...asked) => {
    link.sync = (...again) => {
      before.push(assignments());
      return sync(...again);
    };
    const assignment = await sync(...asked);
    if (late > 10_000) {
      link.cutUntil = world.time.milliseconds + late;
    } else {
      world.group.leave(id);
    }
    await world.time.wait(late);
    before.push(assignments());
    return assignment;
  };
  world.start();
  await world.time.pass(late + 20_000);
  expect(before[1]).toBe(before[0]);
  expect(owner.events.filter((event) => event.startsWith('expelled'))).toHaveLength(1);
  expect(owner.owned.length).toBeGreaterThan(2);
  expect(owner.mistakes).toEqual([]);
});

test('a group that answers each join by another generation is not asked all the time', async () => {
  const { world, members } = await withMembers(2);
  const { link, owner } = nth(members, 1);
  let asked = 0;
  const refused = Object.assign(new Error('REBALANCE_IN_PROGRESS'), {
    type: 'REBALANCE_IN_PROGRESS',
    retriable: false,
  });
  const { sync } = link;
  link.sync = async () => {
    asked += 1;
    await world.time.wait(1);
    throw refused;
  };
  world.start();
  await world.time.pass(30_000);
  expect(asked).toBeLessThan(30);
  link.sync = sync;
  await world.time.pass(6_000);
  expect(owner.owned).toHaveLength(4);
  expect(owner.events.filter((event) => event.startsWith('trying'))).toEqual([]);
});

test.each(['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])(
  'who is answered %s by SyncGroup goes on, joins again by its id, and leaves no other member behind',
  async (type) => {
    const { world, members } = await withMembers(2);
    const { link, owner } = nth(members, 1);
    const ids = () => world.group.describe().members.map(({ memberId }) => memberId);
    const before = ids();
    const joins: string[] = [];
    const join = link.join.bind(link);
    link.join = (id, metadata) => {
      joins.push(id);
      return join(id, metadata);
    };
    const { sync } = link;
    link.sync = async () => {
      link.sync = sync;
      throw Object.assign(new Error(type), { type, retriable: false });
    };
    world.start();
    await world.time.pass(5_000);
    expect(joins).toEqual([before[1], before[1]]);
    expect(ids().slice(0, 2)).toEqual(before);
    expect(ids()).toHaveLength(3);
    expect(owner.events.filter((event) => /^(expelled|trying)/.test(event))).toEqual([]);
  },
);

test('who is unknown to the coordinator while JoinGroup waits gives that join up', async () => {
  const { world, members } = await withMembers(3);
  const { link, owner } = nth(members, 1);
  const refused = Object.assign(new Error('UNKNOWN_MEMBER_ID'), { type: 'UNKNOWN_MEMBER_ID', retriable: false });
  world.kill(nth(members, 2));
  world.start();
  await world.time.pass(2_500);
  expect(world.group.state).toBe('PreparingRebalance');
  const before = link.sent.length;
  const { beat } = link;
  link.beat = async () => {
    link.beat = beat;
    throw refused;
  };
  await world.time.pass(1_500);
  expect(owner.events.filter((event) => event.startsWith('expelled'))).toHaveLength(1);
  expect(link.sent.slice(before)).toContain('describe');
  expect(owner.events.filter((event) => event.startsWith('trying'))).toEqual([]);
  await world.time.pass(15_000);
  expect(owner.owned.length).toBeGreaterThan(2);
});

test('who is to stop while it prepares a join says in that join that it leaves', async () => {
  const { world, members } = await withMembers(2);
  const { link, owner, member } = nth(members, 1);
  const said: boolean[] = [];
  const join = link.join.bind(link);
  link.join = (id, metadata) => {
    said.push(decodeMember(id, metadata.get(STICKY) ?? Buffer.alloc(0)).isLeaving);
    return join(id, metadata);
  };
  let handedOver: Promise<boolean> | null = null;
  owner.onJoining = () =>
    queueMicrotask(() => {
      handedOver ??= member.handOver(3_000);
    });
  world.start();
  await world.time.pass(2_500);
  expect(said).toEqual([true]);
  expect(await handedOver).toBe(true);
});

test('who leaves while the first JoinGroup is on its way leaves by the id that the coordinator made', async () => {
  const world = new SimulatedWorld();
  const { link, member } = world.start();
  const join = link.join.bind(link);
  link.join = async (...asked) => {
    const answer = await join(...asked).catch((error: Error) => error);
    await world.time.wait(50);
    if (answer instanceof Error) {
      throw answer;
    }
    return answer;
  };
  await world.time.pass(10);
  const left = member.leave(1_000);
  await world.time.pass(500);
  await left;
  expect(link.sent).toEqual(['join', 'leave']);
});
