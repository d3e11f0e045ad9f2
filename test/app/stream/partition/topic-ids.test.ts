import { expect, test } from '@jest/globals';
import {
  epochUnknown,
  identifiedPositions,
  logTruncated,
  requireSameTopic,
} from '../../../../app/stream/partition/topic-ids.ts';
import type { Position } from '../../../../app/stream/ports/record-source.ts';

const at = (topic: string, topicId: string | null): Position => ({ topic, partition: 0, offset: 5n, topicId });

/** PostgreSQL with these positions, and Kafka with these ids; what is asked and stored is noted. */
function ports(stored: readonly Position[], ids: Readonly<Record<string, string>>) {
  const noted: unknown[] = [];
  const source = {
    topicIds: async (topics: readonly string[]) => {
      noted.push(['ids', ...topics]);
      return new Map(Object.entries(ids).filter(([topic]) => topics.includes(topic)));
    },
    requireListed: async (topics: Iterable<string>) => void noted.push(['listed', ...topics]),
  };
  const sink = {
    positions: async () => [...stored],
    adoptTopicIds: async (adopted: ReadonlyMap<string, string>) => void noted.push(['adopted', ...adopted]),
  };
  return { noted, ports: { source, sink } };
}

test('the id of a topic without a stored one is that of Kafka, and is stored; that of the others stays', async () => {
  const { noted, ports: of } = ports([at('a', 'ida'), at('b', null), at('c', null)], { a: 'ida', b: 'idb' });
  const { positions, ids } = await identifiedPositions(of, ['a', 'b', 'c']);
  expect(positions.map(({ topicId }) => topicId)).toEqual(['ida', 'idb', null]);
  expect([...ids]).toEqual([
    ['a', 'ida'],
    ['b', 'idb'],
  ]);
  expect(noted).toEqual([
    ['ids', 'a', 'b', 'c'],
    ['listed', 'a', 'b'],
    ['adopted', ['b', 'idb']],
  ]);
});

test('where all ids are stored, none is stored anew', async () => {
  const { noted, ports: of } = ports([at('a', 'ida')], { a: 'ida' });
  await identifiedPositions(of, ['a']);
  expect(noted).toEqual([
    ['ids', 'a'],
    ['listed', 'a'],
  ]);
});

test('of no topics Kafka is not asked: its answer would be about all', async () => {
  const { noted, ports: of } = ports([], { a: 'ida' });
  expect(await identifiedPositions(of, [])).toEqual({ positions: [], ids: new Map() });
  expect(noted).toEqual([['listed']]);
});

test('a topic with another id than the stored one is refused before any id is stored', async () => {
  const { noted, ports: of } = ports([at('b', null), at('a', 'ida')], { a: 'another', b: 'idb' });
  const ending = { code: 'TOPIC_RECREATED', topic: 'a', message: expect.stringContaining('has the id another') };
  await expect(identifiedPositions(of, ['a', 'b'])).rejects.toMatchObject(ending);
  expect(noted).not.toContainEqual(['adopted', ['b', 'idb']]);
});

test.each([
  ['no id is stored', null, 'ida'],
  ['Kafka reports none', 'ida', undefined],
  ['both are the same', 'ida', 'ida'],
])('a topic is that of before, as far as is known, where %s', (_, stored, asked) => {
  expect(() => requireSameTopic(at('a', stored), asked)).not.toThrow();
});

test('the errors of a log that is another one are about its topic', () => {
  const truncated = logTruncated({ topic: 'a', partition: 0, leaderEpoch: 3, endOffset: 4n, readTo: 5n });
  expect([truncated, epochUnknown(at('a', null))]).toMatchObject([
    { code: 'LOG_TRUNCATED', topic: 'a' },
    { code: 'LOG_TRUNCATED', topic: 'a' },
  ]);
});
