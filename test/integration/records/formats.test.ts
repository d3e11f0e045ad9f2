import { describe, expect, test } from '@jest/globals';
import { FieldReaders } from '../../../app/formats/field-readers.ts';
import { recordDecoders } from '../../../app/formats/record-decoders.ts';
import type { RegisteredSchema, Schemas } from '../../../app/formats/registry/schemas.ts';
import type { FormatName, TopicFormats } from '../../../settings/sections/formats.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { openStore } from '../store/open-store.ts';
import { capturedRecords, capturedSchemas, sourceTable } from '../tables/captures.ts';
import { type KeyedRecord, keyedRequest } from '../tables/open-keyed.ts';

const JSON_SCHEMA: RegisteredSchema = { id: 7, type: 'JSON', text: '{"type":"object"}', references: [] };
const SCHEMAS: Schemas = { of: (id) => (id === 7 ? JSON_SCHEMA : undefined), fetch: async () => undefined };

const registered = (json: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.from(json)]);

interface Given {
  readonly value: FormatName | readonly FormatName[];
  readonly key?: FormatName;
  readonly keyEncoding?: 'text' | 'base64';
  readonly schemas?: Schemas;
}

/** What `records` has of some records, with values as text, and the dead letters. */
async function stored({ value, key, keyEncoding = 'text', schemas = SCHEMAS }: Given, records: readonly KeyedRecord[]) {
  const [topic, schema] = [randomName('topic'), randomName('schema')];
  const formats: TopicFormats = { value: [value].flat(), key: key === undefined ? undefined : [key] };
  const { sink } = openStore({
    schema,
    settings: { kafka: { topics: [topic] }, records: { keyEncoding }, deadLetters: { maxRatio: 1 } },
    decoderOf: recordDecoders(new FieldReaders(() => formats, schemas)),
  });
  await sink.migrate();
  await sink.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
  await sink.write(keyedRequest(topic, 0n, records));
  return {
    rows: await query(`SELECT key, value::text FROM ${schema}.records ORDER BY "offset"`),
    letters: await query(
      `SELECT "offset"::int AS at, reason, error, encode(value, 'base64') AS value FROM ${schema}.dead_letters ORDER BY "offset"`,
    ),
  };
}

describe('records takes values of any format as jsonb:', () => {
  test('text as a JSON string', async () => {
    const values = ['grün', '', 'a "b"\t\\', Buffer.from([0x66, 0xff]), 'a\0b'];
    const { rows, letters } = await stored(
      { value: 'text' },
      [...values, null].map((value) => ({ value })),
    );
    expect(rows.map((row) => row['value'])).toEqual(['"grün"', '""', '"a \\"b\\"\\t\\\\"', null]);
    expect(letters).toEqual([
      { at: 3, reason: 'invalid_utf8', error: 'its value is not UTF-8', value: 'Zv8=' },
      { at: 4, reason: 'nul_character', error: expect.any(String), value: 'YQBi' },
    ]);
  });

  test('bytes as base64', async () => {
    const { rows } = await stored({ value: 'bytes' }, [{ value: Buffer.from([0, 0xff]) }, { value: Buffer.alloc(0) }]);
    expect(rows.map((row) => row['value'])).toEqual(['"AP8="', '""']);
  });

  test('JSON behind a schema id, beside JSON without one, as the topic changed its format', async () => {
    const values = [registered('{"a": 1}'), '{"a": 2}', registered('{"a"'), '{"a"'];
    const { rows, letters } = await stored(
      { value: ['registry', 'json'] },
      values.map((value) => ({ value })),
    );
    expect(rows.map((row) => row['value'])).toEqual(['{"a": 1}', '{"a": 2}']);
    expect(letters).toMatchObject([
      { at: 2, reason: 'invalid_json', value: registered('{"a"').toString('base64') },
      { at: 3, reason: 'invalid_json', error: 'its value is not JSON' },
    ]);
  });

  test('Avro as a whole, each field by its name', async () => {
    const records = capturedRecords('avro', 'orders');
    const { rows, letters } = await stored({ value: 'registry', key: 'registry', schemas: capturedSchemas() }, records);
    expect(letters).toEqual([]);
    expect(rows).toHaveLength(records.length);
    const [first] = rows;
    const { columns } = sourceTable('orders');
    expect(Object.keys(columns)).toEqual(
      expect.arrayContaining(Object.keys(JSON.parse(String(first?.['value'])).after)),
    );
    expect(JSON.parse(String(first?.['key']))).toEqual({ id: 1 });
  });
});

describe('keys of records are text:', () => {
  test('the content of a string, and all else as JSON', async () => {
    const keys = ['"a"', '5', '{"id": 1}', 'c', null];
    const { rows, letters } = await stored(
      { value: 'json', key: 'json' },
      keys.map((key) => ({ key, value: '1' })),
    );
    expect(rows.map((row) => row['key'])).toEqual(['a', '5', '{"id": 1}', null]);
    expect(letters).toMatchObject([{ at: 3, reason: 'invalid_json' }]);
  });

  test('base64 of their bytes where they are bytes, or where records.keyEncoding says so', async () => {
    const key = Buffer.from([0xff]);
    expect((await stored({ value: 'json', key: 'bytes' }, [{ key, value: '1' }])).rows).toMatchObject([
      { key: '/w==' },
    ]);
    const asSent = await stored({ value: 'json', key: 'json', keyEncoding: 'base64' }, [{ key: '"a"', value: '1' }]);
    expect(asSent.rows).toMatchObject([{ key: Buffer.from('"a"').toString('base64') }]);
  });

  test('a dead letter with a NUL', async () => {
    const { letters } = await stored({ value: 'json', key: 'json' }, [{ key: '"a\\u0000"', value: '1' }]);
    expect(letters).toMatchObject([{ at: 0, reason: 'key_not_text' }]);
  });
});

describe('garbage is a dead letter whose words name the cause:', () => {
  test.each<[string, FormatName, Buffer | string, string, RegExp]>([
    ['JSON in a topic of a registry', 'registry', '{"a":1}', 'undecodable', /begins with 0x7b.*is its format json\?/],
    ['four bytes', 'registry', Buffer.from([0, 0, 0, 1]), 'undecodable', /has 4 bytes/],
    ['an empty value', 'registry', Buffer.alloc(0), 'undecodable', /is empty/],
    ['AWS Glue', 'registry', Buffer.from([3, 0, 1, 2, 3, 4]), 'undecodable', /AWS Glue/],
    ['Apicurio', 'registry', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 7, 2]), 'undecodable', /Apicurio/],
    ['a GUID', 'registry', Buffer.alloc(20, 1), 'undecodable', /GUID/],
    [
      'Avro in a topic of JSON',
      'json',
      registered('{"a":1}'),
      'nul_character',
      /begins with 0x00.*is its format registry\?/,
    ],
  ])('%s', async (_, format, value, reason, error) => {
    const { rows, letters } = await stored({ value: format }, [{ value }]);
    expect(rows).toEqual([]);
    expect(letters).toEqual([
      {
        ...{ at: 0, reason, error: expect.stringMatching(error) },
        value: Buffer.from(value as string).toString('base64'),
      },
    ]);
  });
});
