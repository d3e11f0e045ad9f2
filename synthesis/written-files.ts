import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** All files below a folder, relative to another one, in the order of their names. */
export function writtenFiles(folder: string, relativeTo: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(relativeTo, join(entry.parentPath, entry.name)))
    .sort();
}
