import { readFileSync } from 'node:fs';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A file's text without a byte order mark.
 *
 * @throws the file system's error, or, with the same fields, one of code `ERR_ENCODING_INVALID_ENCODED_DATA` when the bytes
 * are not UTF-8: replacing them silently would change a password.
 */
export function readText(path: string): string {
  const bytes = readFileSync(path);
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw Object.assign(error as TypeError, { path });
  }
}
