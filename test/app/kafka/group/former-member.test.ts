import { expect, test } from '@jest/globals';
import { MemberPlace } from '../../../../app/kafka/group/former-member.ts';
import { encodeMember, STICKY } from '../../../../app/kafka/group/member-metadata.ts';
import { SimulatedTime } from './simulated-time.ts';

const { signal } = new AbortController();

/** A place in a group that the coordinator describes by these states, one after the other; the last one stays. */
function aPlace(states: readonly (string | Error)[], startedAt = 100) {
  const left: string[] = [];
  const warnings: string[] = [];
  let asked = 0;
  const said = { topics: [], owned: [], generation: 0, isLeaving: false, instanceId: 'place', startedAt };
  const coordinator = {
    describe: async () => {
      const state = states[Math.min(asked, states.length - 1)] ?? '';
      asked += 1;
      if (state instanceof Error) {
        throw state;
      }
      const memberMetadata = state === 'Stable' ? encodeMember(said) : Buffer.alloc(0);
      return { state, protocolType: 'consumer', protocol: STICKY, members: [{ memberId: 'former', memberMetadata }] };
    },
    leave: async (id: string) => void left.push(id),
  };
  const logger = { warn: (_of: object, message: string) => void warnings.push(message) };
  const ports = { coordinator, clock: new SimulatedTime(), logger };
  const place = new MemberPlace({ groupId: 'group', instanceId: 'place', startedAt: 200 }, ports, 10_000);
  return { place, left, warnings, asked: () => asked };
}

test('while the group is joined nobody is found, and each join looks again until the member is assigned', async () => {
  const found = aPlace(['PreparingRebalance', 'Stable']);
  await found.place.clear('', signal);
  expect(found.left).toEqual([]);
  await found.place.clear('own', signal);
  expect(found.left).toEqual(['former']);
  const assigned = aPlace(['PreparingRebalance', 'Stable']);
  await assigned.place.clear('', signal);
  assigned.place.settled();
  await assigned.place.clear('own', signal);
  expect(assigned.asked()).toBe(1);
});

test('where the brokers do not describe groups, the group is joined without a look, and one warning says so', async () => {
  const error = Object.assign(new Error('The Kafka server does not support the requested API version'), {
    name: 'KafkaJSServerDoesNotSupportApiKey',
    retriable: false,
  });
  const { place, warnings, asked } = aPlace([error]);
  await place.clear('', signal);
  place.forgotten();
  await place.clear('', signal);
  expect(asked()).toBe(1);
  expect(warnings).toHaveLength(1);
});

test('any other failure of the look fails the join', async () => {
  const { place } = aPlace([new Error('no broker')]);
  await expect(place.clear('', signal)).rejects.toThrow('no broker');
});

test('a member that was started later ends the one that looks, and the one that looks stays itself', async () => {
  await expect(aPlace(['Stable'], 300).place.clear('', signal)).rejects.toMatchObject({
    code: 'GROUP_INSTANCE_REPLACED',
  });
  const own = aPlace(['Stable'], 200);
  await own.place.clear('former', signal);
  expect(own.left).toEqual([]);
});
