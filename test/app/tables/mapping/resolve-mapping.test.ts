import { describe, expect, test } from '@jest/globals';
import { mappingJson, mappingLines } from '../../../../app/commands/tables/check/shown-mapping.ts';
import { resolveMapping } from '../../../../app/tables/mapping/resolve-mapping.ts';
import type { CatalogColumn, CatalogTable, UniqueIndex } from '../../../../app/tables/mapping/table-catalog.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';

const column = (name: string, more: Partial<CatalogColumn> = {}): CatalogColumn => ({
  name,
  type: { kind: 'text', name: 'text' },
  typeWithoutInput: null,
  notLess: 'OPERATOR(pg_catalog.>=)',
  isNotNull: false,
  hasDefault: false,
  isGenerated: false,
  identity: null,
  nullableType: 'text',
  isTypeUsable: true,
  collation: null,
  defaultExpression: null,
  isInsertable: true,
  isSelectable: true,
  isUpdatable: true,
  forbiddenSequence: null,
  ...more,
});

const identity = (name: string, kind: 'always' | 'by default') =>
  column(name, { identity: kind, isNotNull: true, hasDefault: true });

const TIMES = { type: { kind: 'timestamp', name: 'timestamp with time zone' } } as const;

const COLUMNS = [
  identity('row_id', 'always'),
  identity('line', 'by default'),
  column('customer_id', { isNotNull: true }),
  column('created_at', { ...TIMES, hasDefault: true, defaultExpression: 'now()' }),
  column('state', { isNotNull: true, hasDefault: true }),
  column('note'),
  column('total', { isGenerated: true }),
];

/** A unique index that rows can be found by. */
const unique = (columns: readonly string[], more: Partial<UniqueIndex> = {}): UniqueIndex => ({
  name: 'orders_pkey',
  constraint: 'orders_pkey',
  isPrimary: true,
  isValid: true,
  isImmediate: true,
  isPartial: false,
  isExclusion: false,
  columns: columns.map((name) => ({ name, isOtherCollation: false, isOtherClass: false, equality: null })),
  ...more,
});

function catalogTable(
  columns: readonly CatalogColumn[],
  serverVersion: number,
  uniqueIndexes: readonly UniqueIndex[] = [],
): CatalogTable {
  return {
    schema: 'public',
    table: 'orders',
    serverVersion,
    role: 'writer',
    database: 'shop',
    mayMakeTemporary: true,
    hasSchema: true,
    maySeeSchema: true,
    others: [],
    relation: {
      oid: 1,
      kind: 'r',
      isUnlogged: false,
      unsafePartitions: [],
      isOwn: false,
      hasRowSecurity: false,
      isInsertable: true,
      isDeletable: true,
      rules: [],
      partitionedBy: [],
      uniqueIndexes,
      foreignKeys: [],
      rowTriggers: [],
      fingerprint: '',
      stagedFingerprint: '',
      columns,
    },
  };
}

interface Catalog {
  readonly columns?: readonly CatalogColumn[];
  readonly version?: number;
  readonly indexes?: readonly UniqueIndex[];
}

function resolved(settings: Partial<TableSettings>, { columns = COLUMNS, version = 18, indexes }: Catalog) {
  const entry = {
    topics: ['orders'],
    schema: 'public',
    table: 'orders',
    key: null,
    fields: 'same',
    columns: {},
    ...settings,
  } as const;
  return resolveMapping(entry, catalogTable(columns, version * 10_000 + 4, indexes), 'tables[0]');
}

/** @throws Error with the problems where there are any */
function mapped(settings: Partial<TableSettings> = {}, catalog: Catalog = {}) {
  const { mapping, problems } = resolved(settings, catalog);
  if (mapping === null) {
    throw new Error(JSON.stringify(problems));
  }
  return mapping;
}

const sourcesOf = (...given: Parameters<typeof mapped>) =>
  Object.fromEntries(mapped(...given).columns.map(({ name, source }) => [name, source]));

const field = (...path: readonly (string | number)[]) => ({ kind: 'field', path });

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

const keyOf = (...columns: readonly string[]) => ({ columns, existing: 'replace', delete: 'tombstones' }) as const;

describe('a column of the key', () => {
  test.each([[15], [18]])('has to have a value, whatever the column says, by PostgreSQL %i', (version) => {
    const names = ['row_id', 'created_at', 'note'];
    const { columns, stage, unwritten } = mapped({ key: keyOf(...names) }, { version, indexes: [unique(names)] });
    expect(stage?.columns).toContainEqual({ name: 'created_at', type: 'text', collation: null, default: null });
    expect(columns.filter(({ name }) => names.includes(name))).toMatchObject(
      names.map((name) => ({ name, source: field(name), isNotNull: true, hasDefault: false })),
    );
    expect(unwritten.map(({ name }) => name)).toEqual(['line', ...(version < 16 ? ['state'] : []), 'total']);
  });

  test('is found by an index over the columns in any order, and by no other', () => {
    const key = keyOf('note', 'state');
    expect(mapped({ key }, { indexes: [unique(['note']), unique(['state', 'note'])] }).key).toEqual(key);
    const others = [unique(['note', 'state'], { isExclusion: true }), unique(['note', 'state', 'line'])];
    const { problems } = resolved({ key }, { indexes: others });
    expect(problems).toEqual([
      {
        path: 'tables[0].key',
        message:
          'has no unique index that rows can be found by; the table has orders_pkey (note, state), which is WITHOUT OVERLAPS; orders_pkey (note, state, line), over other columns',
        given: ['note', 'state'],
        allowed:
          'columns of a unique index; or ALTER TABLE public.orders DROP CONSTRAINT orders_pkey; CREATE UNIQUE INDEX ON public.orders (note, state)',
      },
    ]);
  });

  test('may be an identity that is ALWAYS, and no other column that is written may where rows are replaced', () => {
    const columns = { row_id: { from: 'id' }, line: { from: 'line' } } as const;
    const indexes = [unique(['row_id']), unique(['line'])];
    expect(mapped({ key: keyOf('row_id') }, { indexes }).stage).toMatchObject({ overridesIdentity: true });
    expect(mapped({ key: keyOf('line') }, { indexes }).stage).toMatchObject({ overridesIdentity: false });
    const kept = { ...keyOf('line'), existing: 'keep' } as const;
    expect(mapped({ key: kept, columns }, { indexes }).stage).toMatchObject({ overridesIdentity: true });
    expect(resolved({ key: keyOf('line'), columns }, { indexes }).problems).toMatchObject([
      { path: 'tables[0].columns.row_id', given: 'id' },
    ]);
  });
});

describe('the primary key, where the settings ask for it,', () => {
  const primary = { columns: null, existing: 'replace', delete: 'tombstones' } as const;
  const others = [unique(['note'], { name: 'by_note', constraint: null, isPrimary: false })];

  test('has the columns that the catalog has, in its order, whatever other indexes there are', () => {
    const { key, columns } = mapped({ key: primary }, { indexes: [...others, unique(['state', 'customer_id'])] });
    expect(key).toEqual({ ...keyOf('state', 'customer_id'), isPrimary: true });
    expect(columns.filter(({ isNotNull, hasDefault }) => isNotNull && !hasDefault).map(({ name }) => name)).toEqual([
      'customer_id',
      'state',
    ]);
  });

  test('may be an identity that is ALWAYS, which records then have to have a value for', () => {
    const { columns, stage } = mapped({ key: primary }, { indexes: [unique(['row_id'])] });
    expect(columns[0]).toMatchObject({ name: 'row_id', isNotNull: true, hasDefault: false });
    expect(stage).toMatchObject({ overridesIdentity: true });
  });

  test.each([
    ['none of the other indexes may be one', others, '…'],
    ['another unique index may be one', [...others, unique(['state'], { isPrimary: false })], 'state'],
  ])('is a problem with the statement that mends it where there is none and %s', (_, indexes, columns) => {
    const { problems } = resolved({ key: primary, columns: { nothing: { from: 'x' } } }, { indexes });
    expect(problems).toMatchObject([
      {
        path: 'tables[0].key',
        message: 'asks for the primary key of the table, which has none',
        given: 'primary',
        allowed: expect.stringContaining(`ALTER TABLE public.orders ADD PRIMARY KEY (${columns})`),
      },
      { path: 'tables[0].columns.nothing' },
    ]);
  });

  test('is one problem where a column of it is left out, or rows cannot be found by it', () => {
    const indexes = [unique(['customer_id', 'note'])];
    expect(resolved({ key: primary, columns: { customer_id: false } }, { indexes }).problems).toMatchObject([
      { path: 'tables[0].columns.customer_id', message: expect.stringContaining('a column of the primary key') },
    ]);
    const deferrable = [unique(['customer_id', 'note'], { isImmediate: false })];
    expect(resolved({ key: primary }, { indexes: deferrable }).problems).toMatchObject([
      { path: 'tables[0].key', given: 'primary', message: expect.stringContaining('which is deferrable') },
    ]);
    expect(resolved({ key: primary }, { indexes: [unique(['note', 'total'])] }).problems).toMatchObject([
      { path: 'tables[0].key', given: 'total', message: 'is a generated column, which PostgreSQL alone writes' },
    ]);
  });

  test('is shown with its columns', () => {
    const mapping = mapped({ key: primary }, { indexes: [unique(['note', 'state'])] });
    expect(mappingLines(mapping).join('\n')).toContain(
      '\n  key: note, state, the primary key; rows that are there are replaced; tombstones delete them;',
    );
    expect(JSON.parse(mappingJson(mapping))).toMatchObject({ key: { columns: ['note', 'state'], isPrimary: true } });
  });
});

describe('a version', () => {
  const indexes = [unique(['note'])];
  const versioned = (version: string, more: object = {}) => ({ key: { ...keyOf('note'), version }, ...more });

  test.each([[15], [18]])('has to have a value, whatever default its column has, by PostgreSQL %i', (version) => {
    const { columns, stage } = mapped(versioned('created_at'), { version, indexes });
    expect(columns).toContainEqual(expect.objectContaining({ name: 'created_at', isNotNull: true, hasDefault: false }));
    expect(stage).toMatchObject({
      notOlder: 'OPERATOR(pg_catalog.>=)',
      columns: expect.arrayContaining([{ name: 'created_at', type: 'text', collation: null, default: null }]),
    });
    expect(mapped({ key: keyOf('note') }, { version, indexes }).stage).not.toHaveProperty('notOlder');
  });

  test('is a column that is there, that records write and that has an order, each of which is reported', () => {
    const columns = [...COLUMNS, column('raw', { type: { kind: 'json', name: 'json' }, notLess: null })];
    const pathsOf = (version: string) =>
      resolved(versioned(version), { indexes, columns }).problems.map(({ path, message }) => `${path} ${message}`);
    expect(pathsOf('creatd_at')).toEqual(['tables[0].version is no column of the table']);
    expect(pathsOf('total')).toEqual(['tables[0].version is a generated column, which PostgreSQL alone writes']);
    expect(pathsOf('raw')).toEqual(['tables[0].version is of the type json, whose values PostgreSQL cannot order']);
    expect(pathsOf('row_id')).toEqual([expect.stringContaining('tables[0].columns.row_id is GENERATED ALWAYS')]);
    expect(pathsOf('line')).toEqual([]);
  });

  test('is no column of the primary key, and is looked at where there is none', () => {
    const primary = (version: string) => ({ key: { ...keyOf(), columns: null, version } }) as const;
    const pathsOf = (version: string, keys: typeof indexes) =>
      resolved(primary(version), { indexes: keys }).problems.map(({ path, message }) => `${path} ${message}`);
    expect(pathsOf('note', indexes)).toEqual([
      'tables[0].version is a column of the key: two rows of one key would never differ in it',
    ]);
    expect(pathsOf('line', indexes)).toEqual([]);
    expect(pathsOf('lin', [])).toEqual([
      'tables[0].key asks for the primary key of the table, which has none',
      'tables[0].version is no column of the table',
    ]);
  });

  test('and conditions are shown', () => {
    const when = [
      { source: { kind: 'field', path: ['meta', 'type'] }, values: ['a', 'b'] },
      { source: { kind: 'header', name: 'from' }, values: ['eu'] },
    ] as const;
    const settings = {
      when,
      refusesUnmatched: true,
      key: { ...keyOf('note'), version: 'line', delete: ['gone'] },
    } as const;
    const lines = mappingLines(mapped(settings, { indexes }));
    expect(lines).toContain(
      '  takes records where meta.type is a or b, and $header.from is eu; what no table takes is a dead letter',
    );
    expect(lines).toContain(
      '  key: note; rows that are there are replaced unless their line is newer; tombstones delete them, and records whose gone is true, unless they are newer; through a temporary table',
    );
    expect(JSON.parse(mappingJson(mapped(settings, { indexes })))).toMatchObject({
      key: { version: 'line' },
      when: [
        { from: 'meta.type', values: ['a', 'b'] },
        { from: '$header.from', values: ['eu'] },
      ],
      unmatched: 'dead-letter',
    });
    expect(JSON.parse(mappingJson(mapped({ key: keyOf('note') }, { indexes })))).toMatchObject({
      key: { version: null },
      when: null,
      unmatched: 'count',
    });
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
