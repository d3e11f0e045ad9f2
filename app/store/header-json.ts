import { isUtf8 } from 'node:buffer';
import type { RecordHeader } from '../stream/record.ts';

/** Whether PostgreSQL's text and jsonb can hold the bytes: UTF-8 without NUL. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

const base64Json = (bytes: Buffer): string => `{"base64":"${bytes.toString('base64')}"}`;

const valueJson = (value: Buffer): string =>
  isText(value) ? JSON.stringify(value.toString('utf8')) : base64Json(value);

const keyJson = (key: string): string =>
  key.includes('\0') ? base64Json(Buffer.from(key, 'utf8')) : JSON.stringify(key);

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
