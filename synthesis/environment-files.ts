import { existsSync, readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { isSection } from '../settings/schema/document.ts';
import { nearestKey, type Problem, problemIf } from '../settings/schema/problem.ts';
import { shownText, shownValue } from '../settings/schema/shown-value.ts';
import { FILE_FOLDERS } from './dist-folder.ts';
import { readSourceFile, type SourceFile } from './source-file.ts';

/**
 * Key of consumer.yaml that says what it is by itself: a consumer, or only a template of those that `environments/`
 * makes of it, which need not be complete and renders to nothing.
 */
const BASE = 'base';
const TEMPLATE = 'template';
const BASES: readonly string[] = ['consumer', TEMPLATE];

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

/** The file without what only says what it is. */
function withoutBase(file: SourceFile): SourceFile {
  if (!isSection(file.value)) {
    return file;
  }
  const { [BASE]: _base, ...value } = file.value;
  return { ...file, value };
}

const baseOf = ({ value }: SourceFile): unknown => (isSection(value) ? value[BASE] : undefined);

function baseProblems(file: SourceFile, overlays: readonly string[]): readonly Problem[] {
  const base = baseOf(file);
  const source = file.locate([BASE]) ?? file.name;
  return [
    ...problemIf(base !== undefined && !(typeof base === 'string' && BASES.includes(base)), {
      path: BASE,
      message: 'is none of the known values',
      given: shownValue(base, BASES),
      allowed: `one of ${BASES.join(', ')}`,
      source,
    }),
    ...problemIf(base === TEMPLATE && overlays.length === 0, {
      path: BASE,
      message: `is a template, and ${OVERLAY_FOLDER}/ has no file that makes a consumer of it`,
      allowed: `a file in ${OVERLAY_FOLDER}/, or no base: then ${BASE_FILE} is a consumer by itself`,
      source,
    }),
  ];
}

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
 * @param only names of the environments to read. @default consumer.yaml by itself, unless it is only a template, and
 * all overlays
 */
export function readEnvironments(folder: string, only?: readonly string[]): ReadEnvironments {
  const basePath = join(folder, BASE_FILE);
  if (!existsSync(basePath)) {
    return { environments: [], problems: [missingBase(folder)] };
  }
  const read = readSourceFile(basePath, folder);
  const base = withoutBase(read);
  const isAlone = only === undefined && baseOf(read) !== TEMPLATE;
  const files = overlayFiles(folder);
  const wanted = files.filter((file) => only?.includes(parse(file).name) ?? true);
  const overlays = wanted.map((file) => ({ name: parse(file).name, source: readSourceFile(file, folder) }));
  const names = files.map((file) => parse(file).name);
  return {
    environments: [
      ...(isAlone ? [{ folder: '', sources: [base] }] : []),
      ...overlays.map(({ name, source }) => ({ folder: name, sources: [base, source] })),
    ],
    problems: [
      ...base.problems,
      ...baseProblems(read, files),
      ...overlays.flatMap(({ source }) => source.problems),
      ...nameProblems(wanted),
      ...unknownProblems(only ?? [], names),
    ],
  };
}
