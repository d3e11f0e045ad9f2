import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeAssignment,
  decodeMember,
  encodeAssignment,
  encodeMember,
  MatchedTopics,
} from '../../../../app/kafka/group/member-metadata.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { partitionKey } from '../../../../app/records/record.ts';
import type { TopicNames } from '../../../../settings/sections/tables/topic-template.ts';

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

const text = fc.oneof(topic, fc.constantFrom('shop.{schema}.{table}', 'shop.{any}'), fc.string());
const texts = fc.array(text, { maxLength: 4 });
const templates = fc.record({
  read: fc.array(fc.record({ topics: texts, except: texts }), { maxLength: 4 }),
  deadLetters: fc.option(text, { nil: undefined }),
});

test('what a member says of itself is what the others read', () => {
  const said = fc.record(
    {
      topics: fc.uniqueArray(topic),
      owned: partitions,
      generation: fc.integer({ min: 0, max: 1_000 }),
      isLeaving: fc.boolean(),
      instanceId: fc.option(fc.uuid()),
      startedAt: fc.nat(),
      templates,
    },
    { requiredKeys: ['topics', 'owned', 'generation', 'isLeaving', 'instanceId', 'startedAt'] },
  );
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

describe('the templates of a member', () => {
  const ALL = 'shop.{schema}.{table}';
  const cluster = ['shop.a.b', 'shop.a.audit', 'shop.tmp.c', 'shop.a.letters', 'named', 'other'];

  /** The topics that a leader assigns to the member. */
  const assignedTo = (member: ReturnType<typeof decodeMember>) =>
    new MatchedTopics({ cluster }).subscribed([member]).flatMap(({ topics }) => topics);

  const saying = (said: unknown) => decodeMember('m', subscription(Buffer.from(JSON.stringify(said))));

  test('have a leader assign what they take, and neither what they except nor the topic for dead letters', () => {
    const choices: TopicNames = {
      read: [
        { topics: ['named'], except: [] },
        { topics: [ALL], except: ['shop.a.audit', 'shop.tmp.{any}'] },
      ],
      deadLetters: 'shop.a.letters',
    };
    const said = { ...OF_BEFORE, templates: choices };
    expect(decodeMember('m', encodeMember(said)).templates).toEqual(choices);
    expect(assignedTo(decodeMember('m', encodeMember(said)))).toEqual(['orders', 'shop.a.b', 'named']);
    const all: TopicNames = { read: [{ topics: [ALL], except: [] }], deadLetters: undefined };
    const taken = ['shop.a.b', 'shop.a.audit', 'shop.tmp.c', 'shop.a.letters'];
    expect(assignedTo(decodeMember('m', encodeMember({ ...said, templates: all })))).toEqual(['orders', ...taken]);
  });

  test('are not those of a member that has none', () => {
    const none = { owned: {}, generation: 3, started: 5 };
    expect(saying(none)).not.toHaveProperty('templates');
    expect(assignedTo(saying(none))).toEqual(['orders']);
  });

  test.each<[unknown, TopicNames['read']]>([
    [null, []],
    [7, []],
    [ALL, []],
    [[{ topics: [ALL] }], []],
    [{ read: ALL }, []],
    [{ read: { 0: { topics: [ALL] } } }, []],
    [{ read: [null, 7, 'x', [], {}] }, Array.from({ length: 5 }, () => ({ topics: [], except: [] }))],
    [{ read: [{ topics: ALL, except: 7 }] }, [{ topics: [], except: [] }]],
    [
      { read: [{ topics: [null, 'named', { a: 1 }], except: [['x'], 'shop.tmp.{any}'] }] },
      [{ topics: ['named'], except: ['shop.tmp.{any}'] }],
    ],
  ])('are read as far as they are some: %j', (said, read) => {
    const member = saying({ templates: said });
    expect(member).toEqual({ ...OF_BEFORE, templates: { read, deadLetters: undefined } });
    expect(assignedTo(member)).toEqual(read.some(({ topics }) => topics.length > 0) ? ['orders', 'named'] : ['orders']);
  });

  test.each([null, 7, ['letters'], { topic: 'letters' }])(
    'have no topic for dead letters that is %j',
    (deadLetters) => {
      expect(saying({ templates: { read: [], deadLetters } }).templates).toEqual({ read: [], deadLetters: undefined });
    },
  );

  test('are read whatever else of the data cannot be', () => {
    const said = { owned: 7, generation: 'x', instance: 9, started: -1, leaving: 1, templates: { read: [] } };
    expect(saying(said)).toEqual({ ...OF_BEFORE, templates: { read: [], deadLetters: undefined } });
  });
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
