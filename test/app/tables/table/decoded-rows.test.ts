import { describe, expect, test } from '@jest/globals';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import type { TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import type { TopicFormats } from '../../../../settings/sections/formats.ts';
import { column, type Kind, linesOf, mappingOf, ofKey, registered, SCHEMAS, WHOLE } from './decoded-lines.ts';

describe('a value that is text', () => {
  const columns = [column('note', 'text', WHOLE), column('doc', 'json', WHOLE)];
  const note = (...values: readonly (Buffer | string)[]) =>
    linesOf(mappingOf(columns), { value: ['text'] }, ...values.map((value) => ({ value })));

  test('is the text of a column, and a JSON string in json, whatever is in it', () => {
    expect(note('grün', '', 'a\tb\\c\n"d"', '{"id":1}')).toEqual([
      'grün\t"grün"',
      '\t""',
      'a\\tb\\\\c\\n"d"\t"a\\\\tb\\\\\\\\c\\\\n\\\\"d\\\\""',
      '{"id":1}\t"{\\\\"id\\\\":1}"',
    ]);
  });

  test('is a dead letter with a NUL, and where it is no UTF-8', () => {
    expect(note('a\0b', Buffer.from([0x66, 0xff]))).toEqual([
      expect.stringMatching(/^nul_character: "note"/),
      'invalid_utf8: its value is not UTF-8',
    ]);
  });

  test('has no fields', () => {
    expect(linesOf(mappingOf([column('id', 'integer')]), { value: ['text'] }, { value: '{"id":1}' })).toEqual([
      'value_does_not_fit: its value is no JSON object, and columns take fields of it',
    ]);
  });

  test('becomes a number, a date or bytes by the rules of a JSON string', () => {
    const of = (kind: Kind, value: string) =>
      linesOf(mappingOf([column('c', kind, WHOLE)]), { value: ['text'] }, { value });
    expect([of('integer', '12'), of('date', '2026-07-15'), of('bytea', 'AP8=')].flat()).toEqual([
      ...['12', '2026-07-15', '\\\\x00ff'],
    ]);
    expect(of('timestamp', 'now')).toEqual([expect.stringMatching(/^value_does_not_fit: "c"/)]);
  });
});

test('a value that is bytes goes into bytea as it is, and is base64 elsewhere', () => {
  const columns = [column('raw', 'bytea', WHOLE), column('note', 'text', WHOLE), column('doc', 'json', WHOLE)];
  const values = [Buffer.from([0, 0xff]), Buffer.alloc(0), null].map((value) => ({ value }));
  expect(linesOf(mappingOf(columns), { value: ['bytes'] }, ...values)).toEqual([
    '\\\\x00ff\tAP8=\t"AP8="',
    '\\\\x\t\t""',
    '\\N\t\\N\t\\N',
  ]);
});

describe('a value behind the id of a JSON Schema', () => {
  const columns = [column('id', 'integer'), column('at', 'timestamp')];
  const at = (...values: readonly (Buffer | string)[]) =>
    linesOf(mappingOf(columns), { value: ['registry'] }, ...values.map((value) => ({ value })));

  test('is JSON that has units, another schema other ones', () => {
    const row = '{"id":1,"at":1784121255123456}';
    expect(at(registered(7, row), registered(8, row), registered(7, row))).toEqual([
      '1\tJ2461237 13:14:15.123456+00',
      expect.stringMatching(/^value_does_not_fit: "at"/),
      '1\tJ2461237 13:14:15.123456+00',
    ]);
  });

  test('that is no JSON is a dead letter, and so is one whose schema is of no use', () => {
    expect(at(registered(7, '{"id"'), registered(9, '{}'), registered(10, '{}'), registered(11, ''))).toEqual([
      'invalid_json: behind the id of schema 7, its value is not the JSON that the schema is about',
      'unknown_schema: the registry has no schema 9',
      'undecodable: its value is written by schema 10, which is no JSON Schema',
      expect.stringMatching(/^undecodable: its schema 11 is no Protobuf schema: ./),
    ]);
  });

  test('stays ahead of the stored offset as long as the schema was not fetched', () => {
    expect(() => at(registered(12, '{}'))).toThrow(OutageError);
  });

  test('is none where there is JSON, and the words ask for the format', () => {
    expect(at('{"id":1}')).toEqual([
      'undecodable: its value begins with 0x7b, not with a schema id: is its format json?',
    ]);
  });
});

test('a value with a schema id in a topic of JSON is a dead letter whose words ask for the format', () => {
  expect(linesOf(mappingOf([column('id', 'integer')]), {}, { value: registered(7, '{"id":1}') })).toEqual([
    'nul_character: its value begins with 0x00, as one with a schema id does: is its format registry?',
  ]);
});

describe('a topic that changed its format', () => {
  const columns = [column('id', 'integer'), column('at', 'timestamp')];
  const mixed = (...values: readonly (Buffer | string)[]) =>
    linesOf(mappingOf(columns), { value: ['registry', 'json'] }, ...values.map((value) => ({ value })));

  test('has both, record by record', () => {
    expect(mixed('{"id":1,"at":"2026-07-15"}', registered(7, '{"id":2,"at":0}'), '{"id":3,"at":"2026-07-16"}')).toEqual(
      ['1\t2026-07-15', '2\tJ2440588 00:00:00+00', '3\t2026-07-16'],
    );
  });

  test('has dead letters of both', () => {
    expect(mixed('{oops', '', 'null', registered(9, '{}'))).toEqual([
      'invalid_json: its value is not JSON',
      'invalid_json: its value is not JSON',
      'value_does_not_fit: its value is no JSON object, and columns take fields of it',
      'unknown_schema: the registry has no schema 9',
    ]);
  });

  test('names the foreign format of a header where a value is no JSON', () => {
    const headers = [{ key: 'apicurio.value.contentId', value: Buffer.alloc(8) }];
    const formats = { value: ['registry', 'json'] } as const;
    const [avro, json] = linesOf(
      mappingOf(columns),
      formats,
      { value: Buffer.from([2, 4]), headers },
      { value: '{"id":1}', headers },
    );
    expect([avro, json]).toEqual([expect.stringMatching(/^undecodable: its value has an id as Apicurio/), '1\t\\N']);
  });
});

describe('a key', () => {
  const columns = [column('id', 'integer'), column('whole', 'text', ofKey()), column('part', 'text', ofKey('name'))];
  const keyed = (formats: Partial<TopicFormats>, ...keys: readonly (Buffer | string | null)[]) =>
    linesOf(mappingOf(columns), formats, ...keys.map((key) => ({ key, value: '{"id":1}' })));

  test('by a schema is decoded, as a whole and in parts', () => {
    expect(keyed({ key: ['registry'] }, registered(7, '{"name":"a"}'), registered(8, '"b"'), null)).toEqual([
      '1\t{"name":"a"}\ta',
      '1\tb\t\\N',
      '1\t\\N\t\\N',
    ]);
  });

  test('that is JSON is a value of JSON, not its bytes', () => {
    expect(keyed({ key: ['json'] }, '"a"', '{"name":"b"}', 'c')).toEqual([
      '1\ta\t\\N',
      '1\t{"name":"b"}\tb',
      'invalid_json: its key is not JSON, and columns take fields of it',
    ]);
  });

  test('that is bytes is base64', () => {
    expect(keyed({ key: ['bytes'] }, Buffer.from([0xff]))).toEqual(['1\t/w==\t\\N']);
  });

  test.each<[string, Buffer | string, string]>([
    [
      'begins with no schema id',
      'k',
      'undecodable: its key begins with 0x6b, not with a schema id: is its format json?',
    ],
    ['has an unknown schema', registered(9, ''), 'unknown_schema: the registry has no schema 9'],
  ])('that %s is a dead letter where columns take it', (_, key, expected) => {
    expect(keyed({ key: ['registry'] }, key)).toEqual([expected]);
    expect(linesOf(mappingOf([column('id', 'integer')]), { key: ['registry'] }, { key, value: '{"id":1}' })).toEqual([
      '1',
    ]);
  });

  describe('says what a tombstone deletes', () => {
    const one = mappingOf([column('id', 'integer'), column('name', 'text')], ['id']);
    const two = mappingOf([column('id', 'integer'), column('name', 'text')], ['id', 'name']);
    const deleted = (mapping: TableMapping, key: Buffer | string, format: 'registry' | 'json' | 'bytes' = 'registry') =>
      linesOf(mapping, { key: [format] }, { key, value: null });

    test('by the names of its fields, or as a whole', () => {
      expect(deleted(one, registered(7, '{"id":5}'))).toEqual(['5\t\\N d']);
      expect(deleted(one, registered(8, '5'))).toEqual(['5\t\\N d']);
      expect(deleted(two, registered(7, '{"id":5,"name":"x"}'))).toEqual(['5\tx d']);
      expect(deleted(one, '5', 'json')).toEqual(['5\t\\N d']);
    });

    test('and is a dead letter where it does not', () => {
      expect(deleted(two, registered(8, '5'))).toEqual([expect.stringMatching(/^missing_value: "id"/)]);
      expect(deleted(one, registered(7, '{"other":5}'))).toEqual([expect.stringMatching(/^missing_value: "id"/)]);
      expect(deleted(one, 'k')).toEqual([
        'undecodable: its key begins with 0x6b, not with a schema id: is its format json?',
      ]);
    });
  });

  test('has the units of the schema of the key', () => {
    const at = column('at', 'timestamp', ofKey('at'));
    expect(linesOf(mappingOf([at]), { key: ['registry'] }, { key: registered(7, '{"at":0}'), value: null })).toEqual([
      'J2440588 00:00:00+00',
    ]);
  });
});

describe('a value behind the id of a schema of Protobuf', () => {
  const columns = [column('id', 'integer'), column('at', 'timestamp'), column('line', 'json')];
  const rows = (...hex: readonly string[]) =>
    linesOf(
      mappingOf(columns),
      { value: ['registry'] },
      ...hex.map((each) => ({ value: Buffer.from(`000000000d${each}`, 'hex') })),
    );

  test('is the message that its indexes name, with the imports of the schema', () => {
    expect(rows('00080112060880a0be81061a030a0178', '0400000801', '0202480510c801', '0400020801')).toEqual([
      '1\t2021-02-19T10:16:32Z\t{"sku":"x"}',
      '1\t\\N\t\\N',
      expect.stringMatching(/^value_does_not_fit: "at"/),
      'undecodable: schema 13 has no message of the index 0,1',
    ]);
  });

  test('is a dead letter without indexes, with one that the schema does not have, and with bytes of another message', () => {
    expect(rows('', '02', '0206', '000a0178', '00')).toEqual([
      'undecodable: behind the id of schema 13 there are no indexes of a message',
      'undecodable: behind the id of schema 13 there are no indexes of a message',
      'undecodable: schema 13 has no message of the index 3',
      'undecodable: its bytes are no Order of the schema 13: a field has bytes that its type cannot have',
      '0\t\\N\t\\N',
    ]);
  });

  test('is one where the schema does not say what a field is', () => {
    const schema = {
      id: 14,
      type: 'PROTOBUF',
      text: 'syntax = "proto3"; message M { N id = 1; }',
      references: [],
    } as const;
    SCHEMAS.set(14, schema);
    const value = Buffer.from('000000000e00', 'hex');
    expect(linesOf(mappingOf(columns), { value: ['registry'] }, { value })).toEqual([
      expect.stringMatching(/^undecodable: its schema 14 is no Protobuf schema: no such Type or Enum 'N'/),
    ]);
  });
});
