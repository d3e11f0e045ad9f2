import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { mappedFields, UnmappedLog } from '../../../../app/tables/json/unmapped-fields.ts';
import type { FieldPath, TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import { TableEncoder } from '../../../../app/tables/table/table-encoder.ts';
import { aRecord } from '../../stream/records.ts';

const WHOLE: FieldPath = [];

function aMapping(table: string, topics: readonly string[], paths: readonly FieldPath[]): TableMapping {
  const columns = paths.map((path, nth) => ({
    name: `column_${nth}`,
    type: { kind: 'json', name: 'jsonb' } as const,
    source: { kind: 'field', path } as const,
    isNotNull: false,
    hasDefault: false,
  }));
  return { schema: 'public', table, topics, columns, key: null, stage: null };
}

describe('fields that are looked for', () => {
  const orders = aMapping('orders', ['orders'], [['id'], ['customer', 'name']]);
  const items = aMapping('items', ['orders', 'items'], [['id'], ['items', 0]]);
  const all = [orders, items];

  test('are those that no table of the topic takes, by the first of them', () => {
    expect(mappedFields(orders, all, 'orders')).toEqual([['id'], ['customer'], ['id'], ['items']]);
    expect(mappedFields(items, all, 'orders')).toEqual([WHOLE]);
    expect(mappedFields(items, all, 'items')).toEqual([['id'], ['items']]);
  });

  test('are looked for by the first table that takes fields', () => {
    const places = aMapping('places', ['orders'], []);
    expect(mappedFields(orders, [places, orders], 'orders')).toEqual([['id'], ['customer']]);
    expect(mappedFields(places, [places, orders], 'orders')).toEqual([WHOLE]);
  });

  test('are none where a table takes the whole value', () => {
    const whole = aMapping('whole', ['orders'], [WHOLE]);
    expect(mappedFields(orders, [orders, whole], 'orders')).toContainEqual(WHOLE);
  });

  test('do not have the field that says whether a record deletes', () => {
    const key = { columns: ['id'], existing: 'replace', delete: ['meta', 'deleted'] } as const;
    const keyed = { ...orders, key };
    expect(mappedFields(keyed, [keyed], 'orders')).toEqual([['id'], ['customer'], ['meta']]);
  });
});

test('fields that conditions look at are not looked for', () => {
  const when = [
    { source: { kind: 'field', path: ['meta', 'type'] }, values: ['a'] },
    { source: { kind: 'header', name: 'type' }, values: ['a'] },
  ] as const;
  const chosen = { ...aMapping('chosen', ['orders'], [['id']]), when };
  expect(mappedFields(chosen, [chosen], 'orders')).toEqual([['id'], ['meta']]);
});

describe('the encoder of a table', () => {
  const mapping = aMapping('orders', ['orders', 'refunds'], [['id']]);
  const limits = { maxValueBytes: 1_000, takesDefaults: false };
  const records = ['{"id":1,"x":1,"y":{"z":1}}', '{"id":2,"x":1', '{"id":3,"w":1}', '{"id":4}'];
  const encoded = (encoder: TableEncoder, topic: string) =>
    encoder.encode(
      { topic, partition: 0 },
      recordsOf(records.map((value, nth) => aRecord(BigInt(nth), { value: Buffer.from(value) }))),
    ).unmappedFields;

  test('counts the fields of rows, and reports each name once for each topic', () => {
    const reported: [string, string | null][] = [];
    const mapped = (topic: string) => (topic === 'refunds' ? [['x']] : []);
    const encoder = new TableEncoder(mapping, limits, { mapped, report: (...names) => reported.push(names) });
    expect([encoded(encoder, 'orders'), encoded(encoder, 'orders'), encoded(encoder, 'refunds')]).toEqual([3, 3, 2]);
    expect(reported).toEqual([
      ['orders', 'x'],
      ['orders', 'y'],
      ['orders', 'w'],
      ['refunds', 'y'],
      ['refunds', 'w'],
    ]);
  });

  test('counts none where nothing is asked about them, as in a replay', () => {
    expect(encoded(new TableEncoder(mapping, limits), 'orders')).toBe(0);
  });

  test('counts those of a record that another table takes, whatever keeps it away here', () => {
    const headers = [{ key: 'type', value: Buffer.from('b') }];
    const rows = recordsOf([
      aRecord(0n, { value: Buffer.from('{"id":1,"x":1,"y":2}'), headers }),
      aRecord(1n, { value: Buffer.from('{"id":1,"x":1'), headers }),
      aRecord(2n, { value: Buffer.from('{"id":1,"x":1}') }),
    ]);
    const unmappedOf = (source: { kind: 'header'; name: string } | { kind: 'field'; path: string[] }) => {
      const of = { ...mapping, when: [{ source, values: ['a'] }] };
      const encoder = new TableEncoder(of, limits, { mapped: () => [], report: () => undefined });
      return encoder.encode({ topic: 'orders', partition: 0 }, rows).unmappedFields;
    };
    expect(unmappedOf({ kind: 'header', name: 'type' })).toBe(3);
    expect(unmappedOf({ kind: 'field', path: ['id'] })).toBe(3);
  });

  test('counts none of a record without a value', () => {
    const whole = aMapping('orders', ['orders'], [[0]]);
    const encoder = new TableEncoder(whole, limits, { mapped: () => [], report: () => undefined });
    const values = [Buffer.from('{"x":1}'), null, null];
    const rows = values.map((value, nth) => aRecord(BigInt(nth), { value }));
    expect(encoder.encode({ topic: 'orders', partition: 0 }, recordsOf(rows)).unmappedFields).toBe(1);
  });
});

describe('the log of fields that no table takes', () => {
  function logged() {
    const lines: [fields: object, message: string][] = [];
    const info = (...line: [object, string]) => lines.push(line);
    const log = new UnmappedLog(Object.assign(Object.create(null), { info }));
    return { lines, log: (name: string | null, topic = 'orders') => log.log(topic, ['public.orders'], name) };
  }

  test('has one line for each name of a topic, however often it is reported', () => {
    const { lines, log } = logged();
    for (const name of ['x', 'y', 'x', 'toString']) log(name);
    log('x', 'refunds');
    const tables = ['public.orders'];
    expect(lines.map(([fields]) => fields)).toEqual([
      { topic: 'orders', tables, field: 'x' },
      { topic: 'orders', tables, field: 'y' },
      { topic: 'orders', tables, field: 'toString' },
      { topic: 'refunds', tables, field: 'x' },
    ]);
  });

  test('has a hundred names of a topic at most, and then one line about the others', () => {
    const { lines, log } = logged();
    for (let nth = 0; nth < 300; nth += 1) log(`f${nth}`);
    log(null);
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)?.[1]).toMatch(/more fields that no table of their topic takes: 100 names are logged at most/);
    expect(lines.at(-1)?.[0]).toEqual({ topic: 'orders', tables: ['public.orders'] });
  });

  test('has a hundred names beside the line about long ones', () => {
    const { lines, log } = logged();
    log(null);
    for (let nth = 0; nth < 300; nth += 1) log(`f${nth}`);
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)?.[0]).toMatchObject({ field: 'f99' });
  });

  test('escapes what steers a terminal, and cuts a name after a hundred characters', () => {
    const { lines, log } = logged();
    log(`a\u001b[31m\r\n\u202eb`);
    log('𝄞'.repeat(101));
    expect(lines.map(([fields]) => fields)).toMatchObject([
      { field: 'a\\u{001b}[31m\\u{000d}\\u{000a}\\u{202e}b' },
      { field: `${'𝄞'.repeat(100)}…` },
    ]);
  });
});
