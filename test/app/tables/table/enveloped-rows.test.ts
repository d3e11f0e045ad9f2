import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { MappedColumn, TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import { TableEncoder } from '../../../../app/tables/table/table-encoder.ts';
import type { EnvelopeFormat } from '../../../../settings/sections/tables/table-envelope.ts';
import { aRecord } from '../../stream/records.ts';

type Kind = 'text' | 'integer' | 'timestamp' | 'date' | 'numeric' | 'json' | 'interval' | 'time';

const column = (name: string, kind: Kind, source?: MappedColumn['source']): MappedColumn => ({
  name,
  type: { kind, name: kind },
  source: source ?? { kind: 'field', path: [name] },
  isNotNull: name === 'id',
  hasDefault: false,
});

const STAGE = { columns: [], equality: {}, tableOid: 1, overridesIdentity: false, mayDropRows: false };
const REPLACE = { columns: ['id'], existing: 'replace', delete: 'tombstones' } as const;

function mappingOf(format: EnvelopeFormat, columns: readonly MappedColumn[], isHistory = false): TableMapping {
  return {
    ...{ schema: 'public', table: 'orders', topics: ['orders'], columns },
    key: isHistory ? null : { ...REPLACE, ...(format === 'debezium-flat' && { delete: ['__deleted'] }) },
    stage: isHistory ? null : STAGE,
    envelope: { format, unavailableValue: '__debezium_unavailable_value' },
  };
}

type Given = readonly [key: string | null, value: unknown];

/** The rows without their numbers, or reasons and columns of what is refused; and the names of unmapped fields. */
function encoded(mapping: TableMapping, given: readonly Given[]) {
  const names: (string | null)[] = [];
  const unmapped = { mapped: () => [], report: (_topic: string, name: string | null) => names.push(name) };
  const encoder = new TableEncoder(mapping, { maxValueBytes: 10_000, takesDefaults: false }, unmapped);
  const bytes = (json: unknown) =>
    json === null ? null : Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  const records = recordsOf(
    given.map(([key, value], nth) => aRecord(BigInt(nth), { key: bytes(key), value: bytes(value) })),
  );
  const { rows, refused, unmappedFields } = encoder.encode({ topic: 'orders', partition: 0 }, records);
  const lines = given.map((_, nth) => {
    const fault = refused.get(nth);
    const line = rows
      .part(nth, nth + 1)
      .toString('utf8')
      .replace(/\n$/, '');
    return fault === undefined
      ? line.replace(/\t[0-9]+\t([ud])(\t|$)/, ' $1 ').trimEnd()
      : [fault.reason, fault.targetColumn].join(' ').trim();
  });
  return { lines, names, unmappedFields };
}

const COLUMNS = [column('id', 'integer'), column('name', 'text')];
const linesOf = (...given: readonly Given[]) => encoded(mappingOf('debezium', COLUMNS), given).lines;
const event = (op: string, after: unknown, before: unknown = null) => ({
  before,
  after,
  source: { lsn: 7 },
  op,
  ts_ms: 1,
});

describe('a change event', () => {
  test.each(['c', 'r', 'u'])('%s is the row behind it', (op) => {
    expect(linesOf(['{"id":1}', event(op, { id: 1, name: 'a' })])).toEqual(['1\ta u \\N']);
  });

  test('has an op that may be written with an escape', () => {
    expect(linesOf(['{"id":1}', '{"op":"\\u0075","after":{"id":1,"name":"a"}}'])).toEqual(['1\ta u \\N']);
  });

  test('deletes by the record key, and says nothing of the row before', () => {
    expect(linesOf(['{"id":1}', event('d', null, { id: 7, name: '' })], ['{"id":1}', null])).toEqual([
      '1\t\\N d \\N',
      '1\t\\N d \\N',
    ]);
  });

  test('deletes nothing by a record key that lacks the column, whatever was before', () => {
    expect(
      linesOf(['{"other":1}', event('d', null, { id: 7, name: '' })], [null, event('d', null, { id: 7 })]),
    ).toEqual(['missing_value id', 'missing_value id']);
  });

  test.each([
    ['t', event('t', null), 'truncate'],
    ['m', event('m', null), 'undecodable'],
    ['that has no op', { id: 1, name: 'a' }, 'undecodable'],
    ['whose op is a number', { op: 1, after: { id: 1 } }, 'undecodable'],
    ['c without a row', event('c', null), 'undecodable'],
    ['u whose row is a text', event('u', 'x'), 'undecodable'],
    ['that is no object', [1], 'value_does_not_fit'],
    ['that is no JSON', '{"op"', 'invalid_json'],
  ])('%s is a dead letter', (_, value, reason) => {
    expect(linesOf(['{"id":1}', value])).toEqual([reason]);
  });

  test('has fields without a column in its row alone', () => {
    const { names, unmappedFields } = encoded(mappingOf('debezium', COLUMNS), [
      ['{"id":1}', event('c', { id: 1, name: 'a', note: 'x', more: { note: 1 } })],
      ['{"id":1}', event('d', null, { id: 1, gone: 1 })],
    ]);
    expect({ names, unmappedFields }).toEqual({ names: ['note', 'more'], unmappedFields: 2 });
  });

  test('gives its operation and its source to columns', () => {
    const columns = [
      column('id', 'integer'),
      column('op', 'text', { kind: 'event', path: ['op'] }),
      column('lsn', 'integer', { kind: 'event', path: ['source', 'lsn'] }),
    ];
    const mapping = mappingOf('debezium', columns);
    expect(encoded(mapping, [['{"id":1}', event('u', { id: 1, lsn: 9 })]]).lines).toEqual(['1\tu\t7 u \\N']);
  });

  test('keeps what a column takes of a part of a large value that the source did not send', () => {
    const tag = column('tag', 'text', { kind: 'field', path: ['tags', 1] });
    const color = column('color', 'text', { kind: 'field', path: ['properties', 'color'] });
    const mapping = mappingOf('debezium', [...COLUMNS, tag, color]);
    const word = '__debezium_unavailable_value';
    const given = [[word], ['a', 'b']].flatMap((tags) =>
      [{ [word]: word }, { color: 'red' }, word].map(
        (properties): Given => ['{"id":1}', event('u', { id: 1, name: 'a', tags, properties })],
      ),
    );
    expect(encoded(mapping, given).lines).toEqual([
      '1\ta\t\\N\t\\N u 0011',
      '1\ta\t\\N\tred u 0010',
      '1\ta\t\\N\t\\N u 0011',
      '1\ta\tb\t\\N u 0001',
      '1\ta\tb\tred u \\N',
      '1\ta\tb\t\\N u 0001',
    ]);
  });

  test('is a row of a history table whatever it does, but for a tombstone, which is none', () => {
    const columns = [column('event', 'json', { kind: 'field', path: [] }), column('name', 'text')];
    const mapping = mappingOf('debezium', columns, true);
    const events = [event('c', { name: 'a' }), event('d', null), event('t', null)];
    const given = [...events.map((value): Given => [null, value]), [null, null] as const];
    expect(encoded(mapping, given).lines).toEqual([
      `${JSON.stringify(events[0])}\ta`,
      `${JSON.stringify(events[1])}\t\\N`,
      `${JSON.stringify(events[2])}\t\\N`,
      '',
    ]);
    expect(
      encoded(mapping, [
        [null, event('m', null)],
        [null, 'null'],
      ]).lines,
    ).toEqual(['undecodable', '']);
  });
});

describe('a flattened event', () => {
  const linesOfFlat = (...given: readonly Given[]) => encoded(mappingOf('debezium-flat', COLUMNS), given).lines;

  test('is a row, or deletes by the record key, as its own fields are of the row before', () => {
    expect(
      linesOfFlat(
        ['{"id":1}', { id: 1, name: 'a', __deleted: 'false' }],
        ['{"id":2}', { id: 1, name: '', __deleted: 'true' }],
        ['{"id":3}', null],
        [null, { id: 1, name: '', __deleted: 'true' }],
      ),
    ).toEqual(['1\ta u \\N', '2\t\\N d \\N', '3\t\\N d \\N', 'missing_value id']);
  });
});

const schemaOf = (fields: readonly object[]) => ({ type: 'struct', fields, optional: false, name: 'Value' });
const WORDS = schemaOf([
  { type: 'int32', field: 'id' },
  { type: 'string', optional: true, field: 'name' },
]);

describe('an object of schema and payload', () => {
  const connect = (...given: readonly Given[]) => encoded(mappingOf('connect', COLUMNS), given).lines;
  const wrapped = (payload: unknown, schema: unknown = WORDS) => JSON.stringify({ schema, payload });

  test('is the payload, in values and in keys', () => {
    expect(
      connect(
        [null, wrapped({ id: 1, name: 'a' })],
        [null, wrapped({ id: 2, name: 'b' })],
        [null, wrapped({ id: 3, name: 'c' }, null)],
        [wrapped({ id: 4 }), wrapped(null)],
        [wrapped(5, { type: 'int32' }), null],
        ['6', null],
        [null, { id: 7, name: 'plain' }],
      ),
    ).toEqual(['1\ta u', '2\tb u', '3\tc u', '4\t\\N d', '5\t\\N d', '6\t\\N d', '7\tplain u']);
  });

  test.each([
    ['a third member', { schema: WORDS, payload: { id: 1 }, id: 9, name: 'own' }],
    ['a schema that is a text', { schema: 'public', payload: { id: 1 } }],
    ['a schema without a type', { schema: { fields: [] }, payload: { id: 1 } }],
    ['no payload', { schema: WORDS }],
  ])('is the row itself with %s', (_, value) => {
    const columns = [
      column('schema', 'json'),
      column('payload', 'json'),
      column('id', 'integer', { kind: 'key', path: ['id'] }),
    ];
    const mapping = { ...mappingOf('connect', columns), key: null, stage: null };
    const { schema, payload } = value as { schema: unknown; payload?: unknown };
    expect(encoded(mapping, [['{"id":1}', value]]).lines).toEqual([
      `${JSON.stringify(schema)}\t${payload === undefined ? '\\N' : JSON.stringify(payload)}\t1`,
    ]);
  });

  test('is read to its end, though it begins as the one before', () => {
    const one = wrapped({ id: 1, name: 'a' });
    const head = one.slice(0, one.indexOf('"payload":') + '"payload":'.length);
    const cut = (tail: string): Given => [null, `${head}${tail}`];
    const [first, ...others] = connect(
      [null, one],
      cut('{"id":2,"name":"b"}'),
      cut('{"id":3,"name":"c"}]'),
      cut('{"id":4,"name":"d"}}}'),
      cut('{"id":5,"name":"e"},"more":1}'),
      cut('{"id":6,"name":"f"} } '),
      cut('7}'),
      cut('}'),
    );
    expect(first).toContain('1\ta');
    expect(others.map((line) => line.split('\t').slice(0, 2).join(' '))).toEqual([
      ...['invalid_json', 'invalid_json', 'invalid_json', 'missing_value id'],
      ...['6 f u', 'value_does_not_fit', 'invalid_json'],
    ]);
  });

  test('says the units of its fields, those of another schema too', () => {
    const columns = [
      column('id', 'integer'),
      column('at', 'timestamp'),
      column('day', 'date'),
      column('sum', 'numeric'),
      column('doc', 'json'),
      column('iso', 'text', { kind: 'field', path: ['at'] }),
      column('raw', 'integer', { kind: 'field', path: ['at'] }),
    ];
    const named = (field: string, type: string, name: string, parameters = {}) => ({
      type,
      optional: true,
      name,
      parameters,
      field,
    });
    const micros = schemaOf([
      { type: 'int32', field: 'id' },
      named('at', 'int64', 'io.debezium.time.MicroTimestamp'),
      named('day', 'int32', 'io.debezium.time.Date'),
      named('sum', 'bytes', 'org.apache.kafka.connect.data.Decimal', { scale: '2' }),
      named('doc', 'string', 'io.debezium.data.Json'),
    ]);
    const millis = {
      ...micros,
      fields: micros.fields.map((field) =>
        'name' in field && field.name === 'io.debezium.time.MicroTimestamp'
          ? { ...field, name: 'org.apache.kafka.connect.data.Timestamp' }
          : field,
      ),
    };
    const row = (at: number) => ({ id: 1, at, day: 20_649, sum: 'AMg=', doc: '{"a": 1.10}' });
    const of = (schema: unknown, at: number): Given => [null, wrapped(row(at), schema)];
    const mapping = { ...mappingOf('connect', columns), key: null, stage: null };
    const text =
      'J2461237 13:14:15.123456+00\tJ2461237\t2.00\t{"a": 1.10}\t2026-07-15T13:14:15.123456Z\t1784121255123456';
    const other = 'J2461237 13:14:15.123+00\tJ2461237\t2.00\t{"a": 1.10}\t2026-07-15T13:14:15.123Z\t1784121255123';
    expect(
      encoded(mapping, [
        of(micros, 1_784_121_255_123_456),
        of(millis, 1_784_121_255_123),
        of(micros, 1_784_121_255_123_456),
      ]).lines,
    ).toEqual([`1\t${text}`, `1\t${other}`, `1\t${text}`]);
  });
});
