import { expect, test } from '@jest/globals';
import type { InGeneration } from '../../../../app/kafka/group/coordinator.ts';
import { withMembers } from './simulated-members.ts';

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
