import { describeProblem, type Problem } from '../../../../settings/schema/problem.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';
import { printable } from '../../../logging/printable-text.ts';
import { sqlName } from '../../../store/connection/sql-name.ts';
import { KIND_BY_TYPE } from '../../../tables/mapping/column-types.ts';
import { resolveMapping } from '../../../tables/mapping/resolve-mapping.ts';
import type {
  CatalogColumn,
  CatalogRelation,
  CatalogTable,
  UniqueIndex,
} from '../../../tables/mapping/table-catalog.ts';
import type { WantedColumn, WantedTable } from './wanted-columns.ts';

/** The catalog's types by their kind, and those that SQL has another name for. */
const KIND_BY_SQL_TYPE: typeof KIND_BY_TYPE = {
  ...KIND_BY_TYPE,
  ...{ boolean: 'boolean', smallint: 'integer', integer: 'integer', bigint: 'integer' },
  ...{ real: 'float', 'double precision': 'float' },
};

/** Types that no row can be found newer by. */
const WITHOUT_ORDER: readonly string[] = ['point', 'xml'];

/** A column that is not there yet, as the catalog would have it. */
const futureColumn = ({ name, type, isNotNull }: WantedColumn, isInsertable: boolean): CatalogColumn => ({
  name,
  type: { kind: KIND_BY_SQL_TYPE[type.replace(/\(.*/, '')] ?? 'other', name: type },
  typeWithoutInput: null,
  notLess: WITHOUT_ORDER.includes(type) ? null : 'OPERATOR(pg_catalog.>=)',
  isNotNull,
  hasDefault: false,
  isGenerated: false,
  identity: null,
  nullableType: type,
  isTypeUsable: true,
  collation: null,
  defaultExpression: null,
  isInsertable,
  isSelectable: isInsertable,
  isUpdatable: isInsertable,
  forbiddenSequence: null,
});

const uniqueIndex = (columns: readonly string[], nth: number): UniqueIndex => ({
  name: '',
  constraint: null,
  isPrimary: nth === 0,
  isValid: true,
  isImmediate: true,
  isPartial: false,
  isExclusion: false,
  columns: columns.map((name) => ({ name, isOtherCollation: false, isOtherClass: false, equality: null })),
});

/** A table that is not there yet, and that the role has no privilege on. */
const futureTable = (columns: readonly WantedColumn[], keys: readonly (readonly string[])[]): CatalogRelation => ({
  oid: 0,
  kind: 'r',
  isUnlogged: false,
  unsafePartitions: [],
  isOwn: false,
  hasRowSecurity: false,
  isInsertable: false,
  isDeletable: false,
  rules: [],
  partitionedBy: [],
  uniqueIndexes: keys.map(uniqueIndex),
  foreignKeys: [],
  refersToItself: false,
  rowTriggers: [],
  fingerprint: '',
  stagedFingerprint: '',
  columns: columns.map((column) => futureColumn(column, false)),
});

/** The keys of the entries, each once, by the first entry that has its columns. */
function entryKeys(entries: readonly TableSettings[]): readonly (readonly string[])[] {
  const keys = new Map<string, readonly string[]>();
  for (const columns of entries.flatMap(({ key }) => (key?.columns ? [key.columns] : []))) {
    const name = JSON.stringify(columns.toSorted());
    keys.set(name, keys.get(name) ?? columns);
  }
  return [...keys.values()];
}

const columnNames = (columns: readonly string[]): string => columns.map((name) => sqlName(name)).join(', ');

const commented = (remarks: readonly string[]): string =>
  remarks.length === 0 ? '' : ` -- ${remarks.map(printable).join('; ')}`;

/** Lines of a list in SQL: the comma is in front of the comment. */
const listed = (items: readonly { readonly sql: string; readonly remarks: readonly string[] }[]): readonly string[] =>
  items.map(({ sql, remarks }, nth) => `  ${sql}${nth < items.length - 1 ? ',' : ''}${commented(remarks)}`);

function creation(
  { schema, table, hasSchema }: CatalogTable,
  columns: readonly WantedColumn[],
  keys: readonly (readonly string[])[],
): readonly string[] {
  const name = sqlName(schema, table);
  const [primary, ...others] = keys;
  const items = columns.map((column) => ({
    sql: `${sqlName(column.name)} ${column.type}${column.isNotNull ? ' NOT NULL' : ''}`,
    remarks: column.remarks,
  }));
  const key = primary === undefined ? [] : [{ sql: `PRIMARY KEY (${columnNames(primary)})`, remarks: [] }];
  return [
    ...(hasSchema ? [] : [`CREATE SCHEMA IF NOT EXISTS ${sqlName(schema)};`]),
    `CREATE TABLE ${name} (`,
    ...listed([...items, ...key]),
    ');',
    ...others.map((columnsOfKey) => `CREATE UNIQUE INDEX ON ${name} (${columnNames(columnsOfKey)});`),
  ];
}

/** Rows that are there have no value in a new column, so none is NOT NULL. */
function additions({ schema, table }: CatalogTable, columns: readonly WantedColumn[]): readonly string[] {
  const items = columns.map(({ name, type, remarks, isNotNull }) => ({
    sql: `ADD COLUMN ${sqlName(name)} ${type}`,
    remarks: [...remarks, ...(isNotNull ? ['each record has one; rows that are there have none'] : [])],
  }));
  const lines = listed(items).map((line, nth) => (nth < items.length - 1 ? line : line.replace(/( --|$)/, ';$1')));
  return items.length === 0 ? [] : [`ALTER TABLE ${sqlName(schema, table)}`, ...lines];
}

/** `relkind` of pg_class: what may be given columns. */
const TABLE_KINDS: readonly string[] = ['r', 'p'];

/** A problem as comments. */
export const reviewLines = (problem: Problem): string =>
  describeProblem(problem)
    .split('\n')
    .map((line) => `-- REVIEW: ${printable(line.trim())}`)
    .join('\n');

const GRANT = /^GRANT [^;]*/;

/** What `tables check` would still say: statements for what a GRANT mends, and comments for the rest. */
function remaining(problems: readonly Problem[]): readonly string[] {
  const grants = problems.flatMap(({ allowed }) => GRANT.exec(allowed ?? '')?.[0] ?? []);
  const others = problems.filter(({ allowed }) => !GRANT.test(allowed ?? ''));
  return [...new Set(grants.map((grant) => `${grant};`)), ...others.map(reviewLines)];
}

/** The table as it will be: what is there, and what is added. */
function afterwards(
  { relation, ...found }: CatalogTable,
  added: readonly WantedColumn[],
  keys: readonly (readonly string[])[],
) {
  const future =
    relation === null
      ? futureTable(added, keys)
      : {
          ...relation,
          columns: [...relation.columns, ...added.map((column) => futureColumn(column, relation.isInsertable))],
        };
  return { ...found, relation: future };
}

const ALL_FIELDS_TAKEN = 'each field has a column';
const NO_FIELDS_SEEN = 'is there, and no record shows its fields yet';

/** What is printed about one table. */
export interface TableStatements {
  readonly lines: readonly string[];
  /** Such as `orders -> public.orders`. */
  readonly title: string;
  /** Why there is nothing to do: no statement, and nothing to review. `null`: there is something. */
  readonly complete: string | null;
}

/**
 * The statements that make a table what the settings need, with comments. Nothing is run.
 *
 * @param entries of the settings that fill the table; the key of the first with one becomes the primary key
 * @param found what the catalog has of it
 */
export function statements(
  entries: readonly (readonly [path: string, settings: TableSettings])[],
  found: CatalogTable,
  wanted: WantedTable,
): TableStatements {
  const settings = entries.map(([, entry]) => entry);
  const keys = entryKeys(settings);
  const there = found.relation?.columns.map(({ name }) => name) ?? [];
  const missing = wanted.columns.filter(({ name }) => !there.includes(name));
  const future = afterwards(found, missing, keys);
  const isOther = found.relation !== null && !TABLE_KINDS.includes(found.relation.kind);
  const made = found.relation === null ? creation(found, missing, keys) : additions(found, isOther ? [] : missing);
  const problems = entries.flatMap(([path, entry]) => resolveMapping(entry, future, path).problems);
  const topics = settings.flatMap((entry) => entry.topics);
  const title = `${[...new Set(topics)].map(printable).join(', ')} -> ${printable(`${found.schema}.${found.table}`)}`;
  const left = wanted.columns.length === 0 ? [] : remaining(problems);
  const isUnknown = wanted.columns.length === 0;
  const isReviewed = isUnknown || !wanted.remarks.some((each) => each.includes('REVIEW'));
  const isComplete = found.relation !== null && !isOther && made.length + left.length === 0 && isReviewed;
  return {
    title,
    complete: isComplete ? (isUnknown ? NO_FIELDS_SEEN : ALL_FIELDS_TAKEN) : null,
    lines: [
      `-- ${title}`,
      ...wanted.remarks.map((remark) => `-- ${printable(remark)}`),
      ...(wanted.columns.length === 0 ? [] : made.length > 0 || isOther ? made : [`-- ${ALL_FIELDS_TAKEN}`]),
      ...left,
    ],
  };
}

/** Many tables: a line for each that is complete, the statements of the others, and how many there are of both. */
export function statementList(tables: readonly TableStatements[]): readonly string[] {
  const complete = tables.flatMap((each) => (each.complete === null ? [] : [`-- ${each.title}: ${each.complete}`]));
  const others = tables.filter((each) => each.complete === null);
  return [
    ...(complete.length === 0 ? [] : [complete.join('\n')]),
    ...others.map((each) => each.lines.join('\n')),
    `-- ${tables.length} tables: ${complete.length} complete, ${others.length} to make, alter or look at`,
  ];
}
