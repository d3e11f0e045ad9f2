import { isUtf8 } from 'node:buffer';
import type { RecordHeader } from '../../records/record.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import type { CopyBuffer, FieldBytes } from './copy-buffer.ts';

/** Whether PostgreSQL's text and jsonb can hold the bytes: UTF-8 without NUL. */
export const isPostgresText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

const base64Json = (bytes: Buffer): string => `{"base64":"${bytes.toString('base64')}"}`;

const valueJson = (value: Buffer): string =>
  isPostgresText(value) ? JSON.stringify(value.toString('utf8')) : base64Json(value);

function keyJson(key: string | Buffer): string {
  if (typeof key !== 'string') {
    return base64Json(key);
  }
  return key.includes('\0') ? base64Json(Buffer.from(key, 'utf8')) : JSON.stringify(key);
}

/**
 * Headers as a JSON array of `{"key", "value"}` in record order. A key or value is text when it is UTF-8 without NUL,
 * else `{"base64": ...}`; a value may be null.
 */
export function headersJson(headers: readonly RecordHeader[]): string {
  let json = '[';
  for (const { key, value } of headers) {
    const separator = json.length === 1 ? '' : ',';
    json += `${separator}{"key":${keyJson(key)},"value":${value === null ? 'null' : valueJson(value)}}`;
  }
  return `${json}]`;
}

/** Headers whose JSON is one text: the parts of a text that grows are objects until it is written. */
const HEADERS_PER_TEXT = 1_000;

/** Writes the headers of a record as a field of type jsonb. */
export function writeHeaders(rows: CopyBuffer, headers: readonly RecordHeader[]): void {
  const field = rows.beginJsonb();
  for (const text of headersTexts(headers)) {
    rows.write(text);
  }
  rows.endJsonb(field);
}

/** The parts of {@link headersJson}. */
function* headersTexts(headers: readonly RecordHeader[]): Generator<string> {
  yield '[';
  for (let from = 0; from < headers.length; from += HEADERS_PER_TEXT) {
    const text = headersJson(headers.slice(from, from + HEADERS_PER_TEXT)).slice(1, -1);
    yield from === 0 ? text : `,${text}`;
  }
  yield ']';
}

const EMPTY_LIST = '[]';

/** {@link writeHeaders} of a record in place: text is nearly always ASCII without anything to escape. */
export function writeHeadersOf(rows: CopyBuffer, record: RecordCursor): void {
  const { batch, headerCount } = record;
  if (headerCount === 0) {
    rows.jsonb(EMPTY_LIST);
    return;
  }
  const reader = record.headerReader();
  const field = rows.beginJsonb();
  for (let nth = 0; nth < headerCount; nth += 1) {
    rows.raw(nth === 0 ? FIRST_KEY : NEXT_KEY);
    const keyLength = reader.skipField();
    writeJson(rows, batch, reader.at - keyLength, keyLength);
    rows.raw(VALUE);
    const valueLength = reader.skipField();
    if (valueLength < 0) {
      rows.raw(NULL);
    } else {
      writeJson(rows, batch, reader.at - valueLength, valueLength);
    }
  }
  rows.raw(LAST_END);
  rows.endJsonb(field);
}

const [FIRST_KEY, NEXT_KEY, VALUE, NULL, LAST_END] = ['[{"key":', '},{"key":', ',"value":', 'null', '}]'].map((text) =>
  Buffer.from(text, 'latin1'),
) as [Buffer, Buffer, Buffer, Buffer, Buffer];

/** Text as a JSON string, and other bytes as `{"base64": ...}`. */
function writeJson(rows: CopyBuffer, batch: FieldBytes, at: number, length: number): void {
  if (!rows.writeJsonString(batch, at, length)) {
    rows.write(valueJson(batch.bytes.subarray(at, at + length)));
  }
}
