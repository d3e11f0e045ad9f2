import { type ClientBase, type Connection, escapeIdentifier, type Submittable } from 'pg';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { PgConnection } from './pg-internals.ts';

const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
/** `jsonb_recv` takes a version byte and then the text. */
const JSONB_VERSION = 1;

/** The head of a binary COPY: signature, flags, and the length of an extension that there is not. */
export const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Its end: a row of -1 fields. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/**
 * Rows in PostgreSQL's binary COPY format (documentation of COPY, section "Binary Format"), one after the other in one
 * piece of memory: no field has a Buffer of its own, which would take most of the time of encoding.
 */
export class CopyBuffer {
  #bytes: Buffer;
  #end = 0;

  /** @param size bytes to begin with; it grows when that is not enough */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get end(): number {
    return this.#end;
  }

  /** The bytes from `start` up to `end`; the memory is shared. */
  slice(start: number, end: number): Buffer {
    return this.#bytes.subarray(start, end);
  }

  /** Begins a row of so many fields. */
  row(fields: number): void {
    this.#reserve(2);
    this.#end = this.#bytes.writeInt16BE(fields, this.#end);
  }

  /** Bytes as they are: rows or parts of rows that were encoded before. */
  raw(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#end += bytes.copy(this.#bytes, this.#end);
  }

  int4(value: number): void {
    this.#reserve(LENGTH_BYTES + 4);
    this.#end = this.#bytes.writeInt32BE(4, this.#end);
    this.#end = this.#bytes.writeInt32BE(value, this.#end);
  }

  int8(value: bigint | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(LENGTH_BYTES + 8);
    this.#end = this.#bytes.writeInt32BE(8, this.#end);
    this.#end = this.#bytes.writeBigInt64BE(value, this.#end);
  }

  /** A field of type text or bytea. */
  bytes(value: Buffer | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(LENGTH_BYTES + value.length);
    this.#end = this.#bytes.writeInt32BE(value.length, this.#end);
    this.#end += value.copy(this.#bytes, this.#end);
  }

  text(value: string): void {
    this.bytes(Buffer.from(value, 'utf8'));
  }

  /** A field of type jsonb from JSON text, which goes to PostgreSQL byte for byte. */
  jsonb(json: Buffer | string | null): void {
    if (json === null) {
      this.#null();
      return;
    }
    this.#reserve(LENGTH_BYTES + 1 + (typeof json === 'string' ? json.length * MOST_BYTES_PER_UNIT : json.length));
    const start = this.#end;
    const text = this.#bytes.writeUInt8(JSONB_VERSION, start + LENGTH_BYTES);
    this.#end =
      text + (typeof json === 'string' ? this.#bytes.write(json, text, 'utf8') : json.copy(this.#bytes, text));
    this.#bytes.writeInt32BE(this.#end - start - LENGTH_BYTES, start);
  }

  #null(): void {
    this.#reserve(LENGTH_BYTES);
    this.#end = this.#bytes.writeInt32BE(NULL_LENGTH, this.#end);
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) {
      return;
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** A table, and the columns that rows are encoded for, in this order, with their types. */
export interface CopyTarget {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** CopyData (PostgreSQL's "Message Formats"): its type, and its length, which counts itself but not the type. */
const COPY_DATA = 'd'.charCodeAt(0);
const MESSAGE_LENGTH_BYTES = 4;

/** An error in PostgreSQL's log. */
const DECLINED = `${PRODUCT_NAME}: another writer has moved or locked the offset, so nothing is written`;

/** The statement that takes rows of a table in the binary format. */
export function copyStatement(schema: string, { table, columns }: CopyTarget): string {
  const names = Object.keys(columns).map(escapeIdentifier).join(', ');
  return `COPY ${escapeIdentifier(schema)}.${escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT binary)`;
}

/**
 * Statements of which one is a COPY, in one message, and its rows in another: two round trips, however many statements.
 *
 * The rows go out in one piece. The error about a refused row comes while the rest is under way, and PostgreSQL passes
 * over the rest; a sender that waits for room in between would have to be stopped.
 */
export class CopyQuery implements Submittable {
  /**
   * Command tags of the statements that were completed, in order; rejects with PostgreSQL's error or the connection's.
   */
  readonly tags: Promise<readonly string[]>;
  readonly #text: string;
  readonly #rows: Buffer;
  readonly #mayCopy: (tags: readonly string[]) => boolean;
  readonly #completed: string[] = [];
  #isDeclined = false;
  #resolve!: (tags: readonly string[]) => void;
  #reject!: (error: Error) => void;

  /**
   * @param rows encoded rows, without head and end of the format
   * @param mayCopy asked with the tags so far when PostgreSQL is ready for the rows. When it says no, none is sent: the
   * COPY fails, the statements after it are not run, the transaction has to be rolled back, and `tags` are those up to
   * there.
   * @default yes
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
    const head = Buffer.alloc(1 + MESSAGE_LENGTH_BYTES);
    head.writeUInt32BE(MESSAGE_LENGTH_BYTES + length, head.writeUInt8(COPY_DATA));
    stream.cork();
    for (const part of [Buffer.concat([head, COPY_SIGNATURE]), this.#rows, COPY_TRAILER]) {
      stream.write(part);
    }
    connection.endCopyFrom();
    stream.uncork();
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

/** Rows that were stored, by the tag of the COPY among these: fewer than were sent where a trigger dropped some. */
export function rowsStored(tags: readonly string[]): number {
  const tag = tags.find((completed) => completed.startsWith('COPY '));
  return Number(tag?.slice('COPY '.length) ?? 0);
}

/**
 * Sends encoded rows with one COPY. Rejects with PostgreSQL's error; the connection can be used again after a
 * `ROLLBACK TO SAVEPOINT`.
 *
 * @returns how many rows were stored
 */
export async function copyInto(client: ClientBase, schema: string, target: CopyTarget, rows: Buffer): Promise<number> {
  return rowsStored(await client.query(new CopyQuery(copyStatement(schema, target), rows)).tags);
}
