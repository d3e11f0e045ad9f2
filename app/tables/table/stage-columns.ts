import { escapeIdentifier } from 'pg';
import { isOfDebezium, type TableMapping, type TableStage } from '../mapping/table-mapping.ts';

/** Numbers of rows in a stage: a later record of a partition has a larger one. */
export const SEQUENCE = '"(sequence)"';

/**
 * What a row is for: {@link UPSERT}, {@link DELETE}, {@link DELETE_OLDER} unless the row of its key is newer; or
 * nothing, as it lacks what it was to keep, or is older than what was before it.
 */
export const OPERATION = '"(operation)"';
export const UPSERT = 'u';
export const DELETE = 'd';
export const DELETE_OLDER = 'o';
export const LACKING = 'l';
export const OUTDATED = 'x';

/** Which columns a row keeps as the table has them, a bit for each of the table's in their order; NULL: none. */
export const KEPT = '"(kept)"';

/** Whether rows may keep columns: the source does not send what it did not change. Its deletes have no version. */
export const mayKeep = ({ envelope, key }: TableMapping): boolean => key !== null && isOfDebezium(envelope);

/** The rows that a command tag counts: `INSERT 0 5`, `SELECT 5`. */
export const countIn = (tag: string | undefined): number => Number(tag?.split(' ').at(-1) ?? 0);

export const columnList = (prefix: string, columns: readonly string[]): string =>
  columns.map((name) => `${prefix}${escapeIdentifier(name)}`).join(', ');

const OWN_TYPES: Readonly<Record<string, string>> = {
  [SEQUENCE]: 'bigint',
  [OPERATION]: '"char"',
  [KEPT]: 'bit varying',
};

/** What a stage is made of, as SQL. */
export function definitionOf(columns: TableStage['columns'], own: readonly string[]): string {
  const ofTable = columns.map(({ name, type, collation, default: expression }) =>
    [
      escapeIdentifier(name),
      type,
      ...(collation === null ? [] : ['COLLATE', collation]),
      ...(expression === null ? [] : ['DEFAULT', expression]),
    ].join(' '),
  );
  return [...ofTable, ...own.map((name) => `${name} ${OWN_TYPES[name]}`)].join(', ');
}

/** Behind an INSERT into a table with a key: a row that is there stays. */
export const onConflictKeep = (key: readonly string[]): string => `ON CONFLICT (${columnList('', key)}) DO NOTHING`;

/**
 * Behind an INSERT AS t: replaces the row that is there.
 *
 * A row that is there already, byte for byte, is not written again: it costs no WAL, fires no trigger and reaches no
 * subscriber. Bytes, as equal values may differ: 1.0 and 1.00, or the case of a citext.
 *
 * @param isNewer a condition that the row has to meet as well. @default none
 */
export function onConflictReplace(key: readonly string[], columns: readonly string[], isNewer?: string): string {
  const others = columns.filter((name) => !key.includes(name));
  if (others.length === 0) {
    return onConflictKeep(key);
  }
  const set = others.map((name) => `${escapeIdentifier(name)} = excluded.${escapeIdentifier(name)}`).join(', ');
  const differs = `pg_catalog.record_image_ne(ROW(${columnList('t.', others)}), ROW(${columnList('excluded.', others)}))`;
  const condition = isNewer === undefined ? differs : `${isNewer} AND ${differs}`;
  return `ON CONFLICT (${columnList('', key)}) DO UPDATE SET ${set} WHERE ${condition}`;
}
