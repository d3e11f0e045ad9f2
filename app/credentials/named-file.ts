import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { join, parse, sep } from 'node:path';
import { LARGEST_FILE_BYTES } from '../../settings/schema/document.ts';
import { MASK, shownKey } from '../../settings/schema/shown-value.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

function throwCode(path: string, code: string): never {
  throw Object.assign(new Error(code), { code, path });
}

/** The descriptor of a regular file; a pipe in its place is not waited for, and no device is opened. */
function openRegular(path: string): number {
  const found = statSync(path);
  if (!found.isFile()) {
    throwCode(path, found.isDirectory() ? 'EISDIR' : 'NOT_A_FILE');
  }
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size <= LARGEST_FILE_BYTES) {
    return file;
  }
  closeSync(file);
  return throwCode(path, stats.isFile() ? 'TOO_LARGE' : 'NOT_A_FILE');
}

/**
 * A file's text without a byte order mark.
 *
 * @throws the file system's error, or one with the same fields and the code `NOT_A_FILE` for a pipe or a device,
 * `TOO_LARGE` beyond 1 MiB, or `ERR_ENCODING_INVALID_ENCODED_DATA` for bytes that are not UTF-8: replacing them
 * silently would change a password.
 */
export function readText(path: string): string {
  const file = openRegular(path);
  try {
    return utf8.decode(readFileSync(file));
  } catch (error) {
    throw Object.assign(error as Error, { path });
  } finally {
    closeSync(file);
  }
}

/** No operating system takes a longer path. */
const LONGEST = 4_096;

/**
 * A path as a message may show it. Parts that exist are a path beyond doubt and no secret. Of the others only harmless
 * names are shown, since the text may be no path at all: a key, or the content of a file.
 *
 * @param folder the base of a relative path
 */
export function shownFile(path: string, folder: string): string {
  if (path.length > LONGEST) {
    return MASK;
  }
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  let place = root === '' ? folder : root;
  const shown = parts.map((part) => {
    place = join(place, part);
    return existsSync(place) ? part : shownKey(part, ['application.yml']);
  });
  return `${root}${shown.join(sep)}`;
}
