import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { EncodedRows, type Refusal, type TableRows } from '../store/row-target.ts';
import { bytesOfAll, type StreamRecord, type TopicPartition } from '../stream/record.ts';
import { CopyText } from './copy-text.ts';
import { JsonScanner } from './json-scanner.ts';
import type { JsonSlice } from './json-slice.ts';
import { RowText } from './row-text.ts';
import type { FieldPath, MappedColumn, TableMapping } from './table-mapping.ts';

/** Limits of the rows. */
interface RowLimits {
  /** Bytes; a record with a larger value is a dead letter. */
  readonly maxValueBytes: number;
  /** Whether the COPY says `DEFAULT '\D'`, as PostgreSQL 16 and later can. */
  readonly takesDefaults: boolean;
}

/** Why a record is no row; without a column it is about the record as a whole. */
interface Fault {
  readonly reason: DeadLetterReason;
  readonly column?: string;
  /** @default the words of the reason */
  readonly words?: string;
}

/** The parts of one JSON document that columns take: of a record's value, or of its key. */
class DocumentFields {
  readonly #scanner: JsonScanner;
  readonly #places: ReadonlyMap<MappedColumn, number>;
  #json: Buffer = Buffer.alloc(0);

  /** @param paths by the columns that take them */
  constructor(paths: ReadonlyMap<MappedColumn, FieldPath>) {
    this.#scanner = new JsonScanner([...paths.values()]);
    this.#places = new Map([...paths.keys()].map((column, place) => [column, place]));
  }

  /** @returns why the document is no JSON; `null` when it is */
  read(json: Buffer): DeadLetterReason | null {
    this.#json = json;
    return this.#scanner.scan(json);
  }

  of(column: MappedColumn): JsonSlice | undefined {
    const place = this.#places.get(column) ?? 0;
    const kind = this.#scanner.kind(place);
    if (kind === null) {
      return undefined;
    }
    const [start, end] = [this.#scanner.start(place), this.#scanner.end(place)];
    return { bytes: this.#json, start, end, kind, hasEscapes: this.#scanner.isEscaped(place) };
  }
}

/** Columns that take a part of the value, or of a key that is JSON; a path of no parts is the whole value, or the key's bytes. */
function pathsOf(columns: readonly MappedColumn[], kind: 'field' | 'key'): Map<MappedColumn, FieldPath> {
  const paths = new Map<MappedColumn, FieldPath>();
  for (const column of columns) {
    if (column.source.kind === kind && (kind === 'field' || column.source.path.length > 0)) {
      paths.set(column, column.source.path);
    }
  }
  return paths;
}

/**
 * Encodes records as rows of a mapping's columns, for one COPY in text format. A record that is no row is a dead letter
 * whose words name the table and the column and never quote the record; the others are rows.
 */
export class TableEncoder {
  readonly #mapping: TableMapping;
  readonly #name: string;
  readonly #limits: RowLimits;
  readonly #value: DocumentFields | null;
  readonly #key: DocumentFields | null;
  /** Whether a value that is no object has none of the fields that columns take. */
  readonly #takesNames: boolean;

  constructor(mapping: TableMapping, limits: RowLimits) {
    const [values, keys] = [pathsOf(mapping.columns, 'field'), pathsOf(mapping.columns, 'key')];
    this.#mapping = mapping;
    this.#name = `${mapping.schema}.${mapping.table}`;
    this.#limits = limits;
    this.#value = values.size === 0 ? null : new DocumentFields(values);
    this.#key = keys.size === 0 ? null : new DocumentFields(keys);
    this.#takesNames = [...values.values()].some(([first]) => typeof first === 'string');
  }

  encode(place: TopicPartition, records: readonly StreamRecord[]): TableRows {
    const text = new CopyText(bytesOfAll(records));
    const row = new RowText(text, this.#limits.takesDefaults);
    const starts = [0];
    const refused = new Map<number, Refusal>();
    for (const [index, record] of records.entries()) {
      const start = text.end;
      const fault = this.#documentFault(record) ?? this.#writeRow(row, place, record);
      if (fault === null) {
        text.endRow();
      } else {
        text.takeBack(start);
        refused.set(index, this.#refusal(fault));
      }
      starts.push(text.end);
    }
    return { rows: new EncodedRows(text.slice(0, text.end), starts), refused };
  }

  #refusal({ reason, column, words = DEAD_LETTER_REASON[reason] }: Fault): Refusal {
    const place = column === undefined ? this.#name : `${this.#name}, column "${column}"`;
    const target = { target: this.#name, ...(column !== undefined && { targetColumn: column }) };
    return { reason, error: `not for ${place}: ${words}`, ...target };
  }

  /** Reads value and key, as far as columns take parts of them. */
  #documentFault({ value, key }: StreamRecord): Fault | null {
    if (value !== null && value.length > this.#limits.maxValueBytes) {
      return { reason: 'value_too_large' };
    }
    if (this.#value !== null && value !== null) {
      const reason = this.#value.read(value);
      if (reason !== null) {
        return { reason };
      }
    }
    if (this.#takesNames && (value === null || !isObject(value))) {
      return value === null ? { reason: 'no_value' } : { reason: 'value_does_not_fit', words: NOT_AN_OBJECT };
    }
    if (this.#key !== null && key !== null && this.#key.read(key) !== null) {
      return { reason: 'invalid_json', words: KEY_IS_NOT_JSON };
    }
    return null;
  }

  #writeRow(row: RowText, place: TopicPartition, record: StreamRecord): Fault | null {
    for (const column of this.#mapping.columns) {
      const reason = this.#writeField(row, column, place, record);
      if (reason !== null) {
        return { reason, column: column.name };
      }
    }
    return null;
  }

  #writeField(
    row: RowText,
    column: MappedColumn,
    { topic, partition }: TopicPartition,
    { value, key, headers, offset, timestamp }: StreamRecord,
  ): DeadLetterReason | null {
    const { source } = column;
    switch (source.kind) {
      case 'field':
        return row.json(column, value === null ? undefined : this.#value?.of(column));
      case 'key':
        return source.path.length === 0
          ? row.bytes(column, key)
          : row.json(column, key === null ? undefined : this.#key?.of(column));
      case 'header':
        return row.bytes(column, headers.findLast((header) => header.key === source.name)?.value);
      case 'topic':
        return row.bytes(column, Buffer.from(topic));
      case 'partition':
        return row.number(column, partition);
      case 'offset':
        return row.number(column, offset);
      case 'timestamp':
        return row.timestamp(column, timestamp);
    }
  }
}

const NOT_AN_OBJECT = 'its value is no JSON object, and columns take fields of it';
const KEY_IS_NOT_JSON = 'its key is not JSON, and columns take fields of it';

const OPENED_OBJECT = '{'.charCodeAt(0);
/** Blanks of JSON are at most this, and nothing else before a value is (RFC 8259, section 2). */
const SPACE = 0x20;

/** Whether valid JSON is an object. */
function isObject(json: Buffer): boolean {
  const at = json.findIndex((byte) => byte > SPACE);
  return json[at] === OPENED_OBJECT;
}
