import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { sqlstateMeaning } from '../../store/connection/sqlstate-meaning.ts';
import { type RowCopy, rowsStored } from '../../store/copy/binary-copy.ts';
import type { RowRefused } from '../../store/copy/isolate-poison.ts';
import { refusedLine, tableReasonOf } from '../../store/copy/refused-row.ts';
import {
  type Copying,
  copyRows,
  type FewRows,
  type Refusal,
  type RefusedOf,
  type RowBatch,
  type RowKinds,
  sendRows,
} from '../../store/tables/table.ts';
import { type GuardStep, type KnownTable, lockOf, type TableGuard } from '../../store/tables/table-guard.ts';
import type { UserTable } from '../../store/transaction/topic-tables.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import { nameOf, valuesOfFewRows } from './few-rows.ts';
import { NothingKept } from './kept-rows.ts';
import { Stage } from './stage.ts';

/**
 * Encodes records as rows of the mapping's columns, in their order, in COPY's text format and UTF-8 (documentation of
 * COPY, section "Text Format"). What it refuses is named with {@link MappedTable.name} and the column.
 */
type EncodeRows = UserTable['encode'];

/** The table, and how its rows are made. */
interface TableOptions {
  readonly mapping: TableMapping;
  readonly encode: EncodeRows;
  /** Whether COPY reads `\D` as a column's default, as PostgreSQL 16 and later can. */
  readonly takesDefaults: boolean;
  /**
   * Asks the catalog whether the table is what the mapping was made from.
   *
   * @throws FatalError, OutageError when it is not; nothing was written of the records in hand
   */
  readonly find: (client: PoolClient) => Promise<KnownTable>;
  /** What the field of a column is in a record, and what the column takes. @default not known */
  readonly misfit?: (of: RefusedOf, column: string) => string | undefined;
  /** Whether transactions with rows of the table have waited for each other. @default never */
  readonly isContended?: () => boolean;
  /** Called when they have. */
  readonly onDeadlock?: () => void;
}

const NOT_SENT =
  'the source did not send the value, which it did not change, and no row has it; REPLICA IDENTITY FULL at the source sends it';

/** What the text of times and intervals is read by: a role or a database may have other settings. */
const READ_BY = ["TimeZone = 'UTC'", "DateStyle = 'ISO, YMD'", "IntervalStyle = 'postgres'"].map(
  (setting): GuardStep => ({ sql: `SET LOCAL ${setting}`, tag: 'SET' }),
);

/** Columns of a constraint, or of a unique index, of the table `$3` or of a partition `$1` of it. */
const COLUMNS_OF_CONSTRAINT = `
  WITH RECURSIVE up AS (
    SELECT to_regclass($1)::oid AS oid UNION SELECT inhparent FROM pg_inherits JOIN up ON inhrelid = up.oid),
  violated AS (
    SELECT conrelid AS relation, conkey AS key FROM pg_constraint WHERE conname = $2 AND conrelid = to_regclass($1)
    UNION ALL
    SELECT indrelid, indkey::int2[] FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE relname = $2 AND indrelid = to_regclass($1))
  SELECT DISTINCT attname AS column, attnum FROM violated
    JOIN pg_attribute ON attrelid = relation AND attnum = ANY (key)
   WHERE to_regclass($3)::oid IN (SELECT oid FROM up) ORDER BY attnum`;

/**
 * A stage is truncated when the rows that it had since come to more: rows that are deleted keep their space, and each
 * statement passes over it. To truncate it costs as much as some ten transactions of a few rows.
 */
const MOST_STAGED_BYTES = 131_072;

/** One of the user's own tables: a record's fields are its columns, and PostgreSQL converts their text. */
export class MappedTable implements UserTable {
  readonly name: string;
  readonly topics: readonly string[];
  readonly copy: RowCopy;
  readonly operation: 'append' | 'upsert';
  /** Its records would be nowhere. */
  readonly allowsDroppedRows = false;
  readonly refusesUnmatched: boolean;
  readonly encode: EncodeRows;
  readonly mapping: TableMapping;
  /** `null` where rows are copied straight into the table. */
  readonly #stage: Stage | null;
  /** Takes a row; `null` where all go by way of the stage. */
  readonly #sqlOfFewRows: string | null;
  readonly #options: TableOptions;
  /** Longer names first: one may begin with another. */
  readonly #columns: readonly string[];
  /** By the connections that have asked. */
  readonly #known = new WeakMap<PoolClient, KnownTable>();
  /** Of the statement that takes a row, by the connections that know the table. */
  readonly #names = new WeakMap<PoolClient, string>();
  /** Bytes of the rows that went through the stage of a connection since it was truncated. */
  readonly #staged = new WeakMap<PoolClient, number>();

  constructor(tableOptions: TableOptions) {
    const { mapping, encode, takesDefaults } = tableOptions;
    const { schema, table, columns } = mapping;
    const stage = mapping.stage && new Stage(mapping, mapping.stage);
    const names = [...columns.map(({ name }) => escapeIdentifier(name)), ...(stage?.columns ?? [])].join(', ');
    const relation = stage?.name ?? `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
    const options = ['FORMAT text', "ENCODING 'UTF8'", ...(takesDefaults ? ["DEFAULT '\\D'"] : [])].join(', ');
    this.name = `${schema}.${table}`;
    this.topics = mapping.topics;
    this.refusesUnmatched = mapping.refusesUnmatched === true;
    this.copy = {
      statement: `COPY ${relation} (${names}) FROM STDIN (${options})`,
      format: 'text',
      relation: stage?.relation ?? table,
      hasPolicies: stage !== null,
      ...(stage && { emptying: stage.emptying }),
    };
    this.operation = mapping.key === null ? 'append' : 'upsert';
    this.encode = encode;
    this.mapping = mapping;
    this.#stage = stage;
    this.#sqlOfFewRows = stage?.ofFewRows ?? null;
    this.#options = tableOptions;
    this.#columns = columns.map(({ name }) => name).sort((one, other) => other.length - one.length);
  }

  async require(client: PoolClient): Promise<void> {
    const known = await this.#options.find(client);
    this.#known.set(client, known);
    this.#names.set(client, nameOf(this.#sqlOfFewRows ?? '', known.guard.fingerprint?.expected));
  }

  async requireOnce(client: PoolClient): Promise<void> {
    if (!this.#known.has(client)) {
      await this.require(client);
    }
  }

  opening(kinds: RowKinds): string {
    const { schema, table } = this.#options.mapping;
    const steps = this.#preparation(kinds, (stage) => stage.truncation);
    return [...steps.map(({ sql }) => sql), lockOf(schema, table)].join('; ');
  }

  guard(client: PoolClient, batch: RowBatch): TableGuard {
    const preparation = this.#preparation(batch, (stage) => this.#emptying(client, stage, batch));
    const { steps, ...more } = this.#of(client).guard;
    return { steps: [...preparation, ...steps], ...more };
  }

  /**
   * In the order of the records, which gives a key that comes twice the state of the last one, or of the first one
   * where existing rows are kept. It is not the order of the keys, and {@link Stage.lock} is not taken; and tables with
   * few rows come first in a transaction. So two transactions that have the same keys may wait for each other. After a
   * deadlock the stage takes all rows.
   */
  fewRows(client: PoolClient, { rows, length, kept }: RowBatch): FewRows | null {
    const sql = this.#sqlOfFewRows;
    if (sql === null || kept.size > 0 || this.#options.isContended?.() === true) {
      return null;
    }
    const values = valuesOfFewRows(rows, length, this.mapping.columns.length);
    const { steps, ...known } = this.#of(client).guard;
    const name = this.#names.get(client) ?? '';
    return values && { statement: { sql, name, rows: values }, guard: { steps: [...READ_BY, ...steps], ...known } };
  }

  /** Neither a DELETE nor an UPDATE has an order in which it locks rows. */
  #preparation({ hasDeletes, kept }: RowKinds, emptying: (stage: Stage) => GuardStep): readonly GuardStep[] {
    if (this.#stage === null) {
      return READ_BY;
    }
    const isExclusive = (hasDeletes || kept.size > 0) && this.#options.isContended?.() === true;
    return [...READ_BY, ...this.#stage.creation, emptying(this.#stage), this.#stage.lock(isExclusive)];
  }

  #emptying(client: PoolClient, stage: Stage, { rows }: RowBatch): GuardStep {
    const staged = this.#staged.get(client) ?? 0;
    const isMuch = staged > MOST_STAGED_BYTES;
    this.#staged.set(
      client,
      rows.reduce((sum, piece) => sum + piece.length, isMuch ? 0 : staged),
    );
    return isMuch ? stage.truncation : stage.firstEmptying;
  }

  copying(kinds: RowKinds): Copying {
    const stage = this.#stage;
    return {
      statements: [this.copy.statement, ...(stage?.statements(kinds) ?? [])],
      stored: (sent, tags) => stage?.stored(sent, tags, kinds) ?? rowsStored(tags),
    };
  }

  async requireKept(client: PoolClient, kinds: RowKinds): Promise<void> {
    if (kinds.kept.size > 0) {
      await this.#stage?.requireKept(client, kinds);
    }
  }

  /**
   * Sends the row of a dead letter. It may be older than a row that the table has of its key by now: that row stays,
   * and the answer is `present`. Rejects as {@link sendRows} does.
   */
  async sendLate(client: PoolClient, row: RowBatch): Promise<'stored' | 'present' | 'dropped'> {
    const insertion = this.#stage?.insertion(row);
    if (!insertion) {
      return (await sendRows(client, this, row)) < row.length ? 'dropped' : 'stored';
    }
    const statements = [this.copy.statement, ...insertion.statements];
    const outcome = insertion.outcome(await copyRows(client, this.copy, row.rows, statements));
    if (outcome === 'lacking') {
      throw this.#stage?.lacking(row);
    }
    return outcome;
  }

  deadlocked(): void {
    if (this.#stage !== null) {
      this.#options.onDeadlock?.();
    }
  }

  rowTriggers(client: PoolClient): readonly string[] {
    return this.#of(client).rowTriggers;
  }

  /**
   * The words are ours, with names out of the catalog alone: PostgreSQL's message quotes the value of a class 22, and
   * a trigger's may.
   */
  async refusal(client: PoolClient, { sqlstate, cause }: RowRefused, of: RefusedOf): Promise<Refusal> {
    if (cause instanceof NothingKept) {
      const { column } = cause;
      const error = `not for ${this.name}, column "${column}": ${NOT_SENT}`;
      return { reason: 'missing_value', error, target: this.name, targetColumn: column };
    }
    const column = cause instanceof DatabaseError ? await this.#columnOf(client, cause) : undefined;
    const by = cause instanceof DatabaseError && cause.constraint ? `, by the constraint "${cause.constraint}"` : '';
    const place = column === undefined ? this.name : `${this.name}, column "${column}"`;
    const reason = tableReasonOf(sqlstate);
    const misfit = reason === 'value_does_not_fit' && column && this.#options.misfit?.(of, column);
    const meaning = sqlstateMeaning(sqlstate);
    return {
      reason,
      error: `SQLSTATE ${sqlstate}${meaning ? ` (${meaning})` : ''}: refused by ${place}${by}${misfit ? `: ${misfit}` : ''}`,
      target: this.name,
      ...(column !== undefined && { targetColumn: column }),
    };
  }

  /** The column at fault, several with a comma between them; `undefined` where PostgreSQL names none. */
  async #columnOf(client: PoolClient, error: DatabaseError): Promise<string | undefined> {
    const words = refusedLine(error.where, this.copy)?.words ?? '';
    const named = this.#columns.find((name) => words.startsWith(`, column ${name}: `) || words === `, column ${name}`);
    if (named !== undefined || !error.table || !error.schema) {
      return named;
    }
    const violated = `${escapeIdentifier(error.schema)}.${escapeIdentifier(error.table)}`;
    const { schema, table } = this.#options.mapping;
    const own = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
    if (error.column) {
      // A trigger may raise an error that names anything as its column, the record's content included.
      return violated === own && this.#columns.includes(error.column) ? error.column : undefined;
    }
    const values = [violated, error.constraint ?? '', own];
    const { rows } = await client.query<{ column: string }>(COLUMNS_OF_CONSTRAINT, values);
    return rows.length === 0 ? undefined : rows.map(({ column }) => column).join(', ');
  }

  #of(client: PoolClient): KnownTable {
    const known = this.#known.get(client);
    if (known === undefined) {
      throw new Error(`the table ${this.name}: this connection has not read it from the catalog`);
    }
    return known;
  }
}
