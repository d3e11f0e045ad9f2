import { nearestKey, type Problem, problemIf } from '../../../settings/schema/problem.ts';
import { parseSource } from '../../../settings/sections/column-source.ts';
import type { ColumnSetting, TableSettings } from '../../../settings/sections/tables.ts';
import { sqlName } from '../../store/connection/sql-name.ts';
import type { CatalogColumn, CatalogRelation, CatalogTable } from './table-catalog.ts';
import { type KeyedSettings, keyIndex, keyProblems, stageProblems, withKeyColumns } from './table-key-problems.ts';
import type { ColumnSource, MappedColumn, TableMapping, TableStage } from './table-mapping.ts';
import { sequenceProblems, tableProblems } from './table-problems.ts';
import { sourceProblem, unitProblem } from './unusable-source.ts';

/** A column that no record has a value for. */
export interface UnwrittenColumn {
  readonly name: string;
  readonly type: string;
  /** What PostgreSQL puts there. */
  readonly gets: 'generated' | 'identity' | 'default' | 'null';
}

/** A mapping with what it was made from. Two that are equal in depth write the same rows. */
export interface CheckedMapping extends TableMapping {
  readonly unwritten: readonly UnwrittenColumn[];
  readonly relation: CatalogRelation;
  readonly serverVersion: number;
}

/** The first whose COPY knows the option DEFAULT, a marker for the column's default (documentation, COPY). */
export const DEFAULT_MARKER_SINCE = 160_000;

/** `customer_id` is the field `customerId`; a leading underscore stays. */
export const camelCase = (column: string): string =>
  column.replaceAll(/(?<=[^_])_+([\p{L}\p{N}])/gu, (_, letter: string) => letter.toUpperCase());

/** What the settings and the name rule say of one column: its source, or why it is left out. */
type Intent =
  | { readonly column: CatalogColumn; readonly setting: Exclude<ColumnSetting, false>; readonly source: ColumnSource }
  | { readonly column: CatalogColumn; readonly setting: undefined; readonly source: ColumnSource | null }
  | { readonly column: CatalogColumn; readonly setting: false; readonly source: null };

/** A COPY cannot replace or delete rows, and PostgreSQL refuses one under row-level security. */
const needsStage = ({ key }: KeyedSettings, relation: CatalogRelation): boolean =>
  key !== null || relation.hasRowSecurity;

/** Columns that every record that writes a row has a value for: those of the key, and the version. */
const isNeeded = (name: string, { key }: Pick<KeyedSettings, 'key'>): boolean =>
  key !== null && (key.columns.includes(name) || key.version === name);

/** An identity in a stage would be numbered apart from the table. */
const isLeftInStage = ({ identity }: CatalogColumn, settings: KeyedSettings, relation: CatalogRelation): boolean =>
  identity !== null && needsStage(settings, relation);

function intentOf(
  column: CatalogColumn,
  settings: KeyedSettings,
  { serverVersion }: CatalogTable,
  relation: CatalogRelation,
): Intent {
  const { columns, fields } = settings;
  const setting = Object.hasOwn(columns, column.name) ? columns[column.name] : undefined;
  if (setting === false) {
    return { column, setting, source: null };
  }
  if (setting !== undefined) {
    return { column, setting, source: parseSource(setting.from) };
  }
  const { name, isGenerated, identity, hasDefault } = column;
  const field = fields === 'camelCase' ? camelCase(name) : name;
  // Without the marker a row whose field is missing would get NULL in the place of the default.
  const isUnnamed =
    identity === 'always' ||
    isLeftInStage(column, settings, relation) ||
    (hasDefault && serverVersion < DEFAULT_MARKER_SINCE);
  const isLeft = isGenerated || (isUnnamed && !isNeeded(name, settings));
  return { column, setting, source: isLeft ? null : { kind: 'field', path: [field] } };
}

/** All that is wrong with one column, whose place is `path`. */
function columnProblems(
  { column, setting, source }: Intent,
  path: string,
  found: CatalogTable,
  { key, wholeValue: whole = 'object' }: KeyedSettings,
): readonly Problem[] {
  const { name, type, isNotNull, hasDefault, isGenerated, typeWithoutInput } = column;
  if (source === null) {
    const isOfKey = key?.columns.includes(name) === true;
    return problemIf(setting === false && isNotNull && !hasDefault && !isGenerated && !isOfKey, {
      path,
      message: 'leaves out a column that is NOT NULL and has no default: PostgreSQL would refuse each row',
      given: false,
      allowed: `a source for the column, or ALTER TABLE … ALTER ${sqlName(name)} SET DEFAULT …`,
    });
  }
  if (isGenerated) {
    return [
      { path, message: 'is a generated column, which PostgreSQL alone writes', given: setting?.from, allowed: 'false' },
    ];
  }
  if (typeWithoutInput !== null) {
    const message = `is of the type ${type.name}, and PostgreSQL reads no ${typeWithoutInput} from text`;
    return [{ path, message, allowed: 'false, or a column of another type' }];
  }
  // Where no column may be written that is one problem of the table.
  const isForbidden = !column.isInsertable && found.relation?.columns.some((other) => other.isInsertable);
  return [
    ...problemIf(isForbidden === true, {
      path,
      message: `is a column that the role ${found.role} may not insert into`,
      allowed: `GRANT INSERT (${sqlName(name)}) ON ${sqlName(found.schema, found.table)} TO ${sqlName(found.role)}; or false`,
    }),
    ...problemIf(column.identity === 'always' && key?.existing === 'replace' && !key.columns.includes(name), {
      path,
      message:
        'is GENERATED ALWAYS AS IDENTITY and not in the key: PostgreSQL puts no value into it in rows that are there',
      given: setting?.from,
      // A version has to be in the row that it is compared with, and is not compared where rows are kept.
      allowed: `${key?.version === name ? '' : 'false; or existing: keep; or '}ALTER TABLE … ALTER ${sqlName(name)} SET GENERATED BY DEFAULT`,
    }),
    ...(setting === undefined
      ? []
      : [...sourceProblem(path, setting, source, { type, whole }), ...unitProblem(path, setting.as, type)]),
  ];
}

/** Settings of columns that the table does not have. */
function unknownColumns({ columns }: KeyedSettings, relation: CatalogRelation, path: string): readonly Problem[] {
  const names = relation.columns.map(({ name }) => name);
  return Object.keys(columns)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const free = names.filter((known) => !Object.hasOwn(columns, known));
      const nearest = nearestKey(name, free) ?? nearestKey(name, names);
      return {
        path: `${path}.columns.${name}`,
        message: 'is no column of the table',
        allowed: `the table's columns: ${names.join(', ')}`,
        ...(nearest !== undefined && { nearest: `${path}.columns.${nearest}` }),
      };
    });
}

function mappedColumn(
  { column, setting }: Intent,
  source: ColumnSource,
  { serverVersion }: CatalogTable,
  given: { readonly isNeeded: boolean; readonly isLeft: boolean },
): MappedColumn {
  const { name, type } = column;
  const unit = setting ? setting.as : undefined;
  const isNotNull = column.isNotNull || given.isNeeded;
  const hasDefault = column.hasDefault && !given.isNeeded && !given.isLeft && serverVersion >= DEFAULT_MARKER_SINCE;
  const mapped = { name, type, source, isNotNull, hasDefault };
  return unit === undefined ? mapped : { ...mapped, unit };
}

function unwrittenColumn({ name, type, isGenerated, identity, hasDefault }: CatalogColumn): UnwrittenColumn {
  const given = identity === null ? (hasDefault ? 'default' : 'null') : 'identity';
  return { name, type: type.name, gets: isGenerated ? 'generated' : given };
}

/** @param columns that are written, each with what the mapping makes of it */
function stageOf(
  { key }: KeyedSettings,
  relation: CatalogRelation,
  columns: readonly { readonly column: CatalogColumn; readonly mapped: MappedColumn }[],
): TableStage {
  const index = key === null ? undefined : keyIndex(relation, key);
  const version = relation.columns.find(({ name }) => name === key?.version);
  const equality = (index?.columns ?? []).flatMap(({ name, equality: operator }) =>
    name === null || operator === null ? [] : [[name, operator] as const],
  );
  return {
    columns: columns.map(({ column, mapped }) => ({
      name: column.name,
      type: column.nullableType,
      collation: column.collation,
      default: mapped.hasDefault ? column.defaultExpression : null,
    })),
    equality: Object.fromEntries(equality),
    ...(version && version.notLess !== null && { notOlder: version.notLess }),
    tableOid: relation.oid,
    overridesIdentity: columns.some(({ column }) => column.identity === 'always'),
    mayDropRows: relation.rowTriggers.length > 0,
    ...((relation.foreignKeys.length > 0 || relation.refersToItself) && { hasReferences: true }),
  };
}

/** What an entry of the settings comes to. */
type Resolved =
  | { readonly mapping: CheckedMapping; readonly problems: readonly [] }
  | { readonly mapping: null; readonly problems: readonly Problem[] };

/**
 * A mapping out of an entry of `tables` and the catalog's answer for its table.
 *
 * A column takes the field of its name unless `columns` says otherwise. Left to PostgreSQL are generated columns,
 * identities ALWAYS that `columns` does not name, and before PostgreSQL 16 all columns with a default that it does not
 * name: in a row whose field is missing they would get NULL.
 *
 * @param path of the entry, such as `tables[0]`
 * @returns the mapping, or all problems of the entry at once
 */
export function resolveMapping(entry: TableSettings, found: CatalogTable, path: string): Resolved {
  const { relation, problems: ofTable } = tableProblems(found, path);
  if (relation === null) {
    return { mapping: null, problems: ofTable };
  }
  const settings = withKeyColumns(entry, relation);
  const { key, schema, table, topics, envelope, when, refusesUnmatched } = settings;
  const intents = relation.columns.map((column) => intentOf(column, settings, found, relation));
  const written = intents.flatMap((intent) => (intent.source === null ? [] : [{ ...intent, source: intent.source }]));
  const problems = [
    ...ofTable,
    ...keyProblems(found, relation, settings, path),
    ...(needsStage(settings, relation)
      ? stageProblems(found, relation, settings, { entry: path, written: written.map(({ column }) => column) })
      : []),
    ...sequenceProblems(found, relation, path),
    ...unknownColumns(settings, relation, path),
    ...intents.flatMap((intent) => columnProblems(intent, `${path}.columns.${intent.column.name}`, found, settings)),
    ...problemIf(written.length === 0, {
      path: `${path}.table`,
      message: 'has no column left that a record has a value for',
      given: `${found.schema}.${found.table}`,
      allowed: 'a table with at least one column that is not generated, not an identity and not false in columns',
    }),
  ];
  if (problems.length > 0) {
    return { mapping: null, problems };
  }
  const columns = written.map((intent) => {
    const { column } = intent;
    const isLeft = isLeftInStage(column, settings, relation);
    const mapped = mappedColumn(intent, intent.source, found, { isNeeded: isNeeded(column.name, settings), isLeft });
    return { column, mapped };
  });
  return {
    mapping: {
      columns: columns.map(({ mapped }) => mapped),
      stage: needsStage(settings, relation) ? stageOf(settings, relation, columns) : null,
      unwritten: intents.filter(({ source }) => source === null).map(({ column }) => unwrittenColumn(column)),
      ...{ schema, table, topics, key, relation, serverVersion: found.serverVersion },
      ...(envelope && { envelope }),
      ...(when && { when }),
      ...(refusesUnmatched && { refusesUnmatched }),
    },
    problems: [],
  };
}
