import { type Connection, DatabaseError, type Submittable } from 'pg';

/**
 * Statements that a connection keeps at most; all others are read and planned each time. One of ten columns takes 41 kB
 * of PostgreSQL's memory.
 */
const MOST_KEPT = 256;

/** SQLSTATE of a name that the session has no statement by. */
const INVALID_SQL_STATEMENT_NAME = '26000';

/** A statement that takes a row, whose values are its parameters: no text of a record is ever a part of SQL. */
export interface RowStatement {
  readonly sql: string;
  /**
   * Name that the session may keep it by, of the statement and the types of its parameters alone.
   *
   * @default it is read and planned each time
   */
  readonly name?: string;
  /** Rows that it is executed for, in their order. */
  readonly rows: readonly BoundValues[];
}

/**
 * The parameters of a row as a Bind message has them: how many they are, in two bytes, and of each the length of its
 * text in four bytes, and the text in UTF-8, as PostgreSQL's input functions read it. A length of {@link NULL_LENGTH}
 * is NULL, and no text follows (documentation, "Message Formats").
 */
export type BoundValues = Buffer;
export const COUNT_BYTES = 2;
export const LENGTH_BYTES = 4;
export const NULL_LENGTH = -1;

const NO_VALUES: BoundValues = Buffer.alloc(COUNT_BYTES);

/** A statement without parameters. */
export const withoutValues = (sql: string): RowStatement => ({ sql, rows: [NO_VALUES] });

const BIND = 'B'.charCodeAt(0);
/** Parameters are texts; the portal is the unnamed one, which each Bind makes anew. */
const TEXT_VALUES = Buffer.alloc(2);
const TEXT_RESULTS = Buffer.alloc(2);
/** Of the unnamed portal, all of its rows. */
const EXECUTE = Buffer.from([...Buffer.from('E'), 0, 0, 0, 9, 0, 0, 0, 0, 0]);

/**
 * Messages that execute a statement for each of the rows, in one piece of memory: pg makes two Buffers a row, and its
 * values from strings.
 */
function executions(name: string, rows: readonly BoundValues[]): Buffer {
  const head = Buffer.concat([Buffer.from([BIND, 0, 0, 0, 0, 0]), Buffer.from(`${name}\0`), TEXT_VALUES]);
  const around = head.length + TEXT_RESULTS.length;
  const bytes = rows.reduce((sum, { length }) => sum + around + length + EXECUTE.length, 0);
  const messages = Buffer.allocUnsafe(bytes);
  let end = 0;
  for (const row of rows) {
    head.copy(messages, end);
    // The length counts itself, and not the byte before it.
    messages.writeInt32BE(around + row.length - 1, end + 1);
    row.copy(messages, end + head.length);
    TEXT_RESULTS.copy(messages, end + head.length + row.length);
    EXECUTE.copy(messages, end + around + row.length);
    end += around + row.length + EXECUTE.length;
  }
  return messages;
}

/** Names of the statements that the session of a connection keeps; `null` where it may be another one each time. */
const KEPT = new WeakMap<Connection, Set<string> | null>();

function keptBy(connection: Connection): Set<string> | null {
  const kept = KEPT.get(connection);
  if (kept !== undefined) {
    return kept;
  }
  const none = new Set<string>();
  KEPT.set(connection, none);
  return none;
}

/**
 * Statements in one message, by the extended protocol (PostgreSQL's "Extended Query"): a round trip, however many they
 * are. When one fails, PostgreSQL passes over those behind it, a COMMIT included.
 *
 * A session keeps those that have a name. So PostgreSQL reads and plans them once, which is most of what a row costs.
 * Why each row is taken by the statement that is meant, whichever session a connection pooler lends:
 *
 * 1. A name is of the statement and of the types of its parameters. What a session has by a name, whoever made it
 *    there, is that statement. The text has the name, too: a pooler may know statements by their texts alone.
 * 2. A name counts as kept behind a message that was completed. In all other cases the statement is made, behind a
 *    Close of what may be there of a message that failed: PostgreSQL keeps statements over a ROLLBACK.
 * 3. A session that lacks a name fails the whole message ({@link lacksKept}). The connection uses no names from then
 *    on.
 */
export class RowStatements implements Submittable {
  /**
   * Command tags, one for each row of each statement, in order; rejects with PostgreSQL's error or the connection's.
   */
  readonly tags: Promise<readonly string[]>;
  readonly #statements: readonly RowStatement[];
  readonly #completed: string[] = [];
  readonly #made: string[] = [];
  #usesKept = false;
  #lacksKept = false;
  #connection: Connection | null = null;
  #resolve!: (tags: readonly string[]) => void;
  #reject!: (error: Error) => void;

  constructor(statements: readonly RowStatement[]) {
    this.#statements = statements;
    this.tags = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The same of what was completed so far. */
  get completed(): readonly string[] {
    return this.#completed;
  }

  /** Whether it failed since the session lacks what was kept: a connection pooler has lent another one. */
  get lacksKept(): boolean {
    return this.#lacksKept;
  }

  submit(connection: Connection): void {
    const { stream } = connection;
    this.#connection = connection;
    stream.cork();
    for (const statement of this.#statements) {
      const name = this.#make(connection, statement);
      stream.write(executions(name, statement.rows));
    }
    connection.sync();
    stream.uncork();
  }

  /** @returns the name that it has in the session now; empty: it keeps none */
  #make(connection: Connection, { sql, name = '' }: RowStatement): string {
    const kept = keptBy(connection);
    if (kept?.has(name)) {
      this.#usesKept = true;
      return name;
    }
    const isKept = name !== '' && kept !== null && kept.size + this.#made.length < MOST_KEPT;
    if (isKept) {
      this.#made.push(name);
      connection.close({ type: 'S', name }, true);
    }
    connection.parse({ name: isKept ? name : '', text: isKept ? `/* ${name} */ ${sql}` : sql, types: [] }, true);
    return isKept ? name : '';
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#completed.push(text);
  }

  /** Rows of no interest: rules and triggers of the database may make some. */
  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleError(error: Error): void {
    this.#made.length = 0;
    // A trigger may pass on the same error of another server: it is no reason to send the message again.
    this.#lacksKept = this.#usesKept && error instanceof DatabaseError && error.code === INVALID_SQL_STATEMENT_NAME;
    if (this.#connection !== null && this.#lacksKept) {
      KEPT.set(this.#connection, null);
    }
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    for (const name of this.#made) {
      this.#connection && keptBy(this.#connection)?.add(name);
    }
    this.#resolve(this.#completed);
  }
}
