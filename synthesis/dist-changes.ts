import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { FILE_FOLDERS } from './dist-folder.ts';
import { type KubernetesObject, type Manifest, objectTitle, readManifests } from './manifest.ts';

/** An object that is in only one of two folders (`before` or `after` is missing) or differs. */
export interface ObjectChange {
  readonly before?: Manifest;
  readonly after?: Manifest;
}

/** A ConfigMap with other content has another name; it is still compared with the one that it replaces. */
const withoutHash = (object: KubernetesObject): string => objectTitle(object).replace(/-[0-9a-f]{10}$/, '');

interface Pairing {
  readonly pairs: readonly { readonly before: Manifest; readonly after: Manifest }[];
  readonly before: readonly Manifest[];
  readonly after: readonly Manifest[];
}

/** Pairs the objects of both sides by a key. */
function pair(
  before: readonly Manifest[],
  after: readonly Manifest[],
  keyOf: (o: KubernetesObject) => string,
): Pairing {
  const matches = before.map((each) => ({
    before: each,
    after: after.find(({ object }) => keyOf(object) === keyOf(each.object)),
  }));
  const pairs = matches.flatMap((match) => (match.after === undefined ? [] : [{ ...match, after: match.after }]));
  return {
    pairs,
    before: before.filter((each) => pairs.every((found) => found.before !== each)),
    after: after.filter((each) => pairs.every((found) => found.after !== each)),
  };
}

/**
 * What happens to the objects of a folder when another folder takes its place.
 *
 * @returns the changes in the order of the old objects, then of the new ones; empty when the objects are equal
 * @throws Error when a file in one of them is not YAML
 */
export function objectChanges(published: string, rendered: string): ObjectChange[] {
  const same = pair(readManifests(published), readManifests(rendered), objectTitle);
  const renamed = pair(same.before, same.after, withoutHash);
  return [
    ...same.pairs.filter(({ before, after }) => !isDeepStrictEqual(before.object, after.object)),
    ...renamed.pairs,
    ...renamed.before.map((before) => ({ before })),
    ...renamed.after.map((after) => ({ after })),
  ];
}

/** A file that is no manifest and is in only one of two folders (`before` or `after` is missing) or differs. */
export interface FileChange {
  /** Relative to the two folders. */
  readonly file: string;
  readonly before?: string;
  readonly after?: string;
}

function plainFiles(folder: string): Map<string, string> {
  const entries = FILE_FOLDERS.map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path, { recursive: true, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.sort().map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

/** What happens to the files of a plain Prometheus and of Grafana in a folder when another folder takes its place. */
export function fileChanges(published: string, rendered: string): FileChange[] {
  const [before, after] = [plainFiles(published), plainFiles(rendered)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((file) => before.get(file) !== after.get(file))
    .map((file) => {
      const [was, is] = [before.get(file), after.get(file)];
      return { file, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) };
    });
}
