import { createHash } from 'node:crypto';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { BACKSLASH, LOWER_U, SLASH } from '../../records/ascii.ts';
import { contentOf, type JsonSlice } from '../json/json-slice.ts';
import { isOfDebezium, type TableMapping } from '../mapping/table-mapping.ts';
import type { PlannedColumn } from './column-plan.ts';
import type { CopyText } from './copy-text.ts';
import type { RowText } from './row-text.ts';

/** What a placeholder begins with where its bytes are written in hex. */
const HEX_PREFIX = 'hex:';

const bytesOfPlaceholder = (unavailableValue: string): Buffer =>
  unavailableValue.startsWith(HEX_PREFIX)
    ? Buffer.from(unavailableValue.slice(HEX_PREFIX.length), 'hex')
    : Buffer.from(unavailableValue, 'utf8');

/** A UUID of a name, of version 3 (RFC 9562, section 5.3), as Java's UUID.nameUUIDFromBytes makes one. */
function uuidOf(name: Buffer): string {
  const digest = createHash('md5').update(name).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x30, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function addForm(forms: Map<number, readonly Buffer[]>, text: string): void {
  const form = Buffer.from(text, 'utf8');
  forms.set(form.length, [...(forms.get(form.length) ?? []), form]);
}

/**
 * What Debezium sends in place of a large value that an update did not change, in every form that a column may have:
 * text, bytes by `binary.handling.mode`, hstore by `hstore.handling.mode`, and lists of text, numbers or UUIDs. Numeric
 * columns and lists of other elements arrive as NULL, which nothing distinguishes from a value.
 */
export class Placeholders {
  /** As the JsonConverter writes them, by their length in bytes. */
  readonly #forms = new Map<number, readonly Buffer[]>();
  /** As texts of other formats. */
  readonly #texts = new Map<number, readonly Buffer[]>();
  /** What strings hold that are one: the same characters may be escaped in other ways. */
  readonly #contents: ReadonlySet<string>;
  /** Bytes of a string that may hold one: a character takes at most the six of `\\u` and four digits. */
  readonly #longest: number;

  /** @param unavailableValue `unavailable.value.placeholder` of the connector */
  constructor(unavailableValue: string) {
    const bytes = bytesOfPlaceholder(unavailableValue);
    const word = bytes.toString('utf8');
    const pair = JSON.stringify({ [word]: word });
    const contents = [word, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), pair];
    this.#contents = new Set(contents);
    const lists = [[word], [uuidOf(bytes)], [bytes.toString('base64')], [...new Int8Array(bytes)]];
    for (const json of [...[...contents, ...lists].map((form) => JSON.stringify(form)), pair]) {
      addForm(this.#forms, json);
    }
    for (const content of contents) {
      addForm(this.#texts, content);
    }
    this.#longest = 6 * Math.max(...contents.map((content) => content.length));
  }

  /** Whether a value is the placeholder of one that the source did not send. */
  includes(value: JsonSlice | undefined): boolean {
    if (value === undefined) {
      return false;
    }
    const { bytes, start, end, kind, hasEscapes } = value;
    const forms = (kind === 'text' ? this.#texts : this.#forms).get(end - start);
    if (forms?.some((form) => bytes.compare(form, 0, form.length, start, end) === 0)) {
      return true;
    }
    return hasEscapes && end - start <= this.#longest && hasOtherEscapes(value) && this.#contents.has(contentOf(value));
  }
}

/** Whether a string has escapes that the JsonConverter writes of no placeholder: `\u` and digits, or `\/`. */
function hasOtherEscapes({ bytes, start, end }: JsonSlice): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === BACKSLASH) {
      at += 1;
      if (bytes[at] === LOWER_U || bytes[at] === SLASH) {
        return true;
      }
    }
  }
  return false;
}

/** Columns of a row that keep what the table has, as the source sent placeholders of them. */
export class KeptColumns {
  readonly #placeholders: Placeholders;
  /** How many there are; 0 where the table has no key, and so no row that something could be kept of. */
  readonly #columns: number;
  #ofRow: number[] = [];
  #ofBatch = new Set<number>();

  private constructor(unavailableValue: string, columns: number) {
    this.#placeholders = new Placeholders(unavailableValue);
    this.#columns = columns;
  }

  /** @returns `null` where the envelope is none of Debezium */
  static of({ envelope, columns, key }: TableMapping): KeptColumns | null {
    return isOfDebezium(envelope)
      ? new KeptColumns(envelope.unavailableValue, key === null ? 0 : columns.length)
      : null;
  }

  /** Before the first row of a batch. */
  begin(): void {
    this.#ofRow = [];
    this.#ofBatch = new Set();
  }

  /** Places of the columns that some row of the batch keeps. */
  get ofBatch(): ReadonlySet<number> {
    return this.#ofBatch;
  }

  isKept({ column }: PlannedColumn, value: JsonSlice): boolean {
    return column.source.kind === 'field' && this.#placeholders.includes(value);
  }

  /**
   * Writes the field of a column that is kept. @returns why it cannot be: a key and a version have to be there, and a
   * row to keep it of
   */
  keep(row: RowText, { nth, isOfKey, isVersion }: PlannedColumn): DeadLetterReason | null {
    if (isOfKey || isVersion || this.#columns === 0) {
      return 'missing_value';
    }
    this.#ofRow.push(nth);
    this.#ofBatch.add(nth);
    row.absent();
    return null;
  }

  /** Forgets what a row keeps that is taken back. */
  takeBack(): void {
    this.#ofRow = [];
  }

  /** Writes which columns the row keeps, a bit for each: the last field of a row that a stage takes. */
  write(text: CopyText): void {
    if (this.#ofRow.length === 0) {
      text.null();
      return;
    }
    const kept = new Set(this.#ofRow);
    text.text(Array.from({ length: this.#columns }, (_, nth) => (kept.has(nth) ? '1' : '0')).join(''));
    this.#ofRow = [];
  }
}
