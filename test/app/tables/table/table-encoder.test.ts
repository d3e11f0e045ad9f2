import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { RecordHeader, StreamRecord } from '../../../../app/records/record.ts';
import { Records } from '../../../../app/records/records.ts';
import type { ColumnSource, MappedColumn, TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import { TableEncoder } from '../../../../app/tables/table/table-encoder.ts';
import { aRecord } from '../../stream/records.ts';

type Kind = 'text' | 'integer' | 'timestamp' | 'json' | 'other';

const column = (name: string, source: ColumnSource, kind: Kind = 'text'): MappedColumn => ({
  name,
  type: { kind, name: kind },
  source,
  isNotNull: false,
  hasDefault: true,
});

const field = (name: string, kind: Kind = 'text') => column(name, { kind: 'field', path: [name] }, kind);

const mappingOf = (...columns: MappedColumn[]): TableMapping => ({
  schema: 'public',
  table: 'orders',
  topics: ['orders'],
  columns,
  key: null,
  stage: null,
});

function encoded(mapping: TableMapping, records: Records) {
  const encoder = new TableEncoder(mapping, { maxValueBytes: 100, takesDefaults: true });
  const { rows, refused } = encoder.encode({ topic: 'orders', partition: 7 }, records);
  const lines = Array.from({ length: records.length }, (_, nth) => rows.part(nth, nth + 1).toString('utf8'));
  expect(rows.all.toString('utf8')).toBe(lines.join(''));
  return {
    lines,
    refused: new Map([...refused].map(([nth, { reason, targetColumn }]) => [nth, [reason, targetColumn]])),
  };
}

const rowsOf = (columns: readonly MappedColumn[], ...records: Partial<StreamRecord>[]) =>
  encoded(mappingOf(...columns), recordsOf(records.map((fields, nth) => aRecord(BigInt(nth), fields)))).lines;

const header = (key: string | Buffer, value: string | null): RecordHeader => ({
  key,
  value: value === null ? null : Buffer.from(value),
});

describe('a header', () => {
  const trace = column('trace', { kind: 'header', name: 'träce' });

  test.each<[string, RecordHeader[], string]>([
    ['is the last one of its name', [header('träce', 'a'), header('träce', 'b'), header('x', 'c')], 'b'],
    ['is not one whose name begins alike', [header('träce', 'a'), header('träceparent', 'b'), header('trä', 'c')], 'a'],
    ['may be NULL', [header('träce', 'a'), header('träce', null)], '\\N'],
    ['may be empty', [header('träce', '')], ''],
    ['is the default where there is none', [header('x', 'träce')], '\\D'],
    ['is the default without headers', [], '\\D'],
    ['has no name that is not UTF-8', [header(Buffer.from('träce', 'latin1'), 'a')], '\\D'],
  ])('%s', (_, headers, text) => {
    expect(rowsOf([trace, column('offset', { kind: 'offset' }, 'integer')], { headers }, {})).toEqual([
      `${text}\t0\n`,
      '\\D\t1\n',
    ]);
  });

  test('may have the empty name', () => {
    const empty = column('empty', { kind: 'header', name: '' });
    expect(rowsOf([empty], { headers: [header('', 'a'), header('x', 'b')] })).toEqual(['a\n']);
  });
});

describe('what Kafka says of a record', () => {
  const offset = column('offset', { kind: 'offset' }, 'integer');
  const time = column('time', { kind: 'timestamp' }, 'timestamp');
  const milliseconds = column('ms', { kind: 'timestamp' }, 'integer');

  test('is exact where a number is not', () => {
    const far = 2n ** 62n + 1n;
    const records = recordsOf([aRecord(far, { timestamp: far }), aRecord(far + 1n, { timestamp: -1_000n })]);
    expect(encoded(mappingOf(offset, milliseconds), records).lines).toEqual([
      '4611686018427387905\t4611686018427387905\n',
      '4611686018427387906\t-1000\n',
    ]);
    expect(encoded(mappingOf(time), records)).toEqual({
      lines: ['J53378436171 15:36:27.905+00\n', 'J2440587 23:59:59+00\n'],
      refused: new Map(),
    });
  });

  test('is a point in time, before 1970, too, or NULL', () => {
    const timestamps = [0n, 86_399_999n, -1n, -2n, -86_400_000n, 1_704_103_200_020n, -210_866_803_200_001n];
    const records = timestamps.map((timestamp, nth) => aRecord(BigInt(nth), { timestamp }));
    expect(encoded(mappingOf(time), recordsOf(records))).toEqual({
      lines: [
        'J2440588 00:00:00+00\n',
        'J2440588 23:59:59.999+00\n',
        '\\N\n',
        'J2440587 23:59:59.998+00\n',
        'J2440587 00:00:00+00\n',
        'J2460311 10:00:00.020+00\n',
        '',
      ],
      refused: new Map([[6, ['value_does_not_fit', 'time']]]),
    });
  });

  test('are its topic, its partition and its key, whatever characters they have', () => {
    const columns = [
      column('topic', { kind: 'topic' }),
      column('partition', { kind: 'partition' }, 'integer'),
      column('key', { kind: 'key', path: [] }),
    ];
    expect(rowsOf(columns, { key: Buffer.from('a\tZoë\\') }, { key: null }, { key: Buffer.from('') })).toEqual([
      'orders\t7\ta\\tZoë\\\\\n',
      'orders\t7\t\\N\n',
      'orders\t7\t\n',
    ]);
  });
});

test('a record that is refused leaves nothing between the rows around it', () => {
  const values = [
    '{"a":1,"b":"x"}',
    '{"a":2',
    '{"a":3,"b":"\\ud83d\\ude00"}',
    `{"a":"${'x'.repeat(100)}"}`,
    '[1]',
    '{"a":6}',
  ];
  const one = recordsOf(values.slice(0, 2).map((value, nth) => aRecord(BigInt(nth), { value: Buffer.from(value) })));
  const other = recordsOf(values.slice(2).map((value, nth) => aRecord(BigInt(2 + nth), { value: Buffer.from(value) })));
  expect(
    encoded(mappingOf(field('a', 'integer'), field('b')), new Records([...one.parts, ...other.parts]).slice(1)),
  ).toEqual({
    lines: ['', '3\t😀\n', '', '', '6\t\\D\n'],
    refused: new Map([
      [0, ['invalid_json', undefined]],
      [2, ['value_too_large', undefined]],
      [3, ['value_does_not_fit', undefined]],
    ]),
  });
});

describe('a table with a key', () => {
  const stage = { columns: [], equality: {}, tableOid: 1, overridesIdentity: false, mayDropRows: false };
  const key = { columns: ['id'], existing: 'replace', delete: ['gone'] } as const;
  const mapping: TableMapping = { ...mappingOf(field('id'), field('name')), key, stage };

  test('takes from the record key what a value lacks, and has a number and an operation in each row', () => {
    const records = [
      { key: Buffer.from('{"id":"k1"}'), value: Buffer.from('{"name":"a"}') },
      { key: Buffer.from('"k2"'), value: Buffer.from('{"id":"v2"}') },
      { key: Buffer.from('"k3"'), value: Buffer.from('{"gone":"true"}') },
      { key: Buffer.from('k4'), value: null },
      { key: null, value: null },
    ];
    const rows = encoded(mapping, recordsOf(records.map((fields, nth) => aRecord(BigInt(nth), fields))));
    expect(rows.lines).toEqual([
      'k1\ta\t1\tu\n',
      'v2\t\\D\t2\tu\n',
      'k3\t\\N\t3\td\n',
      'k4\t\\N\t4\td\n',
      '\\D\t\\N\t5\td\n',
    ]);
  });
});

describe('a table with conditions', () => {
  const header = { kind: 'header', name: 'type' } as const;
  const matching = (when: TableMapping['when'], ...records: Partial<StreamRecord>[]) => {
    const mapping = { ...mappingOf(field('id'), field('name')), ...(when && { when }) };
    const encoder = new TableEncoder(mapping, { maxValueBytes: 100, takesDefaults: true });
    const given = recordsOf(records.map((fields, nth) => aRecord(BigInt(nth), fields)));
    const { rows, refused } = encoder.encode({ topic: 'orders', partition: 7 }, given);
    return records.map((_, nth) => {
      const isTaken = rows.rowsIn(nth, nth + 1) > 0;
      expect(isTaken && rows.unmatched.has(nth)).toBe(false);
      return isTaken ? 'taken' : rows.unmatched.has(nth) ? '-' : refused.get(nth)?.reason;
    });
  };
  const values = (...all: string[]) => all.map((value) => ({ value: Buffer.from(value) }));
  const onField = (path: readonly (string | number)[], ...texts: string[]) =>
    ({ source: { kind: 'field', path }, values: texts }) as const;

  test('compares the text of a field with each of its values', () => {
    const given = ['"a"', '"\\u0061"', '"A"', '"b"', '"ab"', '""', 'null', '["a"]', '{"a":"a"}'];
    const records = values(...given.map((type) => `{"type":${type}}`), '{"id":1}');
    expect(matching([onField(['type'], 'a', 'b')], ...records)).toEqual([
      ...['taken', 'taken', '-', 'taken', '-', '-', '-', '-', '-', '-'],
    ]);
    const others = ['3', '"3"', '3.0', '"03"', '30', 'true', '"true"', 'false'].map((type) => `{"a":[{"b":${type}}]}`);
    expect(matching([onField(['a', 0, 'b'], '3', 'true')], ...values(...others))).toEqual([
      ...['taken', 'taken', '-', '-', '-', 'taken', 'taken', '-'],
    ]);
  });

  test('needs all of them', () => {
    const when = [onField(['type'], 'a'), onField(['kind'], 'x', 'y'), { source: header, values: ['h'] }];
    const headers = [{ key: 'type', value: Buffer.from('h') }];
    const [right] = values('{"type":"a","kind":"y"}');
    expect(
      matching(when, { ...right, headers }, right ?? {}, ...values('{"type":"a"}').map((one) => ({ ...one, headers }))),
    ).toEqual(['taken', '-', '-']);
  });

  test('takes the last header of the name, byte for byte', () => {
    const named = (...texts: (string | Buffer | null)[]) => ({
      value: Buffer.from('{}'),
      headers: texts.map((text) => ({ key: 'type', value: text === null ? null : Buffer.from(text) })),
    });
    const given = [named('ä'), named('x', 'ä'), named('ä', 'x'), named(null), named(), named('ä\n'), named('')];
    const latin = named(Buffer.from('ä', 'latin1'));
    expect(matching([{ source: header, values: ['ä'] }], ...given, latin)).toEqual([
      ...['taken', 'taken', '-', '-', '-', '-', '-', '-'],
    ]);
    expect(matching([{ source: header, values: [''] }], named(''), named(null), named())).toEqual(['taken', '-', '-']);
  });

  test('reads nothing of a record that a header keeps away, and refuses what it cannot read', () => {
    const headers = [{ key: 'type', value: Buffer.from('other') }];
    const broken = { value: Buffer.from('{"type') };
    const large = { value: Buffer.from(`"${'x'.repeat(200)}"`) };
    expect(matching([{ source: header, values: ['h'] }], { ...broken, headers }, { ...large, headers })).toEqual([
      '-',
      '-',
    ]);
    expect(matching([onField(['type'], 'a')], broken, large)).toEqual(['invalid_json', 'value_too_large']);
  });

  test('takes no tombstone and no list by a field, where it has no key', () => {
    expect(matching([onField(['type'], 'a')], { value: null }, ...values('[1]', '"a"', 'null'))).toEqual([
      ...['-', '-', '-', '-'],
    ]);
    expect(matching(undefined, { value: null }, ...values('[1]'))).toEqual(['no_value', 'value_does_not_fit']);
  });
});

describe('a table with versions', () => {
  const stage = { columns: [], equality: {}, tableOid: 1, overridesIdentity: false, mayDropRows: false };
  const key = { columns: ['id'], existing: 'replace', delete: ['gone'], version: 'at' } as const;
  const required = (name: string) => ({ ...field(name), isNotNull: true, hasDefault: false });
  const mapping: TableMapping = { ...mappingOf(required('id'), field('name'), required('at')), key, stage };

  test('has the version in a row, and in a delete by a field, which both need one', () => {
    const records = [
      { value: Buffer.from('{"id":"1","name":"a","at":"v1"}') },
      { value: Buffer.from('{"id":"1","name":"a","at":"v2","gone":true}') },
      { key: Buffer.from('1'), value: null },
      { value: Buffer.from('{"id":"1","name":"a"}') },
      { value: Buffer.from('{"id":"1","at":null,"gone":true}') },
    ];
    expect(encoded(mapping, recordsOf(records.map((fields, nth) => aRecord(BigInt(nth), fields))))).toEqual({
      lines: ['1\ta\tv1\t1\tu\n', '1\t\\N\tv2\t2\to\n', '1\t\\N\t\\N\t3\td\n', '', ''],
      refused: new Map([
        [3, ['missing_value', 'at']],
        [4, ['missing_value', 'at']],
      ]),
    });
  });

  test('has none in what Debezium deletes, flattened or not', () => {
    const envelope = (format: 'debezium' | 'debezium-flat') => ({ format, unavailableValue: '__unavailable' });
    const linesOf = (format: 'debezium' | 'debezium-flat', value: object, deletes: 'tombstones' | string[]) => {
      const of = { ...mapping, key: { ...key, delete: deletes }, envelope: envelope(format) };
      const record = { key: Buffer.from('{"id":"1"}'), value: Buffer.from(JSON.stringify(value)) };
      return encoded(of, recordsOf([aRecord(0n, record)])).lines;
    };
    const line = ['1\t\\N\t\\N\t1\td\t\\N\n'];
    expect(linesOf('debezium', { op: 'd', before: { id: '9', at: 'v' }, after: null }, 'tombstones')).toEqual(line);
    expect(linesOf('debezium-flat', { id: '9', at: 'v', __deleted: 'true' }, ['__deleted'])).toEqual(line);
  });

  test('keeps no version that the source did not send', () => {
    const envelope = { format: 'debezium', unavailableValue: '__unavailable' } as const;
    const value = JSON.stringify({ op: 'u', after: { id: '1', name: '__unavailable', at: '__unavailable' } });
    const records = recordsOf([aRecord(0n, { value: Buffer.from(value) })]);
    expect(encoded({ ...mapping, envelope }, records).refused).toEqual(new Map([[0, ['missing_value', 'at']]]));
  });
});
