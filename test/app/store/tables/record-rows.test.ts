import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../../app/records/record.ts';
import { CopyBuffer } from '../../../../app/store/copy/copy-buffer.ts';
import { headersJson } from '../../../../app/store/copy/headers-json.ts';
import {
  type Admission,
  type DecodedRecord,
  encodeRecords,
  type RecordDecoder,
  reasonToRefuse,
} from '../../../../app/store/tables/record-rows.ts';
import { aRecord } from '../../stream/records.ts';

const records = [0n, 1n, 2n, 3n].map((offset) =>
  aRecord(offset, { value: Buffer.from(`"${'x'.repeat(Number(offset))}"`) }),
);

const ADMISSION = { maxValueBytes: Number.POSITIVE_INFINITY, keyEncoding: 'text' } as const;

const rowsOf = (of: typeof records) => encodeRecords({ topic: 'orders', partition: 7 }, recordsOf(of), ADMISSION).rows;

test('any part can be taken, and the parts make the whole', () => {
  const rows = rowsOf(records);
  expect(rows.length).toBe(4);
  expect(Buffer.concat([rows.part(0, 1), rows.part(1, 3), rows.part(3, 4)])).toEqual(rows.part(0, 4));
  expect(rows.part(2, 2)).toHaveLength(0);
});

test('a part is what its records alone would be', () => {
  const rows = rowsOf(records);
  expect(rows.part(1, 3)).toEqual(rowsOf(records.slice(1, 3)).part(0, 2));
});

const MAX = 100;
const TEXT = { maxValueBytes: MAX, keyEncoding: 'text' } as const;

test.each([
  ['text', Buffer.from('grün')],
  ['none', null],
  ['empty', Buffer.alloc(0)],
])('a key that is %s is admitted', (_, key) => {
  expect(reasonToRefuse(aRecord(0n, { key }), TEXT)).toBeNull();
});

test.each([
  ['is no UTF-8', Buffer.from([0xc3, 0x28])],
  ['holds a NUL', Buffer.from('a\0b')],
])('a key that %s is not text', (_, key) => {
  expect(reasonToRefuse(aRecord(0n, { key }), TEXT)).toBe('key_not_text');
});

test('a key that is not text is admitted where keys are stored as base64', () => {
  expect(reasonToRefuse(aRecord(0n, { key: Buffer.from([0xff]) }), { ...TEXT, keyEncoding: 'base64' })).toBeNull();
});

test.each([
  ['invalid_utf8', Buffer.from([0x22, 0xff, 0x22])],
  ['nul_character', Buffer.from('"a\0"')],
  ['value_too_large', Buffer.from(`"${'x'.repeat(MAX)}"`)],
])('%s is seen before PostgreSQL sees it', (reason, value) => {
  expect(reasonToRefuse(aRecord(0n, { value }), TEXT)).toBe(reason);
});

test('a value of exactly the largest size is admitted', () => {
  expect(reasonToRefuse(aRecord(0n, { value: Buffer.from(`"${'x'.repeat(MAX - 2)}"`) }), TEXT)).toBeNull();
});

test('whether a value is JSON is for PostgreSQL to say', () => {
  expect(reasonToRefuse(aRecord(0n, { value: Buffer.from('{oops') }), TEXT)).toBeNull();
});

test('a tombstone is admitted', () => {
  expect(reasonToRefuse(aRecord(0n, { value: null }), TEXT)).toBeNull();
});

test.each([
  [-1n, null],
  [0n, null],
  [9_224_318_015_999_999n, null],
  [9_224_318_016_000_000n, 'timestamp_out_of_range'],
  [-210_866_803_200_001n, 'timestamp_out_of_range'],
  [9_223_372_036_854_775_807n, 'timestamp_out_of_range'],
])('a timestamp of %s ms: %s', (timestamp, expected) => {
  expect(reasonToRefuse(aRecord(0n, { timestamp }), TEXT)).toBe(expected);
});

const parsed = (headers: Parameters<typeof headersJson>[0]) => JSON.parse(headersJson(headers));

test('headers keep their order and their repetitions', () => {
  const headers = ['2', 'b', '1', 'b'].map((key, index) => ({ key, value: Buffer.from(String(index)) }));
  expect(parsed(headers)).toEqual([
    { key: '2', value: '0' },
    { key: 'b', value: '1' },
    { key: '1', value: '2' },
    { key: 'b', value: '3' },
  ]);
});

test.each([
  ['text', Buffer.from('grün "quoted"'), 'grün "quoted"'],
  ['no UTF-8', Buffer.from([0xff, 0x00]), { base64: '/wA=' }],
  ['text with a NUL', Buffer.from('a\0'), { base64: 'YQA=' }],
  ['nothing', null, null],
  ['empty', Buffer.alloc(0), ''],
])('a value that is %s', (_, value, expected) => {
  expect(parsed([{ key: 'k', value }])).toEqual([{ key: 'k', value: expected }]);
});

test('a key with a NUL is kept as base64, since jsonb cannot hold it', () => {
  expect(parsed([{ key: 'a\0', value: null }])).toEqual([{ key: { base64: 'YQA=' }, value: null }]);
});

test('a key that is no UTF-8 is in base64, byte for byte, in its place among the others', () => {
  const headers = [
    { key: 'a', value: null },
    { key: Buffer.from([0x6b, 0xff]), value: Buffer.from('1') },
  ];
  expect(parsed(headers)).toEqual([
    { key: 'a', value: null },
    { key: { base64: 'a/8=' }, value: '1' },
  ]);
});

test('the headers of a row are the same JSON however many there are', () => {
  const headers = Array.from({ length: 2_500 }, (_, at) => ({
    key: `grün-${at}`,
    value: at % 3 ? null : Buffer.from('ü'),
  }));
  const [row] = [rowsOf([aRecord(0n, { headers, value: null })]).all];
  const json = Buffer.from(headersJson(headers));
  const at = row?.indexOf(json) ?? -1;
  expect(at).toBeGreaterThan(0);
  expect(row?.readInt32BE(at - 5)).toBe(json.length + 1);
});

test('no headers are an empty array', () => {
  expect(parsed([])).toEqual([]);
});

/** As {@link encodeRecords} is meant: each record as an object, field by field. */
function expectedRows(given: readonly StreamRecord[], admission: Admission): Buffer {
  const rows = new CopyBuffer(1);
  for (const { offset, timestamp, key, headers, value } of given.filter(
    (one) => reasonToRefuse(one, admission) === null,
  )) {
    rows.row(7);
    rows.text('orders');
    rows.int4(7);
    rows.int8(offset);
    rows.int8(timestamp === -1n ? null : (timestamp - 946_684_800_000n) * 1_000n);
    rows.bytes(key && (admission.keyEncoding === 'text' ? key : Buffer.from(key.toString('base64'))));
    rows.jsonb(headersJson(headers));
    if (value === null) {
      rows.null();
    } else {
      rows.jsonb(value.toString());
    }
  }
  return rows.slice(0, rows.end);
}

const someBytes = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(700, 'é')),
);
const someField = fc.option(someBytes, { nil: null });
const someTime = fc.oneof(
  fc.constantFrom(-1n, 0n, -1_000_000_000_000n, 9_224_318_015_999_999n, 9_224_318_016_000_000n, 2n ** 63n - 1n),
  fc.bigInt({ min: 1_600_000_000_000n, max: 1_900_000_000_000n }),
);
const someRecord = fc.record({
  timestamp: someTime,
  key: someField,
  value: someField,
  headers: fc.array(fc.record({ key: fc.oneof(fc.string({ maxLength: 5 }), someBytes), value: someField }), {
    maxLength: 4,
  }),
});

test('rows from bytes are those of the records as objects, and what is refused is refused for the same reason', () => {
  const someOffset = fc.constantFrom(0n, 2n ** 32n - 2n, 2n ** 53n - 3n, 2n ** 62n);
  const encoding = fc.constantFrom('text' as const, 'base64' as const);
  fc.assert(
    fc.property(fc.array(someRecord, { maxLength: 6 }), someOffset, encoding, (fields, first, keyEncoding) => {
      const admission = { maxValueBytes: 600, keyEncoding };
      const records = recordsOf(fields.map((of, nth) => aRecord(first + BigInt(nth), of)));
      const given = [...records];
      const { rows, refused } = encodeRecords({ topic: 'orders', partition: 7 }, records, admission);
      expect(rows.all.equals(expectedRows(given, admission))).toBe(true);
      const reasons = given.flatMap((one, place) => {
        const reason = reasonToRefuse(one, admission);
        return reason === null ? [] : [[place, reason]];
      });
      expect([...refused].map(([place, { reason }]) => [place, reason])).toEqual(reasons);
    }),
    { numRuns: 300 },
  );
});

describe('records that are decoded', () => {
  const decoder = (decoded: DecodedRecord | { reason: 'undecodable'; error: string }): RecordDecoder => ({
    decode: () => decoded,
  });
  const encoded = (given: Parameters<typeof decoder>[0], fields: Partial<StreamRecord> = {}) =>
    encodeRecords({ topic: 'orders', partition: 7 }, recordsOf([aRecord(0n, fields)]), TEXT, {
      decoder: decoder(given),
    });

  test('are rows of what the decoder has made, or of their bytes where it has made nothing', () => {
    const sent = encodeRecords({ topic: 'orders', partition: 7 }, recordsOf([aRecord(0n)]), TEXT).rows;
    expect(encoded({}).rows.all).toEqual(sent.all);
    const asSent = { key: 'key-0', value: '{"offset":0}' };
    const other = { key: Buffer.from([0xff]), value: Buffer.from([0]) };
    expect(encoded(asSent, other).rows.all).toEqual(sent.all);
  });

  test('are refused by the decoder, by a NUL in a key, and by what no decoder changes', () => {
    const refusal = { reason: 'undecodable', error: 'its value is no good' } as const;
    expect(encoded(refusal).refused.get(0)).toEqual(refusal);
    expect(encoded({ key: 'a\0' }).refused.get(0)?.reason).toBe('key_not_text');
    expect(encoded({}, { value: Buffer.from([0xff]) }).refused.get(0)?.reason).toBe('invalid_utf8');
    expect(encoded({ value: '1' }, { value: Buffer.alloc(MAX + 1) }).refused.get(0)?.reason).toBe('value_too_large');
    expect(encoded({ value: '1' }, { timestamp: 2n ** 62n }).refused.get(0)?.reason).toBe('timestamp_out_of_range');
  });
});

test('a value that begins as with a schema id is named as that', () => {
  const { refused } = encodeRecords(
    { topic: 'orders', partition: 7 },
    recordsOf([aRecord(0n, { value: Buffer.from([0, 0, 0, 0, 7, 2]) })]),
    TEXT,
  );
  expect(refused.get(0)?.error).toMatch(/begins with 0x00.*is its format registry\?$/);
});
