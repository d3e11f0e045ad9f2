import type { Settings } from '../../settings/settings.ts';
import { recordBytes, type StreamRecord } from '../stream/record.ts';
import type { CopyTarget } from './binary-copy.ts';
import { CopyBuffer } from './copy-buffer.ts';
import { headersJson } from './header-json.ts';
import { postgresTimestamp } from './timestamp.ts';

/** Columns of `records` in the order in which {@link RecordRows} has them. */
export const RECORDS: CopyTarget = {
  table: 'records',
  columns: ['topic', 'partition', 'offset', 'timestamp', 'key', 'headers', 'value'],
};

/** Two lengths, the count of fields and the partition, roughly. */
const PREFIX_BYTES = 64;

/** How keys are stored: the setting `records.keyEncoding`. */
export type KeyEncoding = Settings['records']['keyEncoding'];

const keyBytes = (key: Buffer | null, encoding: KeyEncoding): Buffer | null =>
  key === null || encoding === 'text' ? key : Buffer.from(key.toString('base64'), 'latin1');

function encode(
  rows: CopyBuffer,
  { offset, timestamp, key, headers, value }: StreamRecord,
  encoding: KeyEncoding,
): void {
  rows.int8(offset);
  rows.int8(postgresTimestamp(timestamp));
  rows.bytes(keyBytes(key, encoding));
  rows.jsonb(headersJson(headers));
  rows.jsonb(value);
}

/** What all rows of a partition begin with. */
function prefixOf(topic: string, partition: number): Buffer {
  const prefix = new CopyBuffer(PREFIX_BYTES + topic.length);
  prefix.row(RECORDS.columns.length);
  prefix.text(topic);
  prefix.int4(partition);
  return prefix.slice(0, prefix.end);
}

/** Rows of `records`, encoded once, of which any part can be sent. */
export class RecordRows {
  readonly #rows: CopyBuffer;
  /** Where each row begins, and where the last one ends. */
  readonly #starts: number[] = [0];

  /** Keys and values were found to be text before, or PostgreSQL finds out. */
  constructor(topic: string, partition: number, records: readonly StreamRecord[], keyEncoding: KeyEncoding = 'text') {
    const prefix = prefixOf(topic, partition);
    let size = 0;
    for (const record of records) {
      size += prefix.length + recordBytes(record);
    }
    this.#rows = new CopyBuffer(size);
    for (const record of records) {
      this.#rows.raw(prefix);
      encode(this.#rows, record, keyEncoding);
      this.#starts.push(this.#rows.end);
    }
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  get all(): Buffer {
    return this.#rows.slice(0, this.#rows.end);
  }

  /** The rows `from` up to but without `to`. */
  part(from: number, to: number): Buffer {
    return this.#rows.slice(this.#starts[from] ?? 0, this.#starts[to] ?? 0);
  }
}
