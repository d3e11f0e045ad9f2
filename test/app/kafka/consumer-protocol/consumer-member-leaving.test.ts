import { describe, expect, test } from '@jest/globals';
import { type ConsumerProcess, ConsumerWorld, fewest, most, withMembers } from './simulated-broker-members.ts';

describe('who stops', () => {
  test('writes each partition until its winner was told, and not until all winners were', async () => {
    const world = new ConsumerWorld();
    const members: ConsumerProcess[] = [];
    for (const beatsApart of [6_000, 6_350, 6_350]) {
      members.push(world.start());
      await world.time.pass(beatsApart);
    }
    const doubled: number[] = [];
    const stopped = members[1]?.stop();
    let doubledSince: number | null = null;
    await world.time.pass(4_000, () => {
      expect(fewest(world)).toBeGreaterThanOrEqual(1);
      doubledSince = most(world) > 1 ? (doubledSince ?? world.time.milliseconds) : null;
      doubled.push(...(doubledSince === null ? [] : [world.time.milliseconds - doubledSince]));
    });
    expect(await stopped).toBe(true);
    expect(doubled).not.toEqual([]);
    expect(Math.max(...doubled)).toBeLessThanOrEqual(100);
  });

  test('leaves, and writes until the others were told, so no partition is without a writer', async () => {
    const { world, members } = await withMembers(3);
    const stopped = members[1]?.stop();
    await world.time.pass(2_500, () => expect(fewest(world)).toBe(1));
    expect(await stopped).toBe(true);
    expect(members[1]?.link.beats.at(-1)).toMatchObject({ memberEpoch: -1, instanceId: 'place-1' });
    expect(most(world)).toBe(1);
  });

  test('does not hand over where nobody else is a member, and leaves', async () => {
    const { world, members } = await withMembers(1);
    const stopped = members[0]?.stop();
    await world.time.pass(0);
    expect(await stopped).toBe(false);
    expect(world.group.members.size).toBe(0);
  });

  test('does not wait for longer than it may for others who do not ask', async () => {
    const { world, members } = await withMembers(2);
    members[0]?.kill();
    const stopped = members[1]?.stop();
    await world.time.pass(3_200);
    expect(await stopped).toBe(false);
    expect(world.group.members.size).toBe(1);
  });

  test('together with all others leaves the group empty', async () => {
    const { world, members } = await withMembers(3);
    const stopped = Promise.all(members.map((member) => member.stop()));
    await world.time.pass(3_500);
    await stopped;
    expect(world.group.members.size).toBe(0);
  });

  test('while the coordinator moves leaves at the new one', async () => {
    const { world, members } = await withMembers(2);
    members[0]?.link.refusals.push(16, 15);
    const left = members[0]?.member.leave(3_000);
    await world.time.pass(1_000);
    await left;
    expect(world.group.members.size).toBe(1);
  });

  test('before it was told of an assignment has its join rejected', async () => {
    const world = new ConsumerWorld();
    const member = world.start();
    member.link.cutUntil = 100_000;
    await world.time.pass(1_000);
    const left = member.member.leave(500);
    await world.time.pass(1_000);
    await left;
    await expect(member.joined).rejects.toThrow('left before it was joined');
  });
});
