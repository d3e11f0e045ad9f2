import { type ClientBase, type Connection, escapeIdentifier, type Submittable } from 'pg';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { COPY_SIGNATURE, COPY_TRAILER } from './copy-buffer.ts';
import type { PgConnection } from './pg-internals.ts';

/** A table and the columns that rows are encoded for. */
export interface CopyTarget {
  readonly table: string;
  readonly columns: readonly string[];
}

/** CopyData (PostgreSQL's "Message Formats"): its type and the length of all that follows, which the length itself belongs to. */
const COPY_DATA = 'd'.charCodeAt(0);
const LENGTH_BYTES = 4;

/** PostgreSQL has it in its log, as an error. */
const DECLINED = `${PRODUCT_NAME}: another writer has moved or locked the offset, so nothing is written`;

/** The statement that takes rows of a table in the binary format. */
export function copyStatement(schema: string, { table, columns }: CopyTarget): string {
  const names = columns.map(escapeIdentifier).join(', ');
  return `COPY ${escapeIdentifier(schema)}.${escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT binary)`;
}

/**
 * Statements of which one is a COPY, in one message, and its rows in another: two round trips, however many statements.
 *
 * The rows go out in one piece. What PostgreSQL says to a row that it refuses comes while the rest is under way, and it
 * passes over the rest; a sender that waits for room in between would have to be stopped.
 */
export class CopyQuery implements Submittable {
  /** Command tags of the statements that were completed, in order; rejects with PostgreSQL's error or the connection's. */
  readonly tags: Promise<readonly string[]>;
  readonly #text: string;
  readonly #rows: Buffer;
  readonly #mayCopy: (tags: readonly string[]) => boolean;
  readonly #completed: string[] = [];
  #isDeclined = false;
  #resolve!: (tags: readonly string[]) => void;
  #reject!: (error: Error) => void;

  /**
   * @param rows encoded rows, without what the format begins and ends with
   * @param mayCopy asked with the tags so far when PostgreSQL is ready for the rows. When it says no, none is sent: the COPY
   * fails, what would follow it is not done, the transaction has to be rolled back, and `tags` are those up to there. @default yes
   */
  constructor(text: string, rows: Buffer, mayCopy: (tags: readonly string[]) => boolean = () => true) {
    this.#text = text;
    this.#rows = rows;
    this.#mayCopy = mayCopy;
    this.tags = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the rows were not to be sent. */
  get isDeclined(): boolean {
    return this.#isDeclined;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#completed.push(text);
  }

  handleCopyInResponse(connection: PgConnection): void {
    if (!this.#mayCopy(this.#completed)) {
      this.#isDeclined = true;
      connection.sendCopyFail(DECLINED);
      return;
    }
    const { stream } = connection;
    const length = COPY_SIGNATURE.length + this.#rows.length + COPY_TRAILER.length;
    const head = Buffer.alloc(1 + LENGTH_BYTES);
    head.writeUInt32BE(LENGTH_BYTES + length, head.writeUInt8(COPY_DATA));
    stream.cork();
    for (const part of [Buffer.concat([head, COPY_SIGNATURE]), this.#rows, COPY_TRAILER]) {
      stream.write(part);
    }
    connection.endCopyFrom();
    stream.uncork();
  }

  /** Rows of no interest: rules and triggers of somebody else may make some. */
  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleEmptyQuery(): void {}

  handleError(error: Error): void {
    if (this.#isDeclined) {
      this.#resolve(this.#completed);
    } else {
      this.#reject(error);
    }
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#completed);
  }
}

/** Sends encoded rows with one COPY. Rejects with PostgreSQL's error; the connection can be used again after a `ROLLBACK TO SAVEPOINT`. */
export async function copyInto(client: ClientBase, schema: string, target: CopyTarget, rows: Buffer): Promise<void> {
  await client.query(new CopyQuery(copyStatement(schema, target), rows)).tags;
}
