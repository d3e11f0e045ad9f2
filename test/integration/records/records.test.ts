import { beforeAll, describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const TIMESTAMP = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
const DEEP = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

/** Records that belong into `records`, in the order in which they are produced. */
const GOOD = {
  number: { key: 'number', value: '{"big": 12345678901234567890.123456789, "small": 1e-100}' },
  duplicate: { key: 'duplicate', value: '{"a": 1,   "a": 2}' },
  unicode: { key: 'grün ✓', value: '"grün \\u2713 𝄞"' },
  scalar: { key: null, value: '42' },
  jsonNull: { key: 'null', value: 'null' },
  tombstone: { key: 'tombstone', value: null },
  emptyKey: { key: '', value: '{}' },
  largest: { key: 'largest', value: `"${'x'.repeat(998)}"` },
  headers: {
    key: 'headers',
    value: '{}',
    headers: { zebra: 'z', '1': ['first', 'second'], binary: Buffer.from([0, 255]), apple: 'a' },
    timestamp: TIMESTAMP,
  },
} satisfies Record<string, TestRecord>;

/** Records that do not, each with the reason that has to be given. */
const POISON = {
  invalid_json: [
    { key: 'p', value: '{oops' },
    { key: 'p', value: '' },
    { key: 'p', value: '{"a":1} trailing' },
  ],
  nul_character: [
    { key: 'p', value: '{"a":"\\u0000"}' },
    { key: 'p', value: '{"a":"\0"}' },
  ],
  invalid_utf8: [{ key: 'p', value: Buffer.from([0x22, 0xc3, 0x28, 0x22]) }],
  number_out_of_range: [{ key: 'p', value: '1e200000' }],
  nesting_too_deep: [{ key: 'p', value: DEEP }],
  value_too_large: [{ key: 'p', value: `"${'x'.repeat(999)}"` }],
  key_not_text: [
    { key: Buffer.from([0xff]), value: '{}' },
    { key: 'a\0b', value: '{}' },
  ],
} as const;

/** `largest` and `value_too_large` need a small limit, `nesting_too_deep` a large one: they go to a topic each. */
const isSmall = (reason: string) => reason !== 'nesting_too_deep';
const smallPoison = Object.entries(POISON).filter(([reason]) => isSmall(reason));
const records: TestRecord[] = [...Object.values(GOOD), ...smallPoison.flatMap(([, poison]) => [...poison])];

let consumer: StartedConsumer;
let topic: string;

beforeAll(async () => {
  topic = await createTopic();
  await produce(topic, records);
  consumer = await startConsumer({ topics: [topic], settings: { consumer: { maxValueBytes: 1_000 } } });
  await awaitEachOnce({ schema: consumer.schema, topic, records: records.length });
});

const rowOf = async (key: string | null, columns: string) => {
  const [row] = await query(`SELECT ${columns} FROM ${consumer.schema}.records WHERE key IS NOT DISTINCT FROM $1`, [
    key,
  ]);
  return row;
};

describe('a row of records', () => {
  test('holds numbers of any size as they were produced', async () => {
    const row = await rowOf('number', `value->>'big' AS big, (value->>'small')::numeric = 1e-100 AS small`);
    expect(row).toEqual({ big: '12345678901234567890.123456789', small: true });
  });

  test('holds text beyond the basic plane and escapes', async () => {
    expect(await rowOf('grün ✓', 'value')).toEqual({ value: 'grün ✓ 𝄞' });
  });

  test('keeps JSON null apart from a tombstone', async () => {
    expect(await rowOf('null', 'value IS NULL AS tombstone, value::text AS value')).toEqual({
      tombstone: false,
      value: 'null',
    });
    expect(await rowOf('tombstone', 'value IS NULL AS tombstone')).toEqual({ tombstone: true });
  });

  test('keeps an empty key apart from none', async () => {
    expect(await rowOf('', 'value')).toEqual({ value: {} });
    expect(await rowOf(null, 'value')).toEqual({ value: 42 });
  });

  test('keeps headers in order, with their repetitions and their bytes', async () => {
    expect(await rowOf('headers', 'headers')).toEqual({
      headers: [
        { key: '1', value: 'first' },
        { key: '1', value: 'second' },
        { key: 'zebra', value: 'z' },
        { key: 'binary', value: { base64: 'AP8=' } },
        { key: 'apple', value: 'a' },
      ],
    });
  });

  test('keeps the timestamp to the millisecond', async () => {
    expect(await rowOf('headers', 'timestamp')).toEqual({ timestamp: new Date(TIMESTAMP) });
  });

  test('takes a value of exactly the largest size', async () => {
    expect(await rowOf('largest', 'length(value::text)::int AS length')).toEqual({ length: 1_000 });
  });
});

describe('a dead letter', () => {
  test.each(smallPoison)(
    '%s: every such record is there with its key and value, byte for byte',
    async (reason, poison) => {
      const found = await query<{ key: Buffer; value: Buffer }>(
        `SELECT key, value FROM ${consumer.schema}.dead_letters WHERE reason = $1 ORDER BY "offset"`,
        [reason],
      );
      const expected = poison.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }));
      expect(found).toEqual(expected);
    },
  );

  test('says what PostgreSQL said, and when', async () => {
    const [row] = await query(
      `SELECT group_id, error, failed_at > now() - interval '10 minutes' AS recent FROM ${consumer.schema}.dead_letters
       WHERE reason = 'invalid_json' LIMIT 1`,
    );
    expect(row).toEqual({ group_id: consumer.groupId, error: expect.stringContaining('SQLSTATE 22P02'), recent: true });
  });

  test('is counted by its topic and reason as often as it is in the table, and never quoted in the log', async () => {
    const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
    const lines = scrape.matchAll(/^consumer_dead_letters_total\{.*reason="(.*)",topic="(.*)"\} ([1-9]\d*)$/gm);
    const counted = [...lines].map(([, reason, of, count]) => ({ topic: of, reason, count: Number(count) }));
    const stored = await query(
      `SELECT topic, reason, count(*)::int AS count FROM ${consumer.schema}.dead_letters GROUP BY 1, 2`,
    );
    expect(stored).toHaveLength(smallPoison.length);
    expect(new Set(counted)).toEqual(new Set(stored));
    expect(consumer.logs.all.join('\n')).not.toContain('oops');
  });
});

test('a value nested too deep for PostgreSQL is a dead letter and the partition goes on', async () => {
  const deepTopic = await createTopic();
  await produce(deepTopic, [{ value: '1' }, ...POISON.nesting_too_deep, { value: '2' }]);
  const { schema } = await startConsumer({ topics: [deepTopic] });
  await awaitEachOnce({ schema, topic: deepTopic, records: 3 });
  expect(await query(`SELECT reason FROM ${schema}.dead_letters`)).toEqual([{ reason: 'nesting_too_deep' }]);
});

longTest('thousands of poison records in a row do not hold up the partition', async () => {
  const poisonTopic = await createTopic();
  const many = Array.from({ length: 5_000 }, (_, index) => ({
    value: index % 50 === 7 ? '{}' : `{"a":"\\u0000${index}`,
  }));
  await produce(poisonTopic, many);
  const { schema } = await startConsumer({ topics: [poisonTopic], settings: { deadLetters: { maxRatio: 1 } } });
  await awaitEachOnce({ schema, topic: poisonTopic, records: many.length });
  expect(await query(`SELECT count(*)::int AS rows FROM ${schema}.records`)).toEqual([{ rows: 100 }]);
});

test('with records.keyEncoding: base64 every key is stored, whatever its bytes', async () => {
  const keyTopic = await createTopic();
  await produce(keyTopic, [
    { key: Buffer.from([0xff, 0x00]), value: '1' },
    { key: 'text', value: '2' },
    { key: null, value: '3' },
  ]);
  const { schema } = await startConsumer({ topics: [keyTopic], settings: { records: { keyEncoding: 'base64' } } });
  await awaitEachOnce({ schema, topic: keyTopic, records: 3 });
  const keys = await query<{ key: string | null }>(`SELECT key FROM ${schema}.records ORDER BY "offset"`);
  expect(keys.map(({ key }) => key)).toEqual(['/wA=', 'dGV4dA==', null]);
});
