import { existsSync, readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { nearestKey, type Problem } from '../settings/schema/problem.ts';
import { shownText } from '../settings/schema/shown-value.ts';
import { FILE_FOLDERS } from './dist-folder.ts';
import { readSourceFile, type SourceFile } from './source-file.ts';

/** What consumer.yaml, or an overlay over it, renders to. */
export interface Environment {
  /** Folder below dist/; empty for consumer.yaml itself. */
  readonly folder: string;
  /** consumer.yaml and the overlay, which is the last. */
  readonly sources: readonly SourceFile[];
}

/** Everything that was read; `environments` is complete only when there are no problems. */
export interface ReadEnvironments {
  readonly environments: readonly Environment[];
  readonly problems: readonly Problem[];
}

const BASE_FILE = 'consumer.yaml';

/** Where the overlays are, beside consumer.yaml. */
export const OVERLAY_FOLDER = 'environments';

function overlayFiles(folder: string): string[] {
  const path = join(folder, OVERLAY_FOLDER);
  return existsSync(path)
    ? readdirSync(path)
        .filter((file) => /\.ya?ml$/.test(file))
        .sort()
        .map((file) => join(path, file))
    : [];
}

function nameProblems(files: readonly string[]): Problem[] {
  const names = files.map((file) => parse(file).name);
  return names.flatMap((name, index) => {
    const isFolder = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && !FILE_FOLDERS.includes(name);
    const isFirst = names.indexOf(name) === index;
    return isFolder && isFirst
      ? []
      : [
          {
            path: '',
            message: 'has a name that cannot be that of a folder in dist/',
            allowed: `a name of lower-case letters, digits and dashes, other than ${FILE_FOLDERS.join(', ')}, that no second file has`,
            source: `${OVERLAY_FOLDER}/${parse(files[index] ?? name).base}`,
          },
        ];
  });
}

const missingBase = (folder: string): Problem => ({
  path: '',
  message: `cannot be read: there is no ${BASE_FILE} in ${folder}`,
  allowed: `a folder with a ${BASE_FILE}: run this where it is, or start from the one of the package`,
});

function unknownProblems(wanted: readonly string[], names: readonly string[]): Problem[] {
  return wanted
    .filter((name) => !names.includes(name))
    .map((name) => {
      const nearest = nearestKey(name, names);
      return {
        path: '--env',
        message: `names no file in ${OVERLAY_FOLDER}/`,
        given: shownText(name, names),
        allowed: names.length === 0 ? `nothing: ${OVERLAY_FOLDER}/ has no file` : `one of ${names.join(', ')}`,
        ...(nearest === undefined ? {} : { nearest }),
      };
    });
}

/**
 * Reads consumer.yaml and the overlays in environments/.
 *
 * @param only names of the environments to read. @default consumer.yaml by itself and all overlays
 */
export function readEnvironments(folder: string, only?: readonly string[]): ReadEnvironments {
  const basePath = join(folder, BASE_FILE);
  if (!existsSync(basePath)) {
    return { environments: [], problems: [missingBase(folder)] };
  }
  const base = readSourceFile(basePath, folder);
  const files = overlayFiles(folder);
  const wanted = files.filter((file) => only?.includes(parse(file).name) ?? true);
  const overlays = wanted.map((file) => ({ name: parse(file).name, source: readSourceFile(file, folder) }));
  const names = files.map((file) => parse(file).name);
  return {
    environments: [
      ...(only === undefined ? [{ folder: '', sources: [base] }] : []),
      ...overlays.map(({ name, source }) => ({ folder: name, sources: [base, source] })),
    ],
    problems: [
      ...base.problems,
      ...overlays.flatMap(({ source }) => source.problems),
      ...nameProblems(wanted),
      ...unknownProblems(only ?? [], names),
    ],
  };
}
