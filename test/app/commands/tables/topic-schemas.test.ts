import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readSchemas, schemaFindings, schemaLines } from '../../../../app/commands/tables/check/topic-schemas.ts';
import type { RegisteredSchema, UnusableSchema } from '../../../../app/formats/registry/schemas.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import type { ColumnType, MappedColumn, TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import { checkSettings } from '../../../../settings/settings.ts';

type Kind = Exclude<ColumnType['kind'], 'array' | 'composite'>;

const column = (name: string, kind: Kind, isNotNull = false): MappedColumn => ({
  name,
  type: { kind, name: kind },
  source: { kind: 'field', path: [name] },
  isNotNull,
  hasDefault: false,
});

const mappingOf = (columns: readonly MappedColumn[], more: Partial<TableMapping> = {}): TableMapping => ({
  ...{ schema: 'public', table: 'orders', topics: ['orders'], columns, key: null, stage: null },
  ...more,
});

const KEYED = {
  key: { columns: ['id'], existing: 'replace', delete: 'tombstones' },
} as const satisfies Partial<TableMapping>;

function settingsOf(formats: unknown) {
  const checked = checkSettings({
    kafka: { brokers: ['unused:9092'], groupId: 'group', topics: ['orders'] },
    database: { url: 'postgresql://unused/unused' },
    formats: { orders: formats },
    schemaRegistry: { url: 'http://unused' },
  });
  if (!checked.ok) {
    throw new Error(JSON.stringify(checked.problems));
  }
  return checked.value;
}

type Answer = RegisteredSchema | UnusableSchema | Error | undefined;

/** What the output says of a table, with the latest schemas of these subjects. */
async function linesOf(
  mapping: TableMapping,
  answers: Readonly<Record<string, Answer>>,
  formats: unknown = 'registry',
) {
  const asked: string[] = [];
  const schemas = await readSchemas(settingsOf(formats), ['orders', 'orders'], {
    latest: async (subject) => {
      asked.push(subject);
      const answer = answers[subject];
      if (answer instanceof Error) {
        throw answer;
      }
      return answer;
    },
  });
  return { asked, lines: schemaFindings(mapping, schemas).flatMap(schemaLines) };
}

const avro = (fields: readonly object[], id = 7): RegisteredSchema => ({
  id,
  type: 'AVRO',
  text: JSON.stringify({ type: 'record', name: 'Order', fields }),
  references: [],
});

const ROW = [
  { name: 'id', type: 'long' },
  { name: 'amount', type: ['null', { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 }] },
  { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
  { name: 'seen', type: 'long' },
  { name: 'raw', type: 'bytes' },
  { name: 'tags', type: { type: 'array', items: 'string' } },
];

describe('a table is compared with the latest schema of its topic:', () => {
  test('all is well where the schema has what each column takes, units included', async () => {
    const columns = [column('id', 'integer'), column('amount', 'numeric'), column('at', 'timestamp')];
    const fields = avro(ROW.slice(0, 3));
    expect(await linesOf(mappingOf(columns), { 'orders-value': fields })).toEqual({
      asked: ['orders-value'],
      lines: ['schema 7, the latest of the values of orders, has what each column takes'],
    });
  });

  test('a condition on a field that it does not have matches nothing', async () => {
    const on = (...path: readonly string[]) => ({ source: { kind: 'field', path }, values: ['a'] }) as const;
    const header = { source: { kind: 'header', name: 'type' }, values: ['a'] } as const;
    const mapping = mappingOf([column('id', 'integer')], { when: [on('at'), on('type'), on('a.b', 'c'), header] });
    expect((await linesOf(mapping, { 'orders-value': avro(ROW.slice(0, 3)) })).lines).toEqual([
      'WARNING: schema 7, the latest of the values of orders, has no field type: when matches no record of it',
      'WARNING: schema 7, the latest of the values of orders, has no field /a.b/c: when matches no record of it',
      'schema 7, the latest of the values of orders, has fields without a column: amount',
    ]);
  });

  test('columns without a field, fields without a column, and NULL where there may be none', async () => {
    const columns = [column('id', 'integer'), column('amount', 'numeric', true), column('note', 'text')];
    const { lines } = await linesOf(mappingOf(columns), { 'orders-value': avro(ROW.slice(0, 3)) });
    expect(lines).toEqual([
      'WARNING: schema 7, the latest of the values of orders, has no field for the column note',
      'schema 7, the latest of the values of orders, may have null for the column amount, which is NOT NULL',
      'schema 7, the latest of the values of orders, has fields without a column: at',
    ]);
  });

  test.each<[string, Kind, string | null]>([
    ['seen', 'timestamp', 'number'],
    ['at', 'timestamp', null],
    ['at', 'integer', null],
    ['raw', 'integer', 'bytes'],
    ['raw', 'bytea', null],
    ['tags', 'integer', 'list'],
    ['tags', 'text', null],
    ['tags', 'json', null],
    ['tags', 'date', 'list'],
    ['amount', 'bytea', 'number'],
  ])('%s in %s is none of the type: %j', async (name, kind, unfit) => {
    const { lines } = await linesOf(mappingOf([column(name, kind)]), { 'orders-value': avro(ROW) });
    expect(lines.filter((line) => line.startsWith('WARNING'))).toEqual(
      unfit === null
        ? []
        : [
            `WARNING: schema 7, the latest of the values of orders, has ${unfit} for the column ${name}, and ${kind} takes none`,
          ],
    );
  });

  test('the row of a change event is behind its envelope', async () => {
    const row = { type: 'record', name: 'Value', fields: ROW.slice(0, 2) };
    const event = avro([
      { name: 'before', type: ['null', row] },
      { name: 'after', type: ['null', 'Value'] },
      { name: 'op', type: 'string' },
    ]);
    const envelope = { format: 'debezium', unavailableValue: 'x' } as const;
    const mapping = mappingOf([column('id', 'integer'), column('other', 'text')], { envelope });
    expect((await linesOf(mapping, { 'orders-value': event })).lines).toEqual([
      'WARNING: schema 7, the latest of the values of orders, has no field for the column other',
      'schema 7, the latest of the values of orders, has fields without a column: amount',
    ]);
  });

  test('a JSON Schema says the same', async () => {
    const properties = { id: { type: 'integer' }, at: { type: ['null', 'string'] }, tags: { type: 'array' } };
    const schema = {
      id: 8,
      type: 'JSON',
      text: JSON.stringify({ type: 'object', properties }),
      references: [],
    } as const;
    const columns = [column('id', 'date'), column('at', 'timestamp', true)];
    expect((await linesOf(mappingOf(columns), { 'orders-value': schema })).lines).toEqual([
      'WARNING: schema 8, the latest of the values of orders, has number for the column id, and date takes none',
      'schema 8, the latest of the values of orders, may have null for the column at, which is NOT NULL',
      'schema 8, the latest of the values of orders, has fields without a column: tags',
    ]);
  });
});

describe('the schema of the keys of a table with a key', () => {
  const columns = [column('id', 'integer'), column('name', 'text')];
  const formats = { key: 'registry', value: 'json' };
  const keyed = async (schema: RegisteredSchema) =>
    (await linesOf(mappingOf(columns, KEYED), { 'orders-key': schema }, formats)).lines;

  test('has the fields of that key, and no others', async () => {
    expect(await keyed(avro([{ name: 'id', type: 'long' }]))).toEqual([
      'schema 7, the latest of the keys of orders, has what each column takes',
    ]);
    expect(await keyed({ id: 9, type: 'AVRO', text: '"long"', references: [] })).toEqual([
      'schema 9, the latest of the keys of orders, has what each column takes',
    ]);
    expect(await keyed(avro([{ name: 'other', type: 'long' }]))).toEqual([
      'WARNING: schema 7, the latest of the keys of orders, has no field id: deletes are dead letters',
      'WARNING: schema 7, the latest of the keys of orders, has other, too: rows of one key may be in several partitions, without an order',
    ]);
  });
});

test('a schema that is not there, or cannot be read, is named with the reason', async () => {
  const mapping = mappingOf([column('id', 'integer')]);
  const of = async (answer: Answer) => (await linesOf(mapping, { 'orders-value': answer })).lines;
  expect(await of(undefined)).toEqual(['no value schema of orders was compared: the registry has no orders-value yet']);
  expect(await of(new OutageError('the registry is away', { reason: 'registry_away' }))).toEqual([
    'no value schema of orders was compared: the registry is away',
  ]);
  expect(await of({ id: 7, reason: 'undecodable', words: 'schema 7 is too large' })).toEqual([
    'no value schema of orders was compared: schema 7 is too large',
  ]);
  expect(await of({ ...avro([]), type: 'PROTOBUF' })).toEqual([
    expect.stringMatching(/^no value schema of orders was compared: its schema 7 is no Protobuf schema: ./),
  ]);
  expect(await of({ ...avro([]), type: 'PROTOBUF', text: 'enum E { A = 0; }' })).toEqual([
    'no value schema of orders was compared: the schema 7 has no message',
  ]);
  expect(await of({ ...avro([]), text: '{' })).toEqual([
    expect.stringMatching(/^no value schema of orders was compared: ./),
  ]);
});

const ORDER = `syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
  import "google/protobuf/struct.proto"; import "google/protobuf/duration.proto";
  message Order { int64 id = 1; google.protobuf.Timestamp at = 2; google.protobuf.StringValue note = 3; bytes raw = 4;
    repeated string tags = 5; google.protobuf.Struct more = 6; optional int32 seen = 7; google.protobuf.Value any = 8;
    google.protobuf.Duration took = 9; map<string, int32> counts = 10; }`;

const ORDER_COLUMNS = [
  ...[column('id', 'integer', true), column('at', 'timestamp'), column('note', 'text'), column('raw', 'bytea')],
  ...[column('tags', 'json'), column('more', 'json'), column('seen', 'integer', true), column('any', 'integer')],
  ...[column('took', 'interval'), column('counts', 'json')],
];

test('a schema of Protobuf has units, and may lack what has presence alone', async () => {
  const schema: RegisteredSchema = { id: 7, type: 'PROTOBUF', text: ORDER, references: [] };
  const lines = async (columns: readonly MappedColumn[]) =>
    (await linesOf(mappingOf(columns), { 'orders-value': schema })).lines;
  expect(await lines(ORDER_COLUMNS)).toEqual([
    'schema 7, the latest of the values of orders, may have null for the column seen, which is NOT NULL',
  ]);
  const path = (...parts: readonly (string | number)[]) => ({ source: { kind: 'field', path: parts } }) as const;
  expect(
    await lines([
      { ...column('second', 'integer'), ...path('at', 'seconds') },
      { ...column('tag', 'integer'), ...path('tags', 0) },
      { ...column('count', 'text'), ...path('counts', 'a') },
      { ...column('deep', 'text'), ...path('more', 'a') },
      { ...column('raw', 'integer'), ...path('raw') },
      { ...column('gone', 'integer'), ...path('gone') },
    ]),
  ).toEqual([
    'WARNING: schema 7, the latest of the values of orders, has no field for the column deep',
    'WARNING: schema 7, the latest of the values of orders, has no field for the column gone',
    'WARNING: schema 7, the latest of the values of orders, has bytes for the column raw, and integer takes none',
    'schema 7, the latest of the values of orders, has fields without a column: id, note, seen, any, took',
  ]);
});

test('schemas in files are compared without a registry', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'schemas-'));
  const [proto, avsc] = [join(folder, 'order.proto'), join(folder, 'key.avsc')];
  await writeFile(proto, ORDER);
  await writeFile(avsc, '"long"');
  const settings = settingsOf({ key: { avro: avsc }, value: { protobuf: proto, message: 'Order' } });
  const schemas = await readSchemas(settings, ['orders']);
  expect(
    schemaFindings(mappingOf([column('id', 'integer'), column('x', 'text')], KEYED), schemas).flatMap(schemaLines),
  ).toEqual([
    `WARNING: schema ${proto}, that of the values of orders, has no field for the column x`,
    `schema ${proto}, that of the values of orders, has fields without a column: at, note, raw, tags, more, seen, any, took, counts`,
    `schema ${avsc}, that of the keys of orders, has what each column takes`,
  ]);
});
