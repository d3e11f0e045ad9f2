import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Client } from 'pg';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { DeadLetter } from '../../../app/stream/ports/dead-letter.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { aRecord } from '../../app/stream/records.ts';
import { randomName } from '../stack/random-name.ts';
import { aRequest, connect, openStore } from './open-store.ts';

const { schema, sink } = openStore();
let topic: string;
let client: Client;

beforeAll(async () => {
  client = await connect();
  await sink.migrate();
});

/** Rows of one statement. */
const query = async (text: string, values?: unknown[]) => (await client.query(text, values)).rows;

const begin = async () => {
  topic = randomName('topic');
  await sink.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
};

beforeEach(begin);

const offsetsIn = async (table: string) =>
  (await query(`SELECT "offset"::int AS place FROM ${schema}.${table} WHERE topic = $1 ORDER BY 1`, [topic])).map(
    ({ place }) => place,
  );

const where = (bad: readonly boolean[], wanted: boolean) =>
  bad.flatMap((isBad, place) => (isBad === wanted ? place : []));

test('whichever rows are poison, they are dead letters with their places, and all others are rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (bad) => {
      await begin();
      const values = bad.map((isBad, place) => (isBad ? '{poison' : `{"place":${place}}`));
      const outcome = await sink.write(aRequest(topic, 0n, values));
      const letters = where(bad, true);
      expect(outcome).toEqual({
        kind: 'committed',
        deadLetters: letters.length > 0 ? new Map([['invalid_json', letters.length]]) : new Map(),
        rows: new Map([['copy', bad.length - letters.length]]),
      });
      expect(await offsetsIn('dead_letters')).toEqual(letters);
      expect(await offsetsIn('records')).toEqual(where(bad, false));
      expect(await sink.positions([topic])).toMatchObject([{ topic, partition: 0, offset: BigInt(bad.length) }]);
    }),
    { seed: 1, numRuns: 40, examples: [[[true]], [[true, true, true]], [[false, true]], [[true, false]]] },
  );
});

test('a dead letter has the record byte for byte, the reason, and words that do not quote it', async () => {
  const key = Buffer.from('the key');
  const value = Buffer.from('{"secret": nonsense}');
  const headers = [{ key: 'h', value: Buffer.from([0, 255]) }];
  const records = [aRecord(0n, { key, value, headers, timestamp: 1_700_000_000_123n })];
  await sink.write({ topic, partition: 0, expectedOffset: 0n, nextOffset: 1n, records: recordsOf(records) });
  const [letter] = await query(`SELECT * FROM ${schema}.dead_letters WHERE topic = $1`, [topic]);
  expect(letter).toMatchObject({ group_id: 'group', partition: 0, offset: '0', key, value, reason: 'invalid_json' });
  expect(letter).toMatchObject({
    timestamp: new Date(1_700_000_000_123),
    headers: [{ key: 'h', value: { base64: 'AP8=' } }],
  });
  expect(letter?.['error']).toContain('22P02');
  expect(letter?.['error']).not.toContain('nonsense');
});

test('what is known to be wrong before PostgreSQL sees it and what PostgreSQL refuses are dead letters of one transaction', async () => {
  const records = [
    aRecord(0n, { value: Buffer.from('{}') }),
    aRecord(1n, { key: Buffer.from([255]) }),
    aRecord(2n, { value: Buffer.from('{poison') }),
    aRecord(3n, { value: Buffer.from([34, 255, 34]) }),
    aRecord(4n, { value: null }),
  ];
  const outcome = await sink.write({
    topic,
    partition: 0,
    expectedOffset: 0n,
    nextOffset: 5n,
    records: recordsOf(records),
  });
  const reasons = new Map([
    ['key_not_text', 1],
    ['invalid_json', 1],
    ['invalid_utf8', 1],
  ]);
  expect(outcome).toMatchObject({ deadLetters: reasons, rows: new Map([['copy', 2]]) });
  expect(await offsetsIn('records')).toEqual([0, 4]);
  expect(await offsetsIn('dead_letters')).toEqual([1, 2, 3]);
});

test('a constraint that is deferred to COMMIT still names its row', async () => {
  const { sink: constrained, schema: own } = openStore();
  await constrained.migrate();
  await query(`ALTER TABLE ${own}.records ADD CONSTRAINT once UNIQUE (key) DEFERRABLE INITIALLY DEFERRED`);
  await constrained.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
  const records = ['a', 'b', 'a', 'c'].map((key, nth) => aRecord(BigInt(nth), { key: Buffer.from(key) }));
  const outcome = await constrained.write({
    topic,
    partition: 0,
    expectedOffset: 0n,
    nextOffset: 4n,
    records: recordsOf(records),
  });
  expect(outcome).toMatchObject({ deadLetters: new Map([['rejected_by_database', 1]]), rows: new Map([['copy', 3]]) });
  expect(await query(`SELECT "offset" FROM ${own}.dead_letters`)).toEqual([{ offset: '2' }]);
});

test('a large batch with one poison row is written, with its dead letter', async () => {
  const values = Array.from({ length: 20_000 }, (_, place) => (place === 12_345 ? '{poison' : '{}'));
  expect(await sink.write(aRequest(topic, 0n, values))).toMatchObject({ rows: new Map([['copy', 19_999]]) });
  expect(await offsetsIn('dead_letters')).toEqual([12_345]);
  expect(await query(`SELECT count(*)::int AS rows FROM ${schema}.records WHERE topic = $1`, [topic])).toEqual([
    { rows: 19_999 },
  ]);
});

describe('nothing is written, neither rows nor dead letters nor the offset', () => {
  const unchanged = async () => {
    expect(await offsetsIn('records')).toEqual([]);
    expect(await offsetsIn('dead_letters')).toEqual([]);
    expect(await sink.positions([topic])).toMatchObject([{ topic, partition: 0, offset: 0n }]);
  };

  test('when the dead letters would be too many', async () => {
    const strict = openStore({ schema, settings: { deadLetters: { maxRatio: 0.001 } } }).sink;
    const writing = strict.write(aRequest(topic, 0n, ['{}', '{poison', '{poison']));
    await expect(writing).rejects.toMatchObject({ name: 'FatalError', code: 'TOO_MANY_DEAD_LETTERS' });
    await unchanged();
  });

  test('when the topic for dead letters does not take them', async () => {
    const deadLetterTopic = async () => {
      throw new OutageError('the brokers are away');
    };
    const { sink: telling } = openStore({ schema, deadLetterTopic, settings: { deadLetters: { to: 'both' } } });
    await expect(telling.write(aRequest(topic, 0n, ['{}', '{poison']))).rejects.toMatchObject({ name: 'OutageError' });
    await unchanged();
  });

  test('when the connection ends before COMMIT', async () => {
    const deadLetterTopic = async () => {
      await query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%${schema}%'`,
      );
    };
    const { sink: telling } = openStore({ schema, deadLetterTopic, settings: { deadLetters: { to: 'both' } } });
    await expect(telling.write(aRequest(topic, 0n, ['{}', '{poison']))).rejects.toMatchObject({ name: 'OutageError' });
    await unchanged();
  });

  test('when a record is in the table already, as a row or as a dead letter', async () => {
    await query(`INSERT INTO ${schema}.records (topic, partition, "offset", headers) VALUES ($1, 0, 1, '[]')`, [topic]);
    for (const values of [
      ['{}', '{}'],
      ['{poison', '{}'],
    ]) {
      const writing = sink.write(aRequest(topic, 0n, values));
      await expect(writing).rejects.toMatchObject({ name: 'FatalError', code: 'RECORD_ALREADY_WRITTEN' });
    }
    await query(`DELETE FROM ${schema}.records WHERE topic = $1`, [topic]);
    await unchanged();
    await query(
      `INSERT INTO ${schema}.dead_letters (group_id, topic, partition, "offset", headers, reason, error) VALUES ('group', $1, 0, 0, '[]', '', '')`,
      [topic],
    );
    const writing = sink.write(aRequest(topic, 0n, ['{poison', '{}']));
    await expect(writing).rejects.toMatchObject({ name: 'FatalError', code: 'RECORD_ALREADY_WRITTEN' });
    await query(`DELETE FROM ${schema}.dead_letters WHERE topic = $1`, [topic]);
    await unchanged();
  });
});

test('dead letters that go to a topic only are sent once before the offset moves, and are no rows', async () => {
  const sent: DeadLetter[] = [];
  const offsets: unknown[] = [];
  const deadLetterTopic = async (letters: readonly DeadLetter[]) => {
    sent.push(...letters);
    offsets.push(...(await sink.positions([topic])));
  };
  const { sink: telling } = openStore({ schema, deadLetterTopic, settings: { deadLetters: { to: 'topic' } } });
  await telling.write(aRequest(topic, 0n, ['{}', '{poison', '{}']));
  expect(sent).toMatchObject([
    { groupId: 'group', topic, partition: 0, reason: 'invalid_json', record: { offset: 1n } },
  ]);
  expect(offsets).toMatchObject([{ topic, partition: 0, offset: 0n }]);
  expect(await offsetsIn('dead_letters')).toEqual([]);
  expect(await sink.positions([topic])).toMatchObject([{ topic, partition: 0, offset: 3n }]);
});
