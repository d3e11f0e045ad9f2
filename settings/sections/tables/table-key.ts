import { type Static, Type } from 'typebox';
import type { Rule } from '../../schema/check.ts';
import { type Problem, problemIf } from '../../schema/problem.ts';
import { ALLOWED } from '../../schema/schema.ts';
import { type FieldPath, fieldMistake, parseField } from '../column-source.ts';

/** The key of a table whose rows are replaced and deleted by it. */
export interface TableKey {
  /** At least one, all of them mapped; a unique index is over exactly them. */
  readonly columns: readonly string[];
  /** What a record does to a row that has its key. */
  readonly existing: 'replace' | 'keep';
  /** Which records delete: `never` one; tombstones; tombstones and records whose value is true at the path. */
  readonly delete: 'never' | 'tombstones' | FieldPath;
  /** Whether the settings name no columns: they are those of the table's primary key. Left out: they name them. */
  readonly isPrimary?: true;
  /** The column that says which of two rows is newer: an older one replaces and deletes none. Left out: the last is. */
  readonly version?: string;
}

/** The key as an entry of `tables` sets it. */
export interface TableKeySetting extends Omit<TableKey, 'columns' | 'isPrimary'> {
  /** `null`: those of the table's primary key, which the catalog has. */
  readonly columns: readonly string[] | null;
}

/** The word for the primary key. A column of that name is written as a list. */
const PRIMARY = 'primary';

const keyColumn = { minLength: 1, [ALLOWED]: 'a column, named as in the catalog' };

const DELETE_ALLOWED = 'never; or the path of a field, such as meta.deleted, or /a.b for odd names';

/** What an entry of `tables` says of the key of its table. */
export const KEY_PROPERTIES = {
  key: Type.Optional(
    Type.Union([Type.String(keyColumn), Type.Array(Type.String(keyColumn), { minItems: 1, uniqueItems: true })], {
      [ALLOWED]: 'primary; a column, named as in the catalog; or a list of them, each once',
      description:
        'Columns that rows are replaced and deleted by; a unique index is needed over just them. primary: those of the primary key. What the value lacks comes from the record key. Left out: rows are appended.',
    }),
  ),
  existing: Type.Optional(
    Type.Enum(['replace', 'keep'], {
      description:
        'What a record does to a row that has its key: replace it, or keep it as it is. Only with key. Left out: replace.',
    }),
  ),
  delete: Type.Optional(
    Type.String({
      minLength: 1,
      [ALLOWED]: DELETE_ALLOWED,
      description:
        'Field of the value, such as deleted, that is true where the record deletes the row of its key, as a tombstone does. never: neither deletes. Only with key. Left out: tombstones alone delete.',
    }),
  ),
  version: Type.Optional(
    Type.String({
      ...keyColumn,
      description:
        'Column that says which row of a key is newer, such as updated_at: an older record neither replaces a row nor deletes it by the field of delete. Only with key. Left out: the last record counts.',
    }),
  ),
};

/** As much of an entry as the key is about. */
interface KeyedEntry {
  readonly key?: string | readonly string[];
  readonly existing?: Static<(typeof KEY_PROPERTIES)['existing']>;
  readonly delete?: string;
  readonly version?: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

interface KeyedTables {
  readonly tables: readonly KeyedEntry[];
}

const NEVER = 'never';

/** @returns none without a key, and where the catalog has them */
const keyColumnsOf = ({ key = PRIMARY }: KeyedEntry): readonly string[] =>
  typeof key === 'string' ? [key].filter((name) => name !== PRIMARY) : key;

/** The key of an entry; `null` without one. */
export function tableKeyOf(entry: KeyedEntry): TableKeySetting | null {
  if (entry.key === undefined) {
    return null;
  }
  const columns = entry.key === PRIMARY ? null : keyColumnsOf(entry);
  const { existing = 'replace', delete: given, version } = entry;
  const deletes = given === undefined ? 'tombstones' : given === NEVER ? NEVER : parseField(given);
  return { columns, existing, delete: deletes, ...(version !== undefined && { version }) };
}

const keyIsThere: Rule<KeyedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((entry, index) =>
      (['existing', 'delete', 'version'] as const).flatMap((name) =>
        problemIf(entry.key === undefined && entry[name] !== undefined, {
          path: `tables[${index}].${name}`,
          message: 'is set without key: rows are only appended, and none that is there is replaced or deleted',
          given: entry[name],
          allowed: 'nothing here; or key beside it, with the columns that rows are replaced and deleted by',
        }),
      ),
    ),
};

const keyIsWritten: Rule<KeyedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((entry, index) =>
      keyColumnsOf(entry)
        .filter((name) => Object.hasOwn(entry.columns, name) && entry.columns[name] === false)
        .map((name) => ({
          path: `tables[${index}].columns.${name}`,
          message: 'leaves out a column of the key: no record could be distinguished from another',
          given: false,
          allowed: 'a source for the column, or a key without it',
        })),
    ),
};

/** The word in other letters would be taken for a column. */
const keyIsWord: Rule<KeyedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ key }, index) =>
      problemIf(typeof key === 'string' && key !== PRIMARY && key.trim().toLowerCase() === PRIMARY, {
        path: `tables[${index}].key`,
        message: 'is not the word primary as it is written',
        given: key,
        allowed: `primary; [${key}] for a column of that name`,
      }),
    ),
};

const versionIsCompared: Rule<KeyedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((entry, index): readonly Problem[] => {
      const { version, existing, columns } = entry;
      if (version === undefined) {
        return [];
      }
      const path = `tables[${index}].version`;
      return [
        ...problemIf(existing === 'keep', {
          path,
          message: 'is not for existing: keep, by which a row that is there stays, however old it is',
          given: version,
          allowed: 'nothing here; or existing: replace',
        }),
        ...problemIf(keyColumnsOf(entry).includes(version), {
          path,
          message: 'is a column of the key: two rows of one key would never differ in it',
          given: version,
          allowed: 'a column beside those of the key',
        }),
        ...problemIf(Object.hasOwn(columns, version) && columns[version] === false, {
          path: `tables[${index}].columns.${version}`,
          message: 'leaves out the column of the version: no record would have one',
          given: false,
          allowed: 'a source for the column, or another version',
        }),
      ];
    }),
};

/** A word in the place of a path: the consumer takes the texts of a file for what a setting asks for. */
function wordMistake(given: string): Pick<Problem, 'message' | 'allowed'> | undefined {
  const word = given.trim().toLowerCase();
  if (word === NEVER && given !== NEVER) {
    return { message: 'is not the word never as it is written', allowed: 'never; /Never for a field of that name' };
  }
  return word === 'true' || word === 'false'
    ? {
        message: `is the word ${word}, and no path of a field`,
        allowed: `nothing here, and tombstones delete; never, and nothing does; /${word} for the field of that name`,
      }
    : undefined;
}

const deleteIsPath: Rule<KeyedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ delete: given }, index) => {
      const mistake = given === undefined || given === NEVER ? undefined : (wordMistake(given) ?? fieldMistake(given));
      return mistake === undefined ? [] : [{ path: `tables[${index}].delete`, given, ...mistake }];
    }),
};

/** What the schema cannot say of the keys of tables. */
export const KEY_RULES: readonly Rule<KeyedTables>[] = [
  keyIsThere,
  keyIsWord,
  keyIsWritten,
  versionIsCompared,
  deleteIsPath,
];
