import { expect, test } from '@jest/globals';
import { passCalmly, sizes, wrong } from './partition-owners.ts';
import { SimulatedWorld, withMembers } from './simulated-members.ts';

type Process = ReturnType<SimulatedWorld['start']>;

test('who stops hands over within a beat, and no partition is without an owner at any moment', async () => {
  const { world, members } = await withMembers(3);
  const stopped = members[1]?.stop();
  await passCalmly(world, 1_500);
  await stopped;
  expect(members[1]?.handedOver).toBe(true);
  expect(members[1]?.events.at(-1)).toBe('assigned ');
  await passCalmly(world, 5_000);
  expect(sizes(members)).toEqual([6, 0, 5]);
});

test('of six half stop at once, the leader among them, and all hand over', async () => {
  const { world, members } = await withMembers(6);
  const stopped = members.slice(0, 3).map((member) => member.stop());
  await passCalmly(world, 1_500);
  await Promise.all(stopped);
  expect(members.map(({ handedOver }) => handedOver)).toEqual([true, true, true, null, null, null]);
});

test('who stops while a join waits behind a killed member joins as leaving, and leaves in time', async () => {
  const { world, members } = await withMembers(3);
  world.kill(members[2] as Process);
  world.start();
  await world.time.pass(1_500);
  const stopped = members[1]?.stop();
  await world.time.pass(3_000);
  await stopped;
  expect(members[1]?.handedOver).toBe(false);
  expect(members[1]?.link.sent.at(-1)).toBe('leave');
  await world.time.pass(10_000);
  expect(wrong(world)).toEqual([]);
});

test('the last member does not hand over, and leaves', async () => {
  const { world, members } = await withMembers(1);
  const stopped = members[0]?.stop();
  await world.time.pass(0);
  await stopped;
  expect(members[0]?.handedOver).toBe(false);
  expect(world.group.describe().members).toEqual([]);
});

test('where all stop at once nobody hands over, so that all finish what they own, and all leave', async () => {
  const { world, members } = await withMembers(3);
  const stopped = members.map((member) => member.stop());
  await world.time.pass(3_000);
  await Promise.all(stopped);
  expect(members.map(({ handedOver }) => handedOver)).toEqual([false, false, false]);
  expect(members.flatMap(({ events }) => events.filter((event) => event === 'assigned '))).toEqual([]);
  expect(world.group.describe().members).toEqual([]);
});

test('a LeaveGroup that the coordinator does not take is repeated', async () => {
  const { world, members } = await withMembers(2);
  const leaving = members[1] as Process;
  world.group.move();
  const left = leaving.member.leave(3_000);
  await world.time.pass(1_000);
  await left;
  expect(leaving.link.sent.filter((name) => name === 'leave').length).toBeGreaterThan(1);
  expect(world.group.describe().members).toHaveLength(1);
});

test('leaving ends in time where nobody answers', async () => {
  const { world, members } = await withMembers(2);
  const leaving = members[1] as Process;
  leaving.link.cutUntil = Number.POSITIVE_INFINITY;
  let hasLeft = false;
  void leaving.member.leave(3_000).then(() => {
    hasLeft = true;
  });
  await world.time.pass(2_900);
  expect(hasLeft).toBe(false);
  await world.time.pass(200);
  expect(hasLeft).toBe(true);
});

test('who leaves before the first assignment is told so', async () => {
  const world = new SimulatedWorld();
  const process = world.start();
  const joined = process.member.join(process.owner);
  const left = process.member.leave(1_000);
  await expect(joined).rejects.toThrow('before it was joined');
  await world.time.pass(1_000);
  await left;
});
