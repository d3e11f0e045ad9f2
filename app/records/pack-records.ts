import type { StreamRecord } from './record.ts';
import type { BatchBase, RecordBatch } from './record-batch.ts';
import { RecordIndex } from './record-index.ts';
import { VARLONG_BYTES } from './record-reader.ts';
import { Records } from './records.ts';

/** The two lengths of a header, and its length, attributes, deltas, lengths and count of headers of a record. */
const MOST_HEADER_BYTES = 2 * VARLONG_BYTES;
const MOST_RECORD_BYTES = 7 * VARLONG_BYTES;

const NULL_VARINT = -1n;

/** Writes fields of record format v2. */
class RecordWriter {
  readonly bytes: Buffer;
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  /** A zigzag varint or varlong. */
  varint(value: bigint): void {
    let raw = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    for (; raw >= 0x80n; raw >>= 7n) {
      this.at = this.bytes.writeUInt8(Number(raw & 0x7fn) | 0x80, this.at);
    }
    this.at = this.bytes.writeUInt8(Number(raw), this.at);
  }

  field(value: Buffer | null): void {
    this.varint(value === null ? NULL_VARINT : BigInt(value.length));
    this.at += value?.copy(this.bytes, this.at) ?? 0;
  }
}

const headerKeyBytes = (key: string | Buffer): Buffer => (typeof key === 'string' ? Buffer.from(key, 'utf8') : key);

function sizeOf({ key, value, headers }: StreamRecord): number {
  const content = headers.reduce(
    (sum, header) => sum + MOST_HEADER_BYTES + headerKeyBytes(header.key).length + (header.value?.length ?? 0),
    0,
  );
  return MOST_RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0) + content;
}

function writeFields(writer: RecordWriter, record: StreamRecord, { firstOffset, firstTimestamp }: BatchBase): void {
  writer.at = writer.bytes.writeUInt8(0, writer.at); // attributes, of which there are none
  writer.varint(record.timestamp - firstTimestamp);
  writer.varint(record.offset - firstOffset);
  writer.field(record.key);
  writer.field(record.value);
  writer.varint(BigInt(record.headers.length));
  for (const { key, value } of record.headers) {
    writer.field(headerKeyBytes(key));
    writer.field(value);
  }
}

/**
 * Records as a batch of record format v2, in the order of their offsets: those of older formats, and those that are
 * written again.
 *
 * @throws Error when their offsets do not ascend, or are further apart than a batch can have them
 */
export function packRecords(records: readonly StreamRecord[]): RecordBatch {
  const [first] = records;
  const base = { firstOffset: first?.offset ?? 0n, firstTimestamp: first?.timestamp ?? 0n, appendTime: null };
  const content = new RecordWriter(records.reduce((sum, record) => sum + sizeOf(record), 0));
  for (const record of records) {
    const body = new RecordWriter(sizeOf(record));
    writeFields(body, record, base);
    content.field(body.bytes.subarray(0, body.at));
  }
  const index = new RecordIndex(content.bytes.subarray(0, content.at), records.length, base);
  for (;;) {
    const batch = index.readOn();
    if (batch !== null) {
      return batch;
    }
  }
}

/** The same as {@link Records}. */
export const recordsOf = (records: readonly StreamRecord[]): Records =>
  records.length === 0 ? Records.NONE : Records.of(packRecords(records));
