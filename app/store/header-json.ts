import { isUtf8 } from 'node:buffer';
import type { RecordHeader } from '../stream/record.ts';

const NO_HEADERS = Buffer.from('[]');

/** Whether PostgreSQL's text and jsonb can hold the bytes: UTF-8 without NUL. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

type TextOrBase64 = string | { readonly base64: string };

const asText = (bytes: Buffer): TextOrBase64 =>
  isText(bytes) ? bytes.toString('utf8') : { base64: bytes.toString('base64') };

/**
 * Headers as a JSON array of `{"key", "value"}` in record order. A key or value is text when it is UTF-8 without NUL,
 * else `{"base64": ...}`; a value may be null.
 */
export function headersJson(headers: readonly RecordHeader[]): Buffer {
  if (headers.length === 0) {
    return NO_HEADERS;
  }
  const entries = headers.map(({ key, value }) => ({
    key: asText(Buffer.from(key, 'utf8')),
    value: value === null ? null : asText(value),
  }));
  return Buffer.from(JSON.stringify(entries), 'utf8');
}
