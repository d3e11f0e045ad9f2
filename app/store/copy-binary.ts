/**
 * PostgreSQL's binary COPY format (documentation of COPY, section "Binary Format"): values go to the server byte for
 * byte, so nothing has to be escaped and JSON text arrives exactly as it was produced.
 */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = Buffer.from([0xff, 0xff]);
const NULL_LENGTH = -1;

/** `jsonb_recv` takes a version byte and then the text. */
const JSONB_VERSION = Buffer.from([1]);

/** A field is a run of buffers that follow each other, or NULL. */
export type CopyField = readonly Buffer[] | null;

export const copyNull: CopyField = null;
export const copyText = (text: string): CopyField => [Buffer.from(text, 'utf8')];
export const copyBytes = (bytes: Buffer): CopyField => [bytes];
export const copyJsonb = (json: Buffer): CopyField => [JSONB_VERSION, json];

export function copyInt4(value: number): CopyField {
  const field = Buffer.allocUnsafe(4);
  field.writeInt32BE(value);
  return [field];
}

export function copyInt8(value: bigint): CopyField {
  const field = Buffer.allocUnsafe(8);
  field.writeBigInt64BE(value);
  return [field];
}

function fieldBytes(field: CopyField): number {
  let bytes = 4;
  for (const part of field ?? []) {
    bytes += part.length;
  }
  return bytes;
}

function writeField(target: Buffer, at: number, field: CopyField): number {
  const bytes = fieldBytes(field);
  target.writeInt32BE(field ? bytes - 4 : NULL_LENGTH, at);
  let end = at + 4;
  for (const part of field ?? []) {
    end += part.copy(target, end);
  }
  return end;
}

/** One row, ready to be sent. */
export function encodeRow(fields: readonly CopyField[]): Buffer {
  let bytes = 2;
  for (const field of fields) {
    bytes += fieldBytes(field);
  }
  const row = Buffer.allocUnsafe(bytes);
  row.writeInt16BE(fields.length, 0);
  let end = 2;
  for (const field of fields) {
    end = writeField(row, end, field);
  }
  return row;
}

/** A whole COPY stream of encoded rows. */
export const encodeCopy = (rows: readonly Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...rows, TRAILER]);
