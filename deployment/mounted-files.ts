import { Type } from 'typebox';
import { CONTAINER_PATH } from '../contract/container.ts';
import type { Rule } from '../settings/schema/check.ts';
import { isSection, type Section, sectionOf } from '../settings/schema/document.ts';
import { type Problem, problemIf } from '../settings/schema/problem.ts';
import { ALLOWED, closed } from '../settings/schema/schema.ts';

/** Bytes of all files: a ConfigMap holds 1 MiB, and application.yml is in it, too. */
const MOST_BYTES = 1_000_000;

/** A path whose parts are keys of a ConfigMap. */
const FILE_NAME = '^(?!(.*/)?\\.\\.?(/|$))(?!.*\\.\\.)[-._a-zA-Z0-9]{1,100}(/[-._a-zA-Z0-9]{1,100}){0,5}$';

/** Files of consumer.yaml, by name. */
export const files = Type.Record(Type.String({ pattern: FILE_NAME }), Type.String(), {
  ...closed,
  default: {},
  description:
    'Files beside application.yml, by name, such as schemas of formats: the text of each. They are in the ConfigMap, and a change rolls the Pods. A setting names one of them as it is named here.',
  [ALLOWED]: 'a map of names, which may have folders, and texts',
});

interface FilesPart {
  readonly files: Readonly<Record<string, string>>;
}

/** A key of a ConfigMap has no slash. */
export const fileKey = (name: string): string => name.replaceAll('/', '__');

/** What is mounted where; `undefined` where each key is the name of its file. */
export function mountedItems({ files: given }: FilesPart) {
  const names = Object.keys(given);
  return names.some((name) => name.includes('/'))
    ? [CONTAINER_PATH.configurationFile, ...names].map((name) => ({ key: fileKey(name), path: name }))
    : undefined;
}

/** Settings of a format that name a file. */
const FILE_SETTINGS = ['avro', 'protobuf'] as const;
const SIDES = ['value', 'key'] as const;

type NamedFile = readonly [path: readonly string[], file: string];

const namedIn = (format: unknown, path: readonly string[]): readonly NamedFile[] =>
  FILE_SETTINGS.flatMap((setting): readonly NamedFile[] => {
    const file = isSection(format) ? format[setting] : undefined;
    return typeof file === 'string' ? [[[...path, setting], file]] : [];
  });

/** Each file that a format of `application` names, with the path of the setting. */
const namedFiles = (application: Section): readonly NamedFile[] =>
  Object.entries(sectionOf(application, 'formats')).flatMap(([topic, sides]) =>
    SIDES.flatMap((side) => namedIn(isSection(sides) ? sides[side] : undefined, ['formats', topic, side])),
  );

/** A copy with a value at a path of sections. */
function withValue(section: Section, [key = '', ...rest]: readonly string[], value: unknown): Section {
  return { ...section, [key]: rest.length === 0 ? value : withValue(sectionOf(section, key), rest, value) };
}

/** `application` with the places of the mounted files. */
export const withMountedFiles = (application: Section, { files: given }: FilesPart): Section =>
  namedFiles(application).reduce<Section>(
    (settings, [path, file]) =>
      Object.hasOwn(given, file) ? withValue(settings, path, `${CONTAINER_PATH.configuration}/${file}`) : settings,
    application,
  );

const filesFit: Rule<FilesPart> = {
  reads: ['files'],
  find: ({ files: given }) => {
    const bytes = Object.entries(given).reduce(
      (sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text),
      0,
    );
    const keys = [CONTAINER_PATH.configurationFile, ...Object.keys(given)].map(fileKey);
    const twice = Object.keys(given).find((name, nth) => keys.indexOf(fileKey(name)) <= nth);
    return [
      ...problemIf(bytes > MOST_BYTES, {
        path: 'files',
        message: `have ${bytes.toLocaleString('en-US')} bytes in all, and go into one ConfigMap`,
        allowed: `at most ${MOST_BYTES.toLocaleString('en-US')} bytes`,
      }),
      ...problemIf(twice !== undefined, {
        path: `files.${twice}`,
        message: 'would be the same key of the ConfigMap as another file',
        allowed: `a name that no other file has, nor ${CONTAINER_PATH.configurationFile}, with __ for each slash`,
      }),
    ];
  },
};

const namedFilesAreMounted: Rule<FilesPart & { readonly application: unknown }> = {
  reads: ['files', 'application.formats'],
  find: ({ files: given, application }) =>
    namedFiles(isSection(application) ? application : {}).flatMap(([path, file]): readonly Problem[] =>
      problemIf(!file.startsWith('/') && !Object.hasOwn(given, file), {
        path: `application.${path.join('.')}`,
        message: 'names a file that nothing puts into the container',
        given: file,
        allowed: 'a name of files, which has the text of the file; or an absolute path into a volume of pods',
      }),
    ),
};

/** What must hold for the files of consumer.yaml. */
export const FILES_RULES: readonly Rule<FilesPart & { readonly application: unknown }>[] = [
  filesFit,
  namedFilesAreMounted,
];
