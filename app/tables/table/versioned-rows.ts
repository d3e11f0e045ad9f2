import { escapeIdentifier } from 'pg';
import { DELETE, DELETE_OLDER, KEPT, LACKING, OPERATION, OUTDATED, SEQUENCE, UPSERT } from './stage-columns.ts';

/** A table whose rows have versions, and its stage, as SQL. */
interface VersionedTable {
  readonly table: string;
  readonly stage: string;
  /** Names. */
  readonly key: readonly string[];
  readonly version: string;
  /** The type of the version in the stage. */
  readonly type: string;
  /** The operator by which one version is not older than another. */
  readonly notOlder: string;
  /** The comparison of the key of two relations. */
  readonly isSameKey: (one: string, other: string) => string;
  /** Whether rows of the stage may keep columns. */
  readonly mayKeep: boolean;
}

/** Operations that delete, whether or not they compare versions. */
const DELETES = `('${DELETE}', '${DELETE_OLDER}')`;

/**
 * Statements for rows that replace and delete others only if those are not newer.
 *
 * One after the other, a record replaces the row of its key if there is none, if that has no version, or if its own is
 * not older. A delete that has a version compares it likewise. Any other one always deletes. So the table after a batch
 * is what a fold over the records of each key makes of the row that was there:
 *
 * 1. Where no delete of the key has a version and no row keeps columns, the fold has a closed form. Behind the last
 *    delete, each record replaces the greatest version so far or is older than it: the one with the greatest version is
 *    left, of equal ones the last. {@link last} is that one.
 * 2. Of the other keys {@link settle} does the fold itself, in PostgreSQL, which alone knows what is equal and what is
 *    greater. It marks the records that do nothing: those that are left do what they would do in a table without
 *    versions. A key with a single record needs none of it.
 * 3. The fold begins with the row of the table, so it does not matter where a batch begins: any cut gives the same.
 * 4. Another transaction may change the row behind the fold. So the DELETE, the UPDATE and the INSERT compare with the
 *    row that they have locked: an older version never replaces a newer one.
 */
export class VersionedRows {
  readonly #names: VersionedTable;
  readonly #keys: string;
  readonly #version: string;

  constructor(names: VersionedTable) {
    this.#names = names;
    this.#keys = names.key.map(escapeIdentifier).join(', ');
    this.#version = escapeIdentifier(names.version);
  }

  /** The condition that the version of one row is not older than that of another, which may have none. */
  isNotOlder(one: string, other: string): string {
    const { notOlder } = this.#names;
    return `(${other}.${this.#version} IS NULL OR ${one}.${this.#version} ${notOlder} ${other}.${this.#version})`;
  }

  /**
   * The row that is left of each key, under the name s.
   *
   * @param hasDeletes whether some rows delete
   * @param rows of the stage. @default all of them as they are
   */
  last(hasDeletes: boolean, rows = this.#names.stage): string {
    const deleted = `max(${SEQUENCE}) FILTER (WHERE ${OPERATION} IN ${DELETES}) OVER (PARTITION BY ${this.#keys})`;
    const from = hasDeletes ? `(SELECT *, ${deleted} AS "(last delete)" FROM ${rows} AS r)` : rows;
    const isBehind = hasDeletes ? ` AND (w."(last delete)" IS NULL OR w.${SEQUENCE} > w."(last delete)")` : '';
    return `(SELECT DISTINCT ON (${this.#keys}) * FROM ${from} AS w WHERE w.${OPERATION} = '${UPSERT}'${isBehind}
      ORDER BY ${this.#keys}, ${this.#version} DESC, ${SEQUENCE} DESC) AS s`;
  }

  /** Marks the rows that do nothing, of keys with several of which a delete has a version or one keeps columns. */
  get settle(): string {
    const { table, stage, isSameKey, mayKeep, type } = this.#names;
    const ofKey = `OVER (PARTITION BY ${this.#keys})`;
    const keeps = mayKeep ? `${KEPT} IS NOT NULL` : 'false';
    const depends = `bool_or(${OPERATION} = '${DELETE_OLDER}' OR ${keeps}) ${ofKey}`;
    return `WITH RECURSIVE several AS MATERIALIZED (
        SELECT * FROM (SELECT ${this.#keys}, ${this.#version} AS "(version)", ${SEQUENCE}, ${OPERATION}, ${keeps} AS "(keeps)",
            row_number() OVER (ORDER BY ${this.#keys}, ${SEQUENCE}) AS "(place)",
            row_number() OVER (PARTITION BY ${this.#keys} ORDER BY ${SEQUENCE}) AS "(nth)",
            count(*) ${ofKey} AS "(left)", ${depends} AS "(depends)" FROM ${stage}) AS w
         WHERE "(left)" > 1 AND "(depends)"),
      fold AS (
        SELECT s."(place)" - 1 AS "(place)", s."(left)", NULL::bigint AS ${SEQUENCE}, NULL::"char" AS "(outcome)",
            t."(exists)" IS NOT NULL AS "(exists)", t."(version)"::${type} AS "(version)"
          FROM several AS s LEFT JOIN (SELECT ${this.#keys}, ${this.#version} AS "(version)", true AS "(exists)" FROM ${table}) AS t
            ON ${isSameKey('t', 's')} WHERE s."(nth)" = 1
        UNION ALL
        SELECT s."(place)", f."(left)" - 1, s.${SEQUENCE}, o."(outcome)",
            CASE o."(outcome)" WHEN '${UPSERT}' THEN true WHEN '${LACKING}' THEN f."(exists)" WHEN '${OUTDATED}' THEN f."(exists)" ELSE false END,
            CASE o."(outcome)" WHEN '${UPSERT}' THEN s."(version)" ELSE f."(version)" END
          FROM fold AS f JOIN several AS s ON s."(place)" = f."(place)" + 1
          CROSS JOIN LATERAL (SELECT CASE
            WHEN s.${OPERATION} = '${DELETE}' THEN s.${OPERATION}
            WHEN s.${OPERATION} = '${UPSERT}' AND s."(keeps)" AND NOT f."(exists)" THEN '${LACKING}'
            WHEN NOT f."(exists)" OR ${this.#isNotOlderInFold} THEN s.${OPERATION}
            ELSE '${OUTDATED}' END AS "(outcome)") AS o
         WHERE f."(left)" > 0)
      UPDATE ${stage} AS s SET ${OPERATION} = f."(outcome)" FROM fold AS f
       WHERE s.${SEQUENCE} = f.${SEQUENCE} AND s.${OPERATION} <> f."(outcome)"`;
  }

  get #isNotOlderInFold(): string {
    return `f."(version)" IS NULL OR s."(version)" ${this.#names.notOlder} f."(version)"`;
  }

  /** Deletes the rows that a row of the stage deletes and that are not newer. */
  get delete(): string {
    const strongest = `${this.#keys}, ${OPERATION} = '${DELETE}' DESC, ${this.#version} DESC`;
    return this.#delete(`SELECT DISTINCT ON (${this.#keys}) ${this.#keys}, ${this.#version}, ${OPERATION} FROM ${this.#names.stage}
      WHERE ${OPERATION} IN ${DELETES} ORDER BY ${strongest}`);
  }

  /** The same of those alone that compare versions. */
  get deleteOlder(): string {
    return this.#delete(`SELECT * FROM ${this.#names.stage} WHERE ${OPERATION} = '${DELETE_OLDER}'`);
  }

  #delete(rows: string): string {
    const { table, isSameKey } = this.#names;
    return `DELETE FROM ${table} AS t USING (${rows}) AS s
      WHERE ${isSameKey('t', 's')} AND (s.${OPERATION} = '${DELETE}' OR ${this.isNotOlder('s', 't')})`;
  }
}
