import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Kubernetes takes no larger ConfigMap or Secret, and the work for a file is bounded by its size. */
const LARGEST_BYTES = 1_048_576;

function refuse(path: string, code: string): never {
  throw Object.assign(new Error(code), { code, path });
}

/** The descriptor of a regular file; a pipe in its place is not waited for, and no device is opened. */
function openRegular(path: string): number {
  const found = statSync(path);
  if (!found.isFile()) {
    refuse(path, found.isDirectory() ? 'EISDIR' : 'NOT_A_FILE');
  }
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size <= LARGEST_BYTES) {
    return file;
  }
  closeSync(file);
  return refuse(path, stats.isFile() ? 'TOO_LARGE' : 'NOT_A_FILE');
}

/**
 * A file's text without a byte order mark.
 *
 * @throws the file system's error, or, with the same fields, one of code `NOT_A_FILE` when it is a pipe or a device, `TOO_LARGE` beyond 1 MiB, or `ERR_ENCODING_INVALID_ENCODED_DATA` when the bytes are not UTF-8: replacing them
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
