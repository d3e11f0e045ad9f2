import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeAssignment,
  decodeMember,
  encodeAssignment,
  encodeMember,
} from '../../../../app/kafka/group/member-metadata.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { partitionKey } from '../../../../app/records/record.ts';

const { MemberMetadata, MemberAssignment } = loadKafkajs().AssignerProtocol;

const topic = fc.constantFrom('orders', 'payments', 'a.b_c-d');
const partitions = fc
  .uniqueArray(fc.record({ topic, partition: fc.nat({ max: 2_000 }) }), { selector: partitionKey, maxLength: 30 })
  .map((all) => all.toSorted((one, other) => (one.topic === other.topic ? 0 : one.topic < other.topic ? -1 : 1)));

const subscription = (userData: Buffer) => MemberMetadata.encode({ version: 0, topics: ['orders'], userData });

const OF_BEFORE = {
  ...{ id: 'm', topics: ['orders'], owned: [], generation: -1 },
  ...{ isLeaving: false, instanceId: null, startedAt: 0 },
};

test('what a member says of itself is what the others read', () => {
  const said = fc.record({
    topics: fc.uniqueArray(topic),
    owned: partitions,
    generation: fc.integer({ min: 0, max: 1_000 }),
    isLeaving: fc.boolean(),
    instanceId: fc.option(fc.uuid()),
    startedAt: fc.nat(),
  });
  fc.assert(
    fc.property(said, (member) => {
      expect(decodeMember('m', encodeMember(member))).toEqual({ ...member, id: 'm' });
    }),
  );
});

test('a member of the version before has its topics, and nothing else', () => {
  expect(decodeMember('m', subscription(Buffer.alloc(0)))).toEqual(OF_BEFORE);
});

test('members of the version before read the topics', () => {
  const owned = [{ topic: 'orders', partition: 0 }];
  const said = { topics: ['orders'], owned, generation: 3, isLeaving: false, instanceId: null, startedAt: 5 };
  expect(MemberMetadata.decode(encodeMember(said))).toMatchObject({ version: 0, topics: ['orders'] });
});

test.each([
  ['no JSON', 'garbage'],
  ['no object', '7'],
  ['null', 'null'],
  ['another program’s', '{"generation":"x","owned":7}'],
  ['without a generation', '{"owned":{"orders":[1]}}'],
  ['with a generation below 0', '{"owned":{"orders":[1]},"generation":-2}'],
])('data that are %s say nothing', (_what, text) => {
  expect(decodeMember('m', subscription(Buffer.from(text)))).toEqual(OF_BEFORE);
});

test('of the partitions that a member says to own those are read that are some', () => {
  const userData = Buffer.from('{"owned":{"orders":[1,"2",-3,4.5,null],"payments":{}},"generation":2,"instance":9}');
  const owned = [{ topic: 'orders', partition: 1 }];
  expect(decodeMember('m', subscription(userData))).toEqual({ ...OF_BEFORE, owned, generation: 2 });
});

test('bytes that are no subscription are one to no topic', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(decodeMember('m', Buffer.from(bytes)).id).toBe('m');
    }),
  );
  expect(decodeMember('m', Buffer.alloc(0)).topics).toEqual([]);
});

test('what the leader deals is what a member gets, of its own topics', () => {
  fc.assert(
    fc.property(partitions, (dealt) => {
      const read = decodeAssignment(encodeAssignment(dealt), (topic) => ['a.b_c-d', 'orders'].includes(topic));
      expect(read).toEqual(dealt.filter((each) => each.topic !== 'payments'));
    }),
  );
});

test('members of the version before read what they are dealt, and are read as leaders', () => {
  const dealt = [{ topic: 'orders', partition: 4 }];
  expect(MemberAssignment.decode(encodeAssignment(dealt))?.assignment).toEqual({ orders: [4] });
  const ofBefore = MemberAssignment.encode({ version: 0, assignment: { orders: [4] }, userData: Buffer.alloc(0) });
  expect(decodeAssignment(ofBefore, (topic) => topic === 'orders')).toEqual(dealt);
});

test('no bytes are no assignment', () => {
  expect(decodeAssignment(Buffer.alloc(0), () => true)).toEqual([]);
});
