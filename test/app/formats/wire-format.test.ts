import { describe, expect, test } from '@jest/globals';
import { schemaIdOf, withoutSchemaId } from '../../../app/formats/wire-format.ts';
import { packRecords } from '../../../app/records/pack-records.ts';
import type { RecordHeader } from '../../../app/records/record.ts';
import { RecordCursor } from '../../../app/records/record-batch.ts';
import { wordsOfJson } from '../../../app/records/schema-prefix.ts';
import { aRecord } from '../stream/records.ts';

interface Given {
  readonly value?: Buffer | null;
  readonly key?: Buffer | null;
  readonly headers?: readonly RecordHeader[];
}

const at = (given: Given): RecordCursor => new RecordCursor().read(packRecords([aRecord(0n, given)]), 0);
const bytes = (...given: readonly number[]): Buffer => Buffer.from(given);
const header = (key: string): RecordHeader => ({ key, value: Buffer.from('x') });

const REGISTERED = bytes(0, 0, 0, 1, 2, 0x06, 0x61);

describe('a schema id', () => {
  test('is the four bytes behind a byte of 0, of values and of keys', () => {
    expect(schemaIdOf(at({ value: REGISTERED }), 'value')).toBe(258);
    expect(schemaIdOf(at({ key: bytes(0, 0xff, 0xff, 0xff, 0xff) }), 'key')).toBe(4_294_967_295);
  });

  test('is there under headers of other producers and of the other side', () => {
    const headers = [header('traceparent'), header('apicurio.key.contentId'), header('__key_schema_id')];
    expect(schemaIdOf(at({ value: REGISTERED, headers }), 'value')).toBe(258);
    expect(schemaIdOf(at({ key: REGISTERED, headers }), 'key')).toBe(0);
  });
});

describe('bytes without a schema id are never asked about, and the words say what they look like:', () => {
  const APICURIO = /^its value has an id as Apicurio's older clients write it.* as-confluent=true/;
  const GUID = /^its value (has a schema by its GUID|begins with 0x01)/;

  test.each<[string, Given, RegExp | string]>([
    [
      'JSON',
      { value: Buffer.from('{"id":1}') },
      'its value begins with 0x7b, not with a schema id: is its format json?',
    ],
    ['an empty value', { value: bytes() }, 'its value is empty, and has no schema id'],
    ['four bytes', { value: bytes(0, 0, 0, 1) }, 'its value has 4 bytes, and a schema id alone takes 5'],
    ['one byte', { value: bytes(0) }, 'its value has 1 bytes, and a schema id alone takes 5'],
    ['the id 0', { value: bytes(0, 0, 0, 0, 0, 2) }, 'its value begins with the schema id 0, which no registry gives'],
    ['an id of 8 bytes, as Apicurio writes', { value: bytes(0, 0, 0, 0, 0, 0, 0, 0, 7, 2) }, APICURIO],
    ['a header of Apicurio', { value: REGISTERED, headers: [header('apicurio.value.globalId')] }, APICURIO],
    ['the other one', { value: bytes(2, 2), headers: [header('apicurio.value.contentId')] }, APICURIO],
    ['AWS Glue', { value: bytes(3, 0, 1, 2, 3) }, 'its value begins with 0x03, as AWS Glue writes, which is not read'],
    ['a GUID', { value: bytes(1, ...Array.from({ length: 16 }, () => 7)) }, GUID],
    ['a header with a GUID', { value: REGISTERED, headers: [header('__value_schema_id')] }, GUID],
  ])('%s', (_, given, words) => {
    const record = at(given);
    expect(schemaIdOf(record, 'value')).toBe(0);
    expect(withoutSchemaId(record, 'value')).toEqual(typeof words === 'string' ? words : expect.stringMatching(words));
  });

  test('a key, by its own words', () => {
    const record = at({ key: Buffer.from('k'), value: REGISTERED });
    expect(schemaIdOf(record, 'key')).toBe(0);
    expect(withoutSchemaId(record, 'key')).toBe('its key begins with 0x6b, not with a schema id: is its format json?');
  });
});

test('a value that is no JSON and begins as with a schema id is named as that', () => {
  const padded = Buffer.concat([bytes(0xff), REGISTERED, bytes(0xff)]);
  expect(wordsOfJson(padded, 1, padded.length - 1)).toMatch(/begins with 0x00.*is its format registry\?$/);
  expect(wordsOfJson(bytes(0, 0, 0, 1), 0, 4)).toBeUndefined();
  expect(wordsOfJson(Buffer.from('{oops'), 0, 5)).toBeUndefined();
});
