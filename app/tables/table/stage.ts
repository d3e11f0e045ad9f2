import { createHash } from 'node:crypto';
import { escapeIdentifier, type PoolClient } from 'pg';
import type { RowRefused } from '../../store/copy/isolate-poison.ts';
import type { RowKinds } from '../../store/tables/table.ts';
import type { GuardStep } from '../../store/tables/table-guard.ts';
import type { TableKey, TableMapping, TableStage } from '../mapping/table-mapping.ts';
import { isReadAlike } from './few-rows.ts';
import { KeptRows } from './kept-rows.ts';
import {
  columnList,
  countIn,
  DELETE,
  definitionOf,
  KEPT,
  mayKeep,
  OPERATION,
  onConflictKeep,
  onConflictReplace,
  SEQUENCE,
  UPSERT,
} from './stage-columns.ts';
import { VersionedRows } from './versioned-rows.ts';

/**
 * Keeps our locks of tables apart from other programs' advisory locks: the first four bytes of SHA-256 of
 * "stream-consumer".
 */
const LOCK_CLASS = createHash('sha256').update('stream-consumer').digest().readInt32BE();

/** A row that may be older than what the table has of its key. */
interface LateInsertion {
  /** Behind the COPY. */
  readonly statements: readonly string[];
  /** By the tags of the COPY and of the statements. */
  outcome(tags: readonly string[]): 'stored' | 'present' | 'dropped' | 'lacking';
}

/**
 * Statements that take rows into a table by way of a temporary one, the stage, in the transaction that moves their
 * offset. A COPY cannot replace or delete rows, and row-level security forbids it.
 *
 * Of each key that a transaction has rows for, the outcome is that of its records one after the other, however they are
 * cut into transactions: a key that any record deletes is deleted first; then its last record is inserted or replaces
 * what is there, or, where existing rows are kept, the first one behind the last delete. PostgreSQL alone decides which
 * keys are equal, by the unique index that the table has.
 *
 * Proof that no two rows of the INSERT have the same key, which PostgreSQL would refuse with 21000: DISTINCT ON
 * compares with the default operator class and the column's collation, and so does the index, as the check of the
 * mapping requires.
 */
export class Stage {
  readonly #stage: TableStage;
  readonly #key: TableKey | null;
  readonly #columns: readonly string[];
  /** The table, as SQL. */
  readonly #table: string;
  /** The name without its schema, as PostgreSQL's contexts have it. */
  readonly relation: string;
  /** The stage, as SQL. */
  readonly name: string;
  readonly #definition: string;
  /** Its columns behind those of the table, as SQL. */
  readonly columns: readonly string[];
  /** `null` where no row keeps anything. */
  readonly #keptRows: KeptRows | null;
  /** `null` where the last record of a key counts. */
  readonly #versions: VersionedRows | null;
  /** Whether records that delete compare versions. */
  readonly #comparesDeletes: boolean;

  constructor(mapping: TableMapping, stage: TableStage) {
    const { schema, table, topics, columns, key } = mapping;
    this.#stage = stage;
    this.#key = key;
    this.columns = mayKeep(mapping) ? [SEQUENCE, OPERATION, KEPT] : [SEQUENCE, OPERATION];
    this.#columns = columns.map(({ name }) => name);
    this.#table = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
    this.#definition = definitionOf(stage.columns, this.columns);
    // Two entries of one transaction may write the same table: each has its rows apart. Version 0.1.0 relies on a stage
    // that COMMIT empties, and a pooler may lend it a session that has this one.
    const identity = JSON.stringify(['emptied first', schema, table, topics, key, this.#definition]);
    this.relation = `stream_consumer_${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
    this.name = `pg_temp.${this.relation}`;
    this.#versions = key === null ? null : this.#versionedRows(key, mayKeep(mapping));
    this.#comparesDeletes = this.#versions !== null && typeof key?.delete !== 'string' && !mayKeep(mapping);
    this.#keptRows =
      key !== null && mayKeep(mapping)
        ? new KeptRows({
            table: this.#table,
            stage: this.name,
            columns: this.#columns,
            key: key.columns,
            isSameKey: (one, other) => this.#sameKey(key, one, other),
            last: (hasDeletes, rows) => this.#last(key, hasDeletes, rows),
            replaces: this.#versions?.isNotOlder('s', 't') ?? 'true',
          })
        : null;
  }

  #versionedRows(key: TableKey, keeps: boolean): VersionedRows | null {
    const { notOlder, columns } = this.#stage;
    const version = columns.find(({ name }) => name === key.version);
    if (version === undefined || notOlder === undefined) {
      return null;
    }
    return new VersionedRows({
      table: this.#table,
      stage: this.name,
      key: key.columns,
      version: version.name,
      type: version.type,
      notOlder,
      isSameKey: (one, other) => this.#sameKey(key, one, other),
      mayKeep: keeps,
    });
  }

  /**
   * Makes the stage where the session has none: a connection pooler may lend another session for each transaction. Made
   * once in a session, it costs its catalog nothing afterwards; the name has a digest of the definition, so it is never
   * an old stage. It keeps its rows until it is used again: ON COMMIT DELETE ROWS would empty all of the session's.
   */
  get creation(): readonly GuardStep[] {
    return [
      { sql: 'SET LOCAL client_min_messages = warning', tag: 'SET' },
      { sql: `CREATE TEMPORARY TABLE IF NOT EXISTS ${this.relation} (${this.#definition})`, tag: 'CREATE TABLE' },
    ];
  }

  /** Before a COPY: what is there is of the one before. */
  get emptying(): string {
    return `DELETE FROM ${this.name}`;
  }

  /** The same with a tag that is known. */
  get firstEmptying(): GuardStep {
    return { sql: `WITH emptied AS (${this.emptying}) SELECT`, tag: 'SELECT 1' };
  }

  /** The same, with the space of rows that are deleted. It writes to the catalog. */
  get truncation(): GuardStep {
    return { sql: `TRUNCATE ${this.name}`, tag: 'TRUNCATE TABLE' };
  }

  /**
   * Keeps transactions that delete apart from all others of the table, where two had waited for each other. Rows are
   * inserted in the order of their keys, and two transactions that do so never wait for each other; a DELETE has no
   * order.
   */
  lock(isExclusive: boolean): GuardStep {
    const wanted = isExclusive ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
    // An OID has 32 bits without a sign, and the lock's number has one.
    return { sql: `SELECT ${wanted}(${LOCK_CLASS}, ${this.#stage.tableOid | 0})`, tag: 'SELECT 1' };
  }

  /**
   * Takes the rows into the table. The last one counts the keys that are missing there, where a trigger may drop rows.
   */
  statements({ hasDeletes, kept }: RowKinds): readonly string[] {
    if (this.#key === null) {
      return [`${this.#insert} SELECT ${columnList('', this.#columns)} FROM ${this.name} ORDER BY ${SEQUENCE}`];
    }
    const keptRows = kept.size > 0 ? this.#keptRows : null;
    const insert =
      this.#key.existing === 'keep'
        ? this.#insertWhereMissing(this.#key, hasDeletes)
        : this.#upsert(this.#key, hasDeletes, keptRows !== null);
    const places = [...kept];
    const dependsOnOrder = keptRows !== null || (hasDeletes && this.#comparesDeletes);
    return [
      ...(this.#versions !== null && dependsOnOrder ? [this.#versions.settle] : []),
      ...(keptRows?.fill(places) ?? []),
      ...(hasDeletes ? [this.#delete(this.#key)] : []),
      ...(keptRows === null ? [] : [keptRows.mark(hasDeletes), keptRows.update(places, hasDeletes)]),
      insert,
      ...(this.#stage.mayDropRows ? [this.#missing(this.#key, hasDeletes)] : []),
    ];
  }

  /**
   * Takes one row into the table, unless a row has its key: that one may be of a newer record.
   *
   * @returns what became of it, by the tags of the COPY and of these statements: `dropped` by a trigger, else `stored`,
   * or `present` where a row has its key, and `lacking` where none has and it keeps columns of one. `null` where that
   * does not matter: rows are kept anyway, the version decides, or there is no key.
   */
  insertion({ hasDeletes: isDelete, kept }: RowKinds): LateInsertion | null {
    const key = this.#key;
    if (key === null || ((key.existing === 'keep' || this.#versions !== null) && !isDelete)) {
      return null;
    }
    const hasKey = `SELECT FROM ${this.#table} AS t JOIN ${this.name} AS s ON ${this.#sameKey(key)}`;
    const insert = this.#insertWhereMissing(key, false);
    const mayDrop = this.#stage.mayDropRows;
    if (isDelete || kept.size > 0) {
      const missing = isDelete ? ('stored' as const) : ('lacking' as const);
      const older = this.#versions !== null && this.#comparesDeletes ? [this.#versions.deleteOlder] : [];
      return {
        statements: [...older, `${hasKey} WHERE s.${OPERATION} IN ('${DELETE}', '${UPSERT}')`],
        outcome: (tags: readonly string[]) => (countIn(tags.at(-1)) > 0 ? 'present' : missing),
      };
    }
    return {
      statements: [insert, ...(mayDrop ? [this.#missing(key, false)] : [])],
      outcome: ([, first, last]: readonly string[]) =>
        countIn(first) > 0 ? 'stored' : mayDrop && countIn(last) > 0 ? 'dropped' : 'present',
    };
  }

  /** Of the rows sent, by the tags of the COPY and the {@link statements} behind it. */
  stored(length: number, tags: readonly string[], { kept }: RowKinds): number {
    const last = countIn(tags.at(-1));
    if (this.#key === null) {
      return last;
    }
    const { mayDropRows } = this.#stage;
    const lacking = kept.size > 0 && this.#keptRows !== null ? countIn(tags.at(mayDropRows ? -4 : -3)) : 0;
    return length - lacking - (mayDropRows ? last : 0);
  }

  /** That one row keeps a column of one that is not there. */
  lacking({ kept }: RowKinds): RowRefused | undefined {
    return this.#keptRows?.refusal(0, [...kept][0]);
  }

  /**
   * Asked with the rows in the stage. @throws RowRefused for the first that keeps columns of a row that is not there
   */
  async requireKept(client: PoolClient, { kept }: RowKinds): Promise<void> {
    await this.#keptRows?.requireNoneMarked(client, [...kept]);
  }

  get #insert(): string {
    const overriding = this.#stage.overridesIdentity ? ' OVERRIDING SYSTEM VALUE' : '';
    return `INSERT INTO ${this.#table} AS t (${columnList('', this.#columns)})${overriding}`;
  }

  #sameKey({ columns }: TableKey, one = 't', other = 's'): string {
    return columns
      .map(
        (name) =>
          `${one}.${escapeIdentifier(name)} ${this.#stage.equality[name] ?? '='} ${other}.${escapeIdentifier(name)}`,
      )
      .join(' AND ');
  }

  #delete(key: TableKey): string {
    if (this.#versions !== null && this.#comparesDeletes) {
      return this.#versions.delete;
    }
    const deleted = `SELECT DISTINCT ${columnList('', key.columns)} FROM ${this.name} WHERE ${OPERATION} = '${DELETE}'`;
    return `DELETE FROM ${this.#table} AS t USING (${deleted}) AS s WHERE ${this.#sameKey(key)}`;
  }

  /** The row that is left of each key, under the name s; one that deletes is none where rows have versions. */
  #last({ columns }: TableKey, hasDeletes: boolean, rows = this.name): string {
    if (this.#versions !== null) {
      return this.#versions.last(hasDeletes, rows);
    }
    const names = columnList('', columns);
    return `(SELECT DISTINCT ON (${names}) * FROM ${rows} AS w ORDER BY ${names}, ${SEQUENCE} DESC) AS s`;
  }

  #onConflict({ existing, columns }: TableKey): string {
    const isNewer = this.#versions?.isNotOlder('excluded', 't');
    return existing === 'keep' ? onConflictKeep(columns) : onConflictReplace(columns, this.#columns, isNewer);
  }

  #upsert(key: TableKey, hasDeletes: boolean, withoutKept: boolean): string {
    const rows = `${this.#last(key, hasDeletes)} WHERE ${OPERATION} = '${UPSERT}'${withoutKept ? ` AND ${KeptRows.KEEPS_NONE}` : ''}`;
    return `${this.#insert} SELECT ${columnList('', this.#columns)} FROM ${rows}
      ORDER BY ${columnList('', key.columns)} ${this.#onConflict(key)}`;
  }

  /**
   * Takes a row into the table without the stage; its columns are the parameters. `null` where there is no key, where
   * triggers may drop the row, which only a look at the table shows, or where another row may have to come first.
   */
  get ofFewRows(): string | null {
    const { mayDropRows, hasReferences = false, columns } = this.#stage;
    const isAlike = !mayDropRows && !hasReferences && columns.every(({ type }) => isReadAlike(type));
    const values = this.#columns.map((_, nth) => `$${nth + 1}`).join(', ');
    return isAlike && this.#key !== null ? `${this.#insert} VALUES (${values}) ${this.#onConflict(this.#key)}` : null;
  }

  #insertWhereMissing(key: TableKey, hasDeletes: boolean): string {
    const keys = columnList('', key.columns);
    const behind = `(SELECT *, max(${SEQUENCE}) FILTER (WHERE ${OPERATION} = '${DELETE}') OVER (PARTITION BY ${keys}) AS "(deleted)"
      FROM ${this.name}) AS behind WHERE ${OPERATION} = '${UPSERT}' AND ${SEQUENCE} > coalesce("(deleted)", 0)`;
    return `${this.#insert} SELECT ${columnList('', this.#columns)} FROM
      (SELECT DISTINCT ON (${keys}) * FROM ${hasDeletes ? behind : this.name} ORDER BY ${keys}, ${SEQUENCE}) AS s
      ORDER BY ${keys} ${onConflictKeep(key.columns)}`;
  }

  #missing(key: TableKey, hasDeletes: boolean): string {
    return `SELECT FROM ${this.#last(key, hasDeletes)} WHERE ${OPERATION} = '${UPSERT}'
      AND NOT EXISTS (SELECT FROM ${this.#table} AS t WHERE ${this.#sameKey(key)})`;
  }
}
