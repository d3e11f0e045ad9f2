import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A file that is no manifest and is in only one of two folders (`before` or `after` is missing) or differs. */
export interface FileChange {
  /** Relative to the two folders. */
  readonly file: string;
  readonly before?: string;
  readonly after?: string;
}

/** Folder of an environment's files that are no manifests. */
export const PLAIN_FOLDER = 'prometheus';

function plainFiles(folder: string): Map<string, string> {
  const path = join(folder, PLAIN_FOLDER);
  const entries = existsSync(path) ? readdirSync(path, { recursive: true, withFileTypes: true }) : [];
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.sort().map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

/** What happens to the plain Prometheus files of a folder when another folder takes its place. */
export function fileChanges(published: string, rendered: string): FileChange[] {
  const [before, after] = [plainFiles(published), plainFiles(rendered)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((file) => before.get(file) !== after.get(file))
    .map((file) => {
      const [was, is] = [before.get(file), after.get(file)];
      return { file, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) };
    });
}
