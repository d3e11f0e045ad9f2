import { nearestKey, type Problem, problemIf } from '../../../settings/schema/problem.ts';
import type { TableSettings } from '../../../settings/sections/tables.ts';
import { sqlName } from '../../store/connection/sql-name.ts';
import type { CatalogColumn, CatalogRelation, CatalogTable, UniqueIndex } from './table-catalog.ts';
import type { TableKey } from './table-mapping.ts';

const shownIndex = ({ name, columns }: UniqueIndex): string =>
  `${name} (${columns.map((column) => column.name ?? '…').join(', ')})`;

/** As the settings have it. */
const shownKey = ({ columns: [first, ...others], isPrimary }: TableKey) =>
  isPrimary ? 'primary' : others.length === 0 ? first : [first, ...others];

/**
 * Whether ON CONFLICT with the key's columns takes the index, usable or not: all columns, in any order, and all rows.
 */
const isTaken = ({ columns, isValid, isPartial }: UniqueIndex, key: readonly string[]): boolean =>
  isValid && !isPartial && isOver(columns, key);

const isOver = (columns: UniqueIndex['columns'], key: readonly string[]): boolean =>
  columns.length === key.length && columns.every(({ name }) => name !== null && key.includes(name));

/**
 * Why rows are not found by the index; `null` where they are (PostgreSQL documentation, INSERT, "ON CONFLICT Clause").
 */
function unusable(index: UniqueIndex, key: readonly string[]): string | null {
  const { columns } = index;
  if (!isOver(columns, key)) {
    return columns.some(({ name }) => name === null) ? 'over an expression' : 'over other columns';
  }
  const [collated] = columns.filter(({ isOtherCollation }) => isOtherCollation);
  const [classed] = columns.filter(({ isOtherClass }) => isOtherClass);
  const reasons = [
    index.isPartial && 'which is partial',
    !index.isValid && 'which is not valid',
    index.isExclusion && 'which is WITHOUT OVERLAPS',
    !index.isImmediate && 'which is deferrable',
    collated && `whose collation is not that of the column ${collated.name}`,
    classed && `whose operator class is not the default of the column ${classed.name}`,
  ];
  return reasons.find((reason) => typeof reason === 'string') || null;
}

/** The unique index that rows are found by. */
export const keyIndex = (
  { uniqueIndexes }: CatalogRelation,
  { columns }: Pick<TableKey, 'columns'>,
): UniqueIndex | undefined => uniqueIndexes.find((index) => unusable(index, columns) === null);

/** An entry of `tables` with the columns of its key. */
export type KeyedSettings = Omit<TableSettings, 'key'> & { readonly key: TableKey | null };

/**
 * An entry with the columns of its key: those of the settings, or of the primary key, in its order. Without a primary
 * key they are none, which {@link keyProblems} reports.
 */
export function withKeyColumns(settings: TableSettings, { uniqueIndexes }: CatalogRelation): KeyedSettings {
  const { key } = settings;
  if (key === null) {
    return { ...settings, key };
  }
  const { columns, ...others } = key;
  if (columns !== null) {
    return { ...settings, key: { columns, ...others } };
  }
  const primary = uniqueIndexes.find(({ isPrimary }) => isPrimary);
  const found = (primary?.columns ?? []).flatMap(({ name }) => name ?? []);
  return { ...settings, key: { columns: found, isPrimary: true, ...others } };
}

/** A table that the settings ask the primary key of, and that has none. */
function noPrimaryKey(found: CatalogTable, relation: CatalogRelation, path: string): Problem {
  const table = sqlName(found.schema, found.table);
  const isNotNull = (column: string | null) => relation.columns.find(({ name }) => name === column)?.isNotNull === true;
  const near = relation.uniqueIndexes.find((index) => {
    const names = index.columns.flatMap(({ name }) => name ?? []);
    return unusable(index, names) === null && names.every(isNotNull);
  });
  const columns = near?.columns.flatMap(({ name }) => (name === null ? [] : sqlName(name))).join(', ') ?? '…';
  return {
    path,
    message: 'asks for the primary key of the table, which has none',
    given: 'primary',
    allowed: `ALTER TABLE ${table} ADD PRIMARY KEY (${columns}), with the columns that the records are keyed by; or the columns of a unique index in the place of primary`,
  };
}

/**
 * PostgreSQL asks every unique index over exactly the key's columns. One that is deferrable is an error, and one that
 * compares otherwise finds a row with another key.
 */
function indexProblems(found: CatalogTable, relation: CatalogRelation, key: TableKey, path: string) {
  const { columns } = key;
  const table = sqlName(found.schema, found.table);
  const { uniqueIndexes } = relation;
  const inTheWay = uniqueIndexes.filter((index) => isTaken(index, columns) && unusable(index, columns) !== null);
  const isFound = keyIndex(relation, { columns }) !== undefined;
  if (isFound && inTheWay.length === 0) {
    return [];
  }
  const drops = inTheWay.map(({ name, constraint }) =>
    constraint === null
      ? `DROP INDEX ${sqlName(found.schema, name)}`
      : `ALTER TABLE ${table} DROP CONSTRAINT ${sqlName(constraint)}`,
  );
  const names = columns.map((name) => sqlName(name)).join(', ');
  const hasPrimary = uniqueIndexes.some((index) => index.isPrimary && !inTheWay.includes(index));
  const creation = hasPrimary
    ? `CREATE UNIQUE INDEX ON ${table} (${names})`
    : `ALTER TABLE ${table} ADD PRIMARY KEY (${names})`;
  const listed = (indexes: readonly UniqueIndex[]): string =>
    indexes.map((index) => `${shownIndex(index)}, ${unusable(index, columns)}`).join('; ');
  const message = isFound
    ? `is compared by a further unique index, which PostgreSQL would ask as well: ${listed(inTheWay)}`
    : `has no unique index that rows can be found by; the table has ${listed(uniqueIndexes) || 'none at all'}`;
  const allowed = [...drops, ...(isFound ? [] : [creation])].join('; ');
  return [
    {
      path,
      message,
      given: shownKey(key),
      allowed: isFound ? allowed : `columns of a unique index; or ${allowed}`,
    },
  ];
}

/** Columns of the key that do not identify a record. */
function keyColumnProblems(
  { columns, isPrimary }: TableKey,
  relation: CatalogRelation,
  settings: KeyedSettings['columns'],
  entry: string,
): readonly Problem[] {
  const path = `${entry}.key`;
  const names = relation.columns.map(({ name }) => name);
  return columns.flatMap((given, nth): readonly Problem[] => {
    const place = columns.length === 1 || isPrimary ? path : `${path}[${nth}]`;
    const found = relation.columns.find(({ name }) => name === given);
    if (found === undefined) {
      const nearest = nearestKey(given, names);
      const allowed = `the table's columns: ${names.join(', ')}`;
      return [{ path: place, message: 'is no column of the table', given, allowed, ...(nearest && { nearest }) }];
    }
    if (Object.hasOwn(settings, given) && settings[given] === false) {
      const message = 'leaves out a column of the primary key, which rows are found by';
      const allowed = 'a source for the column; or key with the columns of another unique index';
      return [{ path: `${entry}.columns.${given}`, message, given: false, allowed }];
    }
    return problemIf(found.isGenerated, {
      path: place,
      message: 'is a generated column, which PostgreSQL alone writes',
      given,
      allowed: 'columns that records have values for',
    });
  });
}

/** Why rows cannot be compared by the column of their version; nothing where there is none. */
function versionProblems({ columns }: CatalogRelation, key: TableKey, path: string): readonly Problem[] {
  const { version } = key;
  if (version === undefined) {
    return [];
  }
  const names = columns.map(({ name }) => name);
  const found = columns.find(({ name }) => name === version);
  if (found === undefined) {
    const nearest = nearestKey(version, names);
    const allowed = `the table's columns: ${names.join(', ')}`;
    return [{ path, message: 'is no column of the table', given: version, allowed, ...(nearest && { nearest }) }];
  }
  return [
    ...problemIf(key.columns.includes(version), {
      path,
      message: 'is a column of the key: two rows of one key would never differ in it',
      given: version,
      allowed: 'a column beside those of the key',
    }),
    ...problemIf(found.isGenerated, {
      path,
      message: 'is a generated column, which PostgreSQL alone writes',
      given: version,
      allowed: 'a column that records have values for',
    }),
    ...problemIf(found.notLess === null, {
      path,
      message: `is of the type ${found.type.name}, whose values PostgreSQL cannot order`,
      given: version,
      allowed: 'a column of a type that an index can order, such as bigint, numeric, timestamptz, text or uuid',
    }),
  ];
}

/** @returns all that is wrong with the key itself, and with the version; nothing without a key */
export function keyProblems(
  found: CatalogTable,
  relation: CatalogRelation,
  { key, columns }: KeyedSettings,
  entry: string,
): readonly Problem[] {
  if (key === null) {
    return [];
  }
  const ofVersion = versionProblems(relation, key, `${entry}.version`);
  const path = `${entry}.key`;
  if (key.columns.length === 0) {
    return [noPrimaryKey(found, relation, path), ...ofVersion];
  }
  const ofColumns = keyColumnProblems(key, relation, columns, entry);
  if (ofColumns.length > 0) {
    return [...ofColumns, ...ofVersion];
  }
  return [...indexedBy(found, relation, key, path), ...ofVersion];
}

function indexedBy(found: CatalogTable, relation: CatalogRelation, key: TableKey, path: string): readonly Problem[] {
  const lacking = relation.partitionedBy.filter((name) => !key.columns.includes(name));
  return lacking.length === 0
    ? indexProblems(found, relation, key, path)
    : [
        {
          path,
          message: 'lacks a column that the table is partitioned by, without which PostgreSQL keeps nothing unique',
          given: shownKey(key),
          allowed: `a key with ${lacking.join(', ')} in it, and a unique index over all of its columns`,
        },
      ];
}

/** A privilege that is missing: on the whole table where the role has it on none of the columns. */
function missingOn(privilege: string, columns: readonly CatalogColumn[], has: (column: CatalogColumn) => boolean) {
  const missing = columns.filter((column) => !has(column));
  const names = missing.map(({ name }) => sqlName(name)).join(', ');
  return missing.length === 0 ? [] : [missing.length === columns.length ? privilege : `${privilege} (${names})`];
}

/** Privileges that rows are found, replaced and deleted with. */
function keyPrivileges(
  { key }: KeyedSettings,
  { isDeletable }: CatalogRelation,
  written: readonly CatalogColumn[],
): readonly string[] {
  if (key === null) {
    return [];
  }
  const others = key.existing === 'keep' ? [] : written.filter(({ name }) => !key.columns.includes(name));
  return [
    ...missingOn('SELECT', written, ({ isSelectable }) => isSelectable),
    ...missingOn('UPDATE', others, ({ isUpdatable }) => isUpdatable),
    ...(isDeletable || key.delete === 'never' ? [] : ['DELETE']),
  ];
}

/** What keeps rows from coming to the table through a temporary one, its stage. */
export function stageProblems(
  found: CatalogTable,
  relation: CatalogRelation,
  settings: KeyedSettings,
  { entry, written }: { readonly entry: string; readonly written: readonly CatalogColumn[] },
): readonly Problem[] {
  const { role, database, schema, table } = found;
  const path = settings.key === null ? `${entry}.table` : `${entry}.key`;
  const privileges = keyPrivileges(settings, relation, written);
  return [
    ...problemIf(privileges.length > 0, {
      path,
      message: `needs privileges that the role ${role} does not have`,
      given: privileges,
      allowed: `GRANT ${privileges.join(', ')} ON ${sqlName(schema, table)} TO ${sqlName(role)}`,
    }),
    ...problemIf(!found.mayMakeTemporary, {
      path,
      message: `needs a temporary table${settings.key === null ? ', as the table has row-level security' : ''}, and the role ${role} may make none`,
      allowed: `GRANT TEMPORARY ON DATABASE ${sqlName(database)} TO ${sqlName(role)}`,
    }),
    ...problemIf(relation.rules.length > 0, {
      path,
      message: 'is of a table with rules, which may put the rows elsewhere',
      given: relation.rules,
      allowed: `a table without rules, as a trigger does what a rule is for: DROP RULE … ON ${sqlName(schema, table)}`,
    }),
    ...written
      .filter(({ isTypeUsable }) => !isTypeUsable)
      .map(({ name, nullableType }) => ({
        path: `${entry}.columns.${name}`,
        message: `is of the type ${nullableType}, which the role ${role} may not make a temporary table with`,
        allowed: `USAGE on the type, and on its schema, for ${sqlName(role)}; or false`,
      })),
  ];
}
