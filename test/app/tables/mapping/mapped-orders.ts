import { resolveMapping } from '../../../../app/tables/mapping/resolve-mapping.ts';
import type { CatalogColumn, CatalogTable, UniqueIndex } from '../../../../app/tables/mapping/table-catalog.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';

export const column = (name: string, more: Partial<CatalogColumn> = {}): CatalogColumn => ({
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

export const COLUMNS = [
  identity('row_id', 'always'),
  identity('line', 'by default'),
  column('customer_id', { isNotNull: true }),
  column('created_at', { ...TIMES, hasDefault: true, defaultExpression: 'now()' }),
  column('state', { isNotNull: true, hasDefault: true }),
  column('note'),
  column('total', { isGenerated: true }),
];

/** A unique index that rows can be found by. */
export const unique = (columns: readonly string[], more: Partial<UniqueIndex> = {}): UniqueIndex => ({
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
      refersToItself: false,
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

export function resolved(settings: Partial<TableSettings>, { columns = COLUMNS, version = 18, indexes }: Catalog) {
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
export function mapped(settings: Partial<TableSettings> = {}, catalog: Catalog = {}) {
  const { mapping, problems } = resolved(settings, catalog);
  if (mapping === null) {
    throw new Error(JSON.stringify(problems));
  }
  return mapping;
}

/** The key of an entry that replaces rows and takes tombstones as deletes. */
export const keyOf = (...columns: readonly string[]) =>
  ({ columns, existing: 'replace', delete: 'tombstones' }) as const;

/** A field of a record's value, as the source of a column. */
export const field = (...path: readonly (string | number)[]) => ({ kind: 'field', path });
