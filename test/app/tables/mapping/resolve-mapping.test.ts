import { describe, expect, test } from '@jest/globals';
import { mappingJson, mappingLines } from '../../../../app/commands/tables/check/shown-mapping.ts';
import { column, field, mapped } from './mapped-orders.ts';

const sourcesOf = (...given: Parameters<typeof mapped>) =>
  Object.fromEntries(mapped(...given).columns.map(({ name, source }) => [name, source]));

describe('a column takes', () => {
  test('the field of its name, where it is not generated and no identity that is ALWAYS', () => {
    expect(sourcesOf()).toEqual({
      line: field('line'),
      customer_id: field('customer_id'),
      created_at: field('created_at'),
      state: field('state'),
      note: field('note'),
    });
  });

  test.each([
    ['customer_id', 'customerId'],
    ['id', 'id'],
    ['_id', '_id'],
    ['__row_id', '__rowId'],
    ['line_1_text', 'line1Text'],
    ['a__b', 'aB'],
    ['größe_in_m²', 'größeInM²'],
    ['customerId', 'customerId'],
    ['ends_', 'ends_'],
  ])('%s the field %s by the rule camelCase', (name, camel) => {
    expect(sourcesOf({ fields: 'camelCase' }, { columns: [column(name)] })).toEqual({ [name]: field(camel) });
  });

  test('a field whose name looks like a path or a word, by name', () => {
    const names = ['a.b', '/a', '$value', 'toString', '__proto__'];
    const { columns } = mapped({}, { columns: names.map((name) => column(name)) });
    expect(columns.map(({ source }) => source)).toEqual(names.map((name) => field(name)));
  });

  test('what columns says, and the unit with it', () => {
    const columns = {
      customer_id: { from: 'customer.id' },
      created_at: { from: '/times/0', as: 'epoch-millis' },
      note: { from: '$header.note' },
      row_id: { from: '$key.id' },
      state: false,
    } as const;
    const mapping = mapped({ columns, fields: 'camelCase' });
    expect(sourcesOf({ columns, fields: 'camelCase' })).toEqual({
      row_id: { kind: 'key', path: ['id'] },
      line: field('line'),
      customer_id: field('customer', 'id'),
      created_at: field('times', 0),
      note: { kind: 'header', name: 'note' },
    });
    expect(mapping.columns.filter(({ unit }) => unit !== undefined)).toMatchObject([
      { name: 'created_at', unit: 'epoch-millis' },
    ]);
    expect(mapping.unwritten).toEqual([
      { name: 'state', type: 'text', gets: 'default' },
      { name: 'total', type: 'text', gets: 'generated' },
    ]);
  });
});

const defaultsOf = (...given: Parameters<typeof mapped>) =>
  mapped(...given)
    .columns.filter(({ hasDefault }) => hasDefault)
    .map(({ name }) => name);

describe('a column with a default', () => {
  test('has it for a missing field, since PostgreSQL 16', () => {
    expect(defaultsOf({}, { version: 16 })).toEqual(['line', 'created_at', 'state']);
  });

  test.each([[13], [14], [15]])('is left alone by PostgreSQL %i, which would write NULL', (version) => {
    const { columns, unwritten } = mapped({}, { version });
    expect(columns.map(({ name }) => name)).toEqual(['customer_id', 'note']);
    expect(unwritten.map(({ name, gets }) => `${name} ${gets}`)).toEqual([
      'row_id identity',
      'line identity',
      'created_at default',
      'state default',
      'total generated',
    ]);
  });

  test('is written by PostgreSQL 15 where columns names it, and then has none', () => {
    const columns = { state: { from: 'state' }, created_at: { from: 'created' } };
    expect(sourcesOf({ columns }, { version: 15 })).toMatchObject({
      state: field('state'),
      created_at: field('created'),
    });
    expect(defaultsOf({ columns }, { version: 15 })).toEqual([]);
  });
});

describe('what is shown', () => {
  const settings = {
    columns: {
      created_at: { from: '/a~1b/0', as: 'epoch-millis' },
      note: { from: '$offset' },
      state: { from: '$key/i~0.x' },
    },
  } as const;

  test('names the columns that a default is reported for, before PostgreSQL 16', () => {
    expect(mappingLines(mapped(settings, { version: 15 })).join('\n')).toBe(`orders -> public.orders
  COLUMN       <- SOURCE                   -> TYPE                      NO VALUE
  customer_id  <- customer_id              -> text NOT NULL             dead letter
  created_at   <- /a~1b/0 as epoch-millis  -> timestamp with time zone  NULL
  state        <- $key/i~0.x               -> text NOT NULL             dead letter
  note         <- $offset                  -> text                      -
  left to PostgreSQL: row_id (identity), line (identity), total (generated)
  NOT NULL, seen record by record: customer_id, state
  left to their defaults unless columns names them, as COPY of PostgreSQL 15 has no DEFAULT (16 and later have): line
  NULL and no default where the field is missing, as COPY of PostgreSQL 15 has no DEFAULT (16 and later have): created_at, state`);
  });

  test('as JSON is one line, with sources as the settings take them', () => {
    expect(JSON.parse(mappingJson(mapped(settings)))).toMatchObject({
      topics: ['orders'],
      columns: [
        { name: 'line', from: 'line', type: 'text', notNull: true, noValue: 'default' },
        { name: 'customer_id', from: 'customer_id', noValue: 'dead letter' },
        { name: 'created_at', from: '/a~1b/0', as: 'epoch-millis', noValue: 'default' },
        { name: 'state', from: '$key/i~0.x', noValue: 'default' },
        { name: 'note', from: '$offset', noValue: null },
      ],
    });
  });
});
