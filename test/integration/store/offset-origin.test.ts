import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OffsetOrigin, Position } from '../../../app/stream/ports/record-source.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { aRequest, openStore } from './open-store.ts';

const ID = 'MAY9gLLuRv6PPlUO7yaqbw';
const OTHER_ID = 'QKLOJCEgTwqYQhrNM6flkg';
const UNKNOWN = { topicId: null, leaderEpoch: null };

const { schema, sink } = openStore();
let topic: string;

beforeAll(async () => {
  await sink.migrate();
});

beforeEach(() => {
  topic = randomName('topic');
});

/** Two partitions at offset 5. */
const initialize = (origin: OffsetOrigin) =>
  sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 5n, ...origin })));

async function stored(partition = 0): Promise<Position | undefined> {
  return (await sink.positions([topic])).find((position) => position.partition === partition);
}

const rows = async () => (await query(`SELECT FROM ${schema}.records WHERE topic = $1`, [topic])).length;

/** The update of programs that do not know the columns. */
const moveAsBefore = (next: number) =>
  query(`UPDATE ${schema}.offsets SET next_offset = ${next}, updated_at = now() WHERE topic = $1`, [topic]);

const GOOD = ['{"a":1}', '{"a":2}', '{"a":3}'];
const POISONED = ['{"a":1}', '{poison', '{"a":3}'];
/** More than a request that shares its transaction has. */
const MANY = Array.from({ length: 300 }, () => '{}');

/** Each way in which an offset is moved from 5. */
const WAYS: readonly [string, number, (origin: OffsetOrigin) => Promise<{ readonly kind: string }>][] = [
  ['rows in a group', 3, (origin) => sink.write({ ...aRequest(topic, 5n, GOOD), ...origin })],
  ['rows by themselves', 300, (origin) => sink.write({ ...aRequest(topic, 5n, MANY), ...origin })],
  ['rows with a dead letter', 3, (origin) => sink.write({ ...aRequest(topic, 5n, POISONED), ...origin })],
  ['a gap', 3, (origin) => sink.skip({ topic, partition: 0, expectedOffset: 5n, nextOffset: 8n, ...origin })],
];

describe.each(WAYS)('%s', (_, count, write) => {
  const offset = BigInt(5 + count);

  test.each<[string, OffsetOrigin]>([
    ['is not known', {}],
    ['is not known, and said so', UNKNOWN],
    ['is the same', { topicId: ID, leaderEpoch: 3 }],
  ])('store the topic id and the epoch beside an offset whose origin %s', async (_how, origin) => {
    await initialize(origin);
    expect(await write({ topicId: ID, leaderEpoch: 4 })).toMatchObject({ kind: 'committed' });
    expect(await stored()).toEqual({ topic, partition: 0, offset, topicId: ID, leaderEpoch: 4 });
    expect(await stored(1)).toEqual({ topic, partition: 1, offset: 5n, ...UNKNOWN, ...origin });
  });

  test('write nothing over an offset of a topic with another id, and the stored one is reported', async () => {
    await initialize({ topicId: OTHER_ID, leaderEpoch: 3 });
    expect(await write({ topicId: ID, leaderEpoch: 3 })).toEqual({ kind: 'fenced' });
    expect(await rows()).toBe(0);
    expect(await stored()).toEqual({ topic, partition: 0, offset: 5n, topicId: OTHER_ID, leaderEpoch: 3 });
  });

  test('leave the id as it is where theirs is not known, and forget the epoch before', async () => {
    await initialize({ topicId: ID, leaderEpoch: 3 });
    expect(await write({})).toMatchObject({ kind: 'committed' });
    expect(await stored()).toEqual({ topic, partition: 0, offset, topicId: ID, leaderEpoch: null });
  });
});

test('of a group one partition of another topic id is fenced, and the others are written', async () => {
  await initialize({ topicId: ID });
  await query(`UPDATE ${schema}.offsets SET topic_id = $2 WHERE topic = $1 AND partition = 1`, [topic, OTHER_ID]);
  const requests = [0, 1].map((partition) => ({ ...aRequest(topic, 5n, GOOD, partition), topicId: ID }));
  const outcomes = await Promise.all(requests.map((request) => sink.write(request)));
  expect(outcomes).toMatchObject([{ kind: 'committed' }, { kind: 'fenced' }]);
  expect([(await stored(0))?.offset, (await stored(1))?.offset]).toEqual([8n, 5n]);
});

describe('beside a program that does not know the columns', () => {
  test('the id stays, and an epoch of an offset before is none', async () => {
    await initialize({ topicId: ID, leaderEpoch: 3 });
    await moveAsBefore(9);
    expect(await stored()).toEqual({ topic, partition: 0, offset: 9n, topicId: ID, leaderEpoch: null });
  });

  test('this one goes on from where that one has moved the offset', async () => {
    await initialize({ topicId: ID, leaderEpoch: 3 });
    await moveAsBefore(9);
    const request = { ...aRequest(topic, 9n, GOOD), topicId: ID, leaderEpoch: 4 };
    expect(await sink.write(request)).toMatchObject({ kind: 'committed' });
    expect(await stored()).toEqual({ topic, partition: 0, offset: 12n, topicId: ID, leaderEpoch: 4 });
  });
});

test('an id is stored as it comes, whatever is in it', async () => {
  const topicId = `'); DROP TABLE x; --\\`;
  await initialize({ topicId });
  expect(await sink.write({ ...aRequest(topic, 5n, GOOD), topicId })).toMatchObject({ kind: 'committed' });
  expect(await stored()).toMatchObject({ offset: 8n, topicId });
});
