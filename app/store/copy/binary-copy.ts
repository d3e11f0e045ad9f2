import { type ClientBase, type Connection, escapeIdentifier, type Submittable } from 'pg';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { MESSAGE_LENGTH_BYTES, type PgConnection } from '../connection/pg-internals.ts';

/** The head of a binary COPY: signature, flags, and the length of an extension that there is not. */
export const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Its end: a row of -1 fields. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** A table, and the columns that rows are encoded for, in this order, with their types. */
export interface TableColumns {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** CopyData (PostgreSQL's "Message Formats"): its type, and its length, which counts itself but not the type. */
const COPY_DATA = 'd'.charCodeAt(0);

/** An error in PostgreSQL's log. */
const DECLINED = `${PRODUCT_NAME}: another writer has moved or locked the offset, so nothing is written`;

/** The statement that takes rows of a table in the binary format. */
export function copyStatement(schema: string, { table, columns }: TableColumns): string {
  const names = Object.keys(columns).map(escapeIdentifier).join(', ');
  return `COPY ${escapeIdentifier(schema)}.${escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT binary)`;
}

/** The format of a COPY's rows. */
type CopyFormat = 'binary' | 'text';

/** A COPY from the client, and how an error about one of its rows names the table: `COPY orders, line 2`. */
export interface RowCopy {
  readonly statement: string;
  readonly format: CopyFormat;
  readonly relation: string;
  /** What makes room for the rows of one more COPY of a transaction. @default nothing: each adds rows to the table */
  readonly emptying?: string;
  /**
   * Whether policies of row-level security may refuse a row, with the SQLSTATE of a missing privilege.
   *
   * @default false
   */
  readonly hasPolicies?: boolean;
}

/** Encoded rows of one COPY, without head and end of the format. */
export interface CopyInput {
  readonly format: CopyFormat;
  /** In pieces, one behind the other. */
  readonly rows: readonly Buffer[];
}

/** What a format has before and behind the rows; CopyDone alone ends text (PostgreSQL's "COPY Operations"). */
const FRAMES: Readonly<Record<CopyFormat, { readonly head: Buffer; readonly end: Buffer }>> = {
  binary: { head: COPY_SIGNATURE, end: COPY_TRAILER },
  text: { head: Buffer.alloc(0), end: Buffer.alloc(0) },
};

/**
 * Statements with COPYs among them in one message, and the rows of all COPYs behind them: two round trips, however many
 * statements and COPYs.
 *
 * The rows go out in one piece as soon as PostgreSQL is ready for the first ones. It reads those of a COPY when it
 * comes to it, and passes over all that it has not read when it has failed before (documentation, "COPY Operations").
 * So a refused row does no harm, whichever COPY it is of. A sender that waits for room in between would have to be
 * stopped.
 */
export class CopyQuery implements Submittable {
  /**
   * Command tags of the statements that were completed, in order; rejects with PostgreSQL's error or the connection's.
   */
  readonly tags: Promise<readonly string[]>;
  readonly #text: string;
  readonly #copies: readonly CopyInput[];
  readonly #mayCopy: (tags: readonly string[]) => boolean;
  readonly #completed: string[] = [];
  #answered = 0;
  #isDeclined = false;
  #resolve!: (tags: readonly string[]) => void;
  #reject!: (error: Error) => void;

  /**
   * @param copies the rows of each COPY among the statements, in their order
   * @param mayCopy asked with the tags so far when PostgreSQL is ready for the first rows. When it says no, none is
   * sent: the COPY fails, the statements after it are not run, the transaction has to be rolled back, and `tags` are
   * those up to there.
   * @default yes
   */
  constructor(text: string, copies: readonly CopyInput[], mayCopy: (tags: readonly string[]) => boolean = () => true) {
    this.#text = text;
    this.#copies = copies;
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

  /** Command tags of the statements that were completed so far. */
  get completed(): readonly string[] {
    return this.#completed;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#completed.push(text);
  }

  handleCopyInResponse(connection: PgConnection): void {
    this.#answered += 1;
    const isFirst = this.#answered === 1;
    if (this.#answered > this.#copies.length || (isFirst && !this.#mayCopy(this.#completed))) {
      this.#isDeclined = true;
      connection.sendCopyFail(DECLINED);
    } else if (isFirst) {
      sendCopyData(connection, this.#copies);
    }
  }

  /** Rows of no interest: rules and triggers of the database may make some. */
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

/** All rows of each COPY in one CopyData, and CopyDone. */
function sendCopyData(connection: PgConnection, copies: readonly CopyInput[]): void {
  const { stream } = connection;
  stream.cork();
  for (const { format, rows } of copies) {
    const { head, end } = FRAMES[format];
    const message = Buffer.alloc(1 + MESSAGE_LENGTH_BYTES);
    const length = rows.reduce((sum, piece) => sum + piece.length, 0);
    message.writeUInt32BE(MESSAGE_LENGTH_BYTES + head.length + length + end.length, message.writeUInt8(COPY_DATA));
    for (const part of [Buffer.concat([message, head]), ...rows, end]) {
      stream.write(part);
    }
    connection.endCopyFrom();
  }
  stream.uncork();
}

const COPY_TAG = 'COPY ';

export const isCopyTag = (tag: string): boolean => tag.startsWith(COPY_TAG);

/** Rows that the first COPY stored, by its tag among these: fewer than were sent where a trigger dropped some. */
export const rowsStored = (tags: readonly string[]): number =>
  Number(tags.find(isCopyTag)?.slice(COPY_TAG.length) ?? 0);

/**
 * Sends encoded rows with one COPY, the statement. Rejects with PostgreSQL's error; the connection can be used again
 * after a `ROLLBACK TO SAVEPOINT`.
 *
 * @returns how many rows were stored
 */
export async function copyInto(client: ClientBase, statement: string, copy: CopyInput): Promise<number> {
  return rowsStored(await client.query(new CopyQuery(statement, [copy])).tags);
}
