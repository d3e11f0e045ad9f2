import { escapeIdentifier, type PoolClient } from 'pg';
import { RowRefused } from '../../store/copy/isolate-poison.ts';
import { DELETE, KEPT, LACKING, OPERATION, SEQUENCE, UPSERT } from './stage-columns.ts';

/** A table with a key and its stage, as SQL. */
interface KeptTable {
  readonly table: string;
  readonly stage: string;
  /** Names, in their order. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** The comparison of the key of two relations. */
  readonly isSameKey: (one: string, other: string) => string;
  /** The row that is left of each key of these rows of the stage, under the name s. @default all of its rows */
  readonly last: (hasDeletes: boolean, rows?: string) => string;
  /** The condition that the row s may replace the row t. */
  readonly replaces: string;
}

/** A row that keeps a column of one that the table does not have: it is nowhere in the topic. */
export class NothingKept extends Error {
  override readonly name = 'NothingKept';
  readonly column: string;

  constructor(column: string) {
    super(`no row has the column ${column} that is to be kept`);
    this.column = column;
  }
}

/** PostgreSQL's class of "no data": it raises none of it for a row. */
const NO_DATA = '02000';

/** Whether a row keeps a column, by its place; NULL where it keeps none. */
const keeps = (relation: string, place: number): string => `get_bit(${relation}.${KEPT}, ${place}) = 1`;

/** Whether a row keeps what is in the table alone: {@link KeptRows.fill} has set the bits of the others to 0. */
const KEEPS_SOME = `s.${OPERATION} = '${UPSERT}' AND position(B'1' IN s.${KEPT}) > 0`;

/**
 * Statements for rows of a stage that keep columns as the table has them.
 *
 * A value that is kept is that of the last record before, of the same key. Where that record is in the stage, too, the
 * value is taken from there; else from the table, by an UPDATE that leaves the column alone, so that a large value
 * stays where it is. So the outcome is that of the records one after the other, however they are cut into transactions:
 *
 * 1. Of the rows of a key, only the last one comes to the table, as all of them contain all columns but those that are
 *    kept. {@link fill} has given it those of the rows before it.
 * 2. A row may keep something only of a row that exists before it. Either the table has one, which no row before it in
 *    the stage deletes; or a row that keeps nothing is before it, and none that deletes is in between. The values since
 *    that one are right. Otherwise it is {@link mark | lacking}, and what {@link fill} has given it is written nowhere.
 * 3. Whether a row is there is asked before the UPDATE. A row that another transaction deletes in between is deleted
 *    behind ours, in a valid order; one that is inserted in between does not count, and its record is a dead letter.
 */
export class KeptRows {
  readonly #names: KeptTable;

  constructor(names: KeptTable) {
    this.#names = names;
  }

  /** The condition that a row keeps nothing any more, under the name s. */
  static readonly KEEPS_NONE = `(${KEEPS_SOME}) IS NOT TRUE`;

  /**
   * Takes the values of these columns that are in the stage from there. One sort by key, as a join would compare all.
   */
  fill(places: readonly number[]): readonly string[] {
    const { stage, columns } = this.#names;
    return places.map((place) => {
      const column = escapeIdentifier(columns[place] ?? '');
      const hasValue = `w.${OPERATION} = '${UPSERT}' AND (${keeps('w', place)}) IS NOT TRUE`;
      const before = `SELECT w.${SEQUENCE} AS "(row)", w.${KEPT} AS "(keeps)", max(w.${SEQUENCE}) FILTER (WHERE ${hasValue})
        OVER (PARTITION BY ${this.#key('w')} ORDER BY w.${SEQUENCE}) AS "(source)" FROM ${stage} AS w`;
      return `UPDATE ${stage} AS s SET ${column} = p.${column}, ${KEPT} = set_bit(s.${KEPT}, ${place}, 0)
        FROM (${before}) AS b JOIN ${stage} AS p ON p.${SEQUENCE} = b."(source)"
       WHERE b."(row)" = s.${SEQUENCE} AND get_bit(b."(keeps)", ${place}) = 1`;
    });
  }

  /** Marks the rows that keep columns of one that is not there, and counts them: they come to no table. */
  mark(hasDeletes: boolean): string {
    const { table, stage, isSameKey } = this.#names;
    const last = (filter: string) =>
      `coalesce(max(${SEQUENCE}) FILTER (WHERE ${filter}) OVER (PARTITION BY ${this.#key()}), 0)`;
    const rows = `SELECT *, ${last(`${OPERATION} = '${UPSERT}' AND ${KEPT} IS NULL`)} AS "(whole)",
      ${last(`${OPERATION} = '${DELETE}'`)} AS "(deleted)" FROM ${stage}`;
    const lacking = `SELECT s.${SEQUENCE} FROM ${this.#names.last(hasDeletes, `(${rows})`)} WHERE s.${OPERATION} = '${UPSERT}' AND s.${KEPT} IS NOT NULL
      AND "(whole)" <= "(deleted)" AND NOT EXISTS (SELECT FROM ${table} AS t WHERE ${isSameKey('t', 's')})`;
    return `UPDATE ${stage} SET ${OPERATION} = '${LACKING}' WHERE ${OPERATION} = '${LACKING}' OR ${SEQUENCE} IN (${lacking})`;
  }

  #key(relation?: string): string {
    const prefix = relation === undefined ? '' : `${relation}.`;
    return this.#names.key.map((name) => `${prefix}${escapeIdentifier(name)}`).join(', ');
  }

  /** Replaces the rows of the table whose columns of these places are kept. A row that is there byte for byte stays. */
  update(places: readonly number[], hasDeletes: boolean): string {
    const { table, columns, key, isSameKey, last, replaces } = this.#names;
    const others = columns.flatMap((name, place) =>
      key.includes(name) ? [] : [{ name: escapeIdentifier(name), place }],
    );
    const values = others.map(({ name, place }) =>
      places.includes(place) ? `CASE WHEN ${keeps('s', place)} THEN t.${name} ELSE s.${name} END` : `s.${name}`,
    );
    const set = others.map(({ name }, nth) => `${name} = ${values[nth]}`);
    const now = others.map(({ name }) => `t.${name}`);
    return `UPDATE ${table} AS t SET ${set.join(', ')} FROM ${last(hasDeletes)}
      WHERE ${KEEPS_SOME} AND ${isSameKey('t', 's')} AND ${replaces}
      AND pg_catalog.record_image_ne(ROW(${now.join(', ')}), ROW(${values.join(', ')}))`;
  }

  /**
   * @param places of columns that some rows keep
   * @throws RowRefused for the first of those that {@link mark} has found, if there is any
   */
  async requireNoneMarked(client: PoolClient, places: readonly number[]): Promise<void> {
    const { stage } = this.#names;
    const first = `SELECT (SELECT count(*) FROM ${stage} AS p WHERE p.${SEQUENCE} < s.${SEQUENCE})::int AS index,
      position(B'1' IN s.${KEPT})::int AS position FROM ${stage} AS s WHERE s.${OPERATION} = '${LACKING}'
      ORDER BY s.${SEQUENCE} LIMIT 1`;
    const { rows } = await client.query<{ readonly index: number; readonly position: number }>(first);
    const [found] = rows;
    if (found !== undefined) {
      throw this.refusal(found.index, found.position > 0 ? found.position - 1 : places[0]);
    }
  }

  /** @param index of the row among those that were sent @param place of a column that it keeps */
  refusal(index: number, place = 0): RowRefused {
    return new RowRefused(NO_DATA, index, { cause: new NothingKept(this.#names.columns[place] ?? '') });
  }
}
