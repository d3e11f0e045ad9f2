import { describe, expect, test } from '@jest/globals';
import { mappingJson, mappingLines } from '../../../../app/commands/tables/check/shown-mapping.ts';
import { COLUMNS, column, field, keyOf, mapped, resolved, unique } from './mapped-orders.ts';

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
