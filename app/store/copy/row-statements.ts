import type { Connection, Submittable } from 'pg';

/** A statement that takes a row, whose values are its parameters: no text of a record is ever a part of SQL. */
export interface RowStatement {
  readonly sql: string;
  /** Rows that it is executed for, in their order: values as PostgreSQL's input functions read them; `null` is NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/**
 * Statements in one message, by the extended protocol (PostgreSQL's "Extended Query"): a round trip, however many they
 * are. When one fails, PostgreSQL passes over those behind it, a COMMIT included. None of them keeps a name, so it does
 * not matter which session a connection pooler lends.
 */
export class RowStatements implements Submittable {
  /**
   * Command tags, one for each row of each statement, in order; rejects with PostgreSQL's error or the connection's.
   */
  readonly tags: Promise<readonly string[]>;
  readonly #statements: readonly RowStatement[];
  readonly #completed: string[] = [];
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

  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    for (const { sql, rows } of this.#statements) {
      connection.parse({ name: '', text: sql, types: [] }, true);
      for (const values of rows) {
        connection.bind({ values: [...values] }, true);
        connection.execute({}, true);
      }
    }
    connection.sync();
    stream.uncork();
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#completed.push(text);
  }

  /** Rows of no interest: rules and triggers of the database may make some. */
  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#completed);
  }
}
