import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ProducedRecord, SampleProducer } from '../../../../dev/orders/sample-producer.ts';
import { compareTables, loadExpected, unexpectedRows } from '../../../../dev/verdict/compare-tables.ts';
import type { Finding } from '../../../../dev/verdict/finding.ts';
import { withDatabase } from '../../stack/database.ts';
import { createTopic, kafkaClient } from '../../stack/kafka-client.ts';
import { startConsumer } from '../../stack/start-consumer.ts';
import { until } from '../../stack/until.ts';

const SEED = 5;
const PARTITIONS = 2;
const RECORDS = 300;
const POISON = 8;

let written: { schema: string; topic: string; group: string };
let produced: readonly ReturnType<typeof collect>[number][];

const collect = (producer: SampleProducer) => [...producer.records()];

beforeAll(async () => {
  const topic = await createTopic({ partitions: PARTITIONS });
  const producer = new SampleProducer({ kafka: kafkaClient(), topic, partitions: PARTITIONS }, SEED);
  await producer.connect();
  await producer.send(RECORDS);
  await producer.disconnect();
  produced = collect(producer);
  const consumer = await startConsumer({ topics: [topic], settings: { consumer: { maxValueBytes: 262_144 } } });
  written = { schema: consumer.schema, topic, group: consumer.groupId };
  await withDatabase(({ client }) =>
    until('all records to be written', async () => {
      const { rows } = await client.query<{ done: boolean }>(
        `SELECT (SELECT count(*) FROM ${consumer.schema}.records)
              + (SELECT count(*) FROM ${consumer.schema}.dead_letters) = ${RECORDS} AS done`,
      );
      return rows[0]?.done === true ? true : undefined;
    }),
  );
  consumer.kill('SIGTERM');
  await consumer.exited;
});

/** What the comparison finds after a change to the tables, which is undone afterwards. */
async function findingsAfter(change: string): Promise<readonly Finding[]> {
  return withDatabase(async ({ client }) => {
    await client.query(`BEGIN; SET LOCAL search_path TO ${written.schema}`);
    await client.query(change);
    await loadExpected(client, written.topic, produced);
    const findings = await compareTables(client, written);
    await client.query('ROLLBACK');
    return findings;
  });
}

const at = (wanted: (record: (typeof produced)[number]) => boolean): string => {
  const found = produced.find(wanted);
  return `partition = ${found?.partition} AND "offset" = ${found?.offset}`;
};
const good = (nth: number) => at((record) => record === produced.filter(({ reason, value }) => !reason && value)[nth]);
const details = (findings: readonly Finding[]): readonly string[] => findings.flatMap((finding) => finding.details);

describe('the comparison of the tables with what was produced', () => {
  test('is content with what the consumer wrote', async () => {
    const findings = await findingsAfter('SELECT 1');
    expect(findings.map(({ expected, found, isWell }) => [expected, found, isWell])).toEqual([
      [`${RECORDS - POISON}`, `${RECORDS - POISON}`, true],
      [`${POISON}`, `${POISON}`, true],
      ['0', '0', true],
    ]);
  });

  test.each<[string, () => string, RegExp]>([
    [
      'a missing record',
      () => `DELETE FROM records WHERE ${good(3)}`,
      /^1 missing in records; topic\/partition\/offset [^/]+\/\d\/\d+$/,
    ],
    ['another key', () => `UPDATE records SET key = key || 'x' WHERE ${good(3)}`, /^1 another key;/],
    [
      'a number that lost its last digit',
      () => `UPDATE records SET value = jsonb_set(value, '{orderId}', '9007199254740992') WHERE ${good(3)}`,
      /^1 another value;/,
    ],
    [
      'a JSON null in place of a tombstone',
      () => `UPDATE records SET value = 'null' WHERE value IS NULL`,
      /^1 another value;/,
    ],
    ['headers in another order', () => `UPDATE records SET headers = '[]' WHERE headers <> '[]'`, /other headers;/],
    [
      'a missing dead letter',
      () => `DELETE FROM dead_letters WHERE reason = 'key_not_text'`,
      /^1 missing in dead_letters \(expected as key_not_text\);/,
    ],
    [
      'another reason',
      () => `UPDATE dead_letters SET reason = 'invalid_json' WHERE reason = 'invalid_utf8'`,
      /^1 invalid_utf8 expected, but the reason is invalid_json;/,
    ],
    [
      'other bytes',
      () => `UPDATE dead_letters SET value = value || 'x' WHERE reason = 'invalid_utf8'`,
      /^1 other bytes;/,
    ],
    [
      'poison among the records',
      () => `INSERT INTO records (topic, partition, "offset", headers)
             SELECT topic, partition, "offset", '[]' FROM dead_letters WHERE reason = 'invalid_utf8'`,
      /^1 poison in records;/,
    ],
    [
      'a good record among the dead letters',
      () => `UPDATE dead_letters SET (partition, "offset") = (SELECT partition, "offset" FROM records WHERE ${good(3)})
             WHERE reason = 'invalid_utf8'`,
      /^1 good record in dead_letters;/,
    ],
  ])('finds %s', async (_, change, expected) => {
    const findings = await findingsAfter(change());
    expect(findings.some(({ isWell }) => !isWell)).toBe(true);
    expect(details(findings)).toContainEqual(expect.stringMatching(expected));
  });

  test('counts all differences and gives five examples', async () => {
    const [records] = await findingsAfter('DELETE FROM records WHERE partition = 0');
    expect(records?.details[0]).toMatch(
      /^\d{2,} missing in records; topic\/partition\/offset ([^/]+\/0\/\d+, ){5}\.\.\.$/,
    );
  });
});

const record = (partition: number, offset: bigint): ProducedRecord => ({
  partition,
  offset,
  key: null,
  value: null,
  headers: [],
  reason: undefined,
});

test('finds rows at offsets, in partitions and of topics that nobody produced to', () =>
  withDatabase(async ({ client, schema }) => {
    await client.query(`
      CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.records (topic text, partition int, "offset" bigint);
      CREATE TABLE ${schema}.dead_letters (group_id text, topic text, partition int, "offset" bigint);
      INSERT INTO ${schema}.records VALUES ('t', 0, 0), ('t', 0, 2), ('t', 1, 0), ('other', 0, 0);
      INSERT INTO ${schema}.dead_letters VALUES ('g', 't', 0, 1), ('g', 't', 0, 3), ('another', 't', 0, 4)`);
    await loadExpected(client, 't', [record(0, 0n), record(0, 1n)]);
    await loadExpected(client, 'u', [record(0, 2n)]);
    expect(await unexpectedRows(client, { schema, group: 'g' })).toMatchObject({
      isWell: false,
      found: '4',
      details: ['other/0/0', 't/0/2', 't/0/3', 't/1/0'],
    });
  }));
