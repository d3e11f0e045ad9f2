const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
/** `jsonb_recv` takes a version byte and then the text. */
const JSONB_VERSION = 1;

/** What a binary COPY begins with: signature, flags, and the length of an extension that there is not. */
export const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** What it ends with: a row of -1 fields. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/**
 * Rows in PostgreSQL's binary COPY format (documentation of COPY, section "Binary Format"), one after the other in one piece of memory: no field has a Buffer of its own,
 * which is what encoding would spend most of its time on.
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

  /** What was written from `start` up to `end`; the memory is shared. */
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
