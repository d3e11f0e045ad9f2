import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { nearestKey, type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed } from '../schema/schema.ts';
import { type KafkaPart, TOPICS_PATTERN } from './kafka.ts';
import type { SchemaRegistryPart } from './schema-registry.ts';
import { isTemplate, partsOf } from './tables/topic-template.ts';
import { type TableSettings, type TablesPart, tablesOf, topicsOf, type WholeValue } from './tables.ts';

/** How the bytes of a value or key are read. */
const FORMAT_NAMES = ['json', 'registry', 'text', 'bytes'] as const;

/** A format by its name. */
export type FormatName = (typeof FORMAT_NAMES)[number];

/** One schema for ever, in a file: of Avro, or of Protobuf with the message that is meant. */
export type FileFormat =
  | { readonly avro: string; readonly protobuf?: never }
  | { readonly avro?: never; readonly protobuf: string; readonly message: string };

/** How bytes are read: by what the format's name says, or by a schema. */
export type Format = FormatName | FileFormat;

/** Whether a format is that of a file with its schema. */
export const isOfFile = (format: Format): format is FileFormat => typeof format !== 'string';

/** The formats of a topic. */
export interface TopicFormats {
  /** `undefined`: text where the whole key is taken, and JSON where fields of it are. */
  readonly key: readonly Format[] | undefined;
  /** One; or `registry` and another one, which reads what does not begin with the byte 0. */
  readonly value: readonly Format[];
}

const ALLOWED_FORMAT = `one of ${FORMAT_NAMES.join(', ')}; or a list of registry and another one`;
const ALLOWED_SIDE = `${ALLOWED_FORMAT}; or a map of avro, or of protobuf and message`;

const word = Type.Enum([...FORMAT_NAMES]);
const list = Type.Array(word, { minItems: 1, maxItems: 2, uniqueItems: true });

const path = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const file = Type.Object(
  {
    avro: path(
      'File of an Avro schema: values are in its binary encoding, without anything before them. Left out: protobuf names the file.',
    ),
    protobuf: path(
      'File of a Protobuf schema: values are one message each, without anything before them. Left out: avro names the file.',
    ),
    message: path(
      'Full name of the message in the file of protobuf, such as acme.Tick. Left out: there is no file of protobuf.',
    ),
  },
  closed,
);

const side = (description: string) =>
  Type.Optional(Type.Union([word, list, file], { [ALLOWED]: ALLOWED_SIDE, description }));

const sides = Type.Object(
  {
    key: side('Format of the keys. Left out: text where a table takes the key, and JSON where it takes fields of it.'),
    value: side('Format of the values. Left out: json.'),
  },
  closed,
);

const format = Type.Union([word, list, sides], { [ALLOWED]: `${ALLOWED_FORMAT}; or a map of key and value` });

/** Formats of topics. */
export const formats = Type.Unsafe<Readonly<Record<string, Static<typeof format>>>>(
  Type.Object(
    {},
    {
      ...closed,
      patternProperties: { [TOPICS_PATTERN]: format },
      default: {},
      description:
        "Format of a topic, or of a template's: json, registry (a schema id comes first), text, bytes; [registry, json]: the first byte decides. A map: of key and value, or a schema in a file. Left out: json.",
    },
  ),
);

/** The section in the settings. */
export interface FormatsPart {
  readonly formats: Static<typeof formats>;
}

type File = Static<typeof file>;
type Given = FormatName | readonly FormatName[] | File;

const isList = (given: Given): given is readonly FormatName[] => Array.isArray(given);

/** `registry` is first, as it alone can refuse a record by the first byte. */
function listed(given: Given): readonly Format[] {
  if (isList(given)) {
    return given.toSorted((a, b) => Number(b === 'registry') - Number(a === 'registry'));
  }
  return [typeof given === 'string' ? given : fileFormat(given)];
}

/** Rules see to it that it is one of both. */
const fileFormat = ({ avro, protobuf = '', message = '' }: File): FileFormat =>
  avro === undefined ? { protobuf, message } : { avro };

const isSides = (given: Static<typeof format>): given is Static<typeof sides> =>
  typeof given === 'object' && !Array.isArray(given);

/**
 * The formats of a topic as they were written, by its name, or else by the first template that matches; nothing where
 * they are left out.
 */
function givenFor({ formats }: FormatsPart, topic: string): { readonly key?: Given; readonly value?: Given } {
  const isFor = (text: string): boolean => text === topic || (isTemplate(text) && partsOf(text, topic) !== undefined);
  const name = Object.hasOwn(formats, topic) ? topic : Object.keys(formats).find(isFor);
  const given = name === undefined ? undefined : formats[name];
  return given === undefined || isSides(given) ? (given ?? {}) : { value: given };
}

/** How the keys and values of a topic are read. */
export function formatsOf(settings: FormatsPart, topic: string): TopicFormats {
  const { key, value = 'json' } = givenFor(settings, topic);
  return { key: key && listed(key), value: listed(value) };
}

/** Whether a schema of the format may be one of bytes: a message of Protobuf is an object. */
const maySayBytes = (format: Format): boolean => (isOfFile(format) ? format.avro !== undefined : format === 'registry');

/** What the values of some topics are as a whole. */
function wholeValueOf(settings: FormatsPart, topics: readonly string[]): WholeValue {
  const formats = new Set(topics.flatMap((topic) => formatsOf(settings, topic).value));
  if ([...formats].every((format) => format === 'text' || format === 'bytes')) {
    return formats.has('text') ? 'text' : 'bytes';
  }
  return [...formats].some(maySayBytes) ? 'schema' : 'object';
}

/** The entries of `tables`, in their order, with what the values of their topics are. */
export const formattedTables = (settings: FormatsPart & TablesPart): readonly TableSettings[] =>
  tablesOf(settings).map((table) => ({ ...table, wholeValue: wholeValueOf(settings, table.topics) }));

const SIDES = ['value', 'key'] as const;

/** Which sides of a topic's records have schemas in the registry. */
export function registrySides(settings: FormatsPart, topic: string): readonly (typeof SIDES)[number][] {
  const given = formatsOf(settings, topic);
  return SIDES.filter((side) => given[side]?.includes('registry'));
}

/** The topics whose keys or values have schemas in the registry, in the order of the settings. */
export const registryTopics = (settings: FormatsPart): readonly string[] =>
  Object.keys(settings.formats).filter((topic) => registrySides(settings, topic).length > 0);

/** A schema that a file has, and the setting that names it. */
interface NamedFile {
  /** Path of the setting. */
  readonly path: string;
  readonly format: FileFormat;
}

/** The files with schemas that the settings name. */
export const schemaFiles = (settings: FormatsPart): readonly NamedFile[] =>
  [...written(settings)].flatMap(([path, given]) =>
    typeof given === 'string' || isList(given) ? [] : { path, format: fileFormat(given) },
  );

/** Every format that was written for a topic, by the path of its setting. */
function* written(settings: FormatsPart): Generator<readonly [path: string, given: Given]> {
  for (const [topic, given] of Object.entries(settings.formats)) {
    const path = `formats.${topic}`;
    if (!isSides(given)) {
      yield [path, given];
      continue;
    }
    for (const [name, of] of Object.entries(given)) {
      yield [`${path}.${name}`, of];
    }
  }
}

/** By the first byte alone, a schema id differs from anything else; two other formats do not differ by it. */
const firstByteDecides: Rule<FormatsPart> = {
  reads: ['formats[]'],
  find: (settings) =>
    [...written(settings)].flatMap(([path, given]) =>
      problemIf(isList(given) && given.length > 1 && !given.includes('registry'), {
        path,
        message: 'names two formats that the first byte cannot distinguish',
        given,
        allowed: 'one format; or a list of registry and another one',
      }),
    ),
};

/** Of Avro or of Protobuf, and whose message is known. */
const fileHasOneSchema: Rule<FormatsPart> = {
  reads: ['formats[]'],
  find: (settings) =>
    [...written(settings)].flatMap(([path, given]) =>
      typeof given === 'string' || isList(given) ? [] : fileProblems(path, given),
    ),
};

function fileProblems(path: string, { avro, protobuf, message }: File): readonly Problem[] {
  const allowed = 'avro with the file of a schema; or protobuf with one, and message with the name of its message';
  if ((avro === undefined) === (protobuf === undefined)) {
    const found = avro === undefined ? 'names no file with a schema' : 'names both a file of Avro and one of Protobuf';
    return [{ path, message: found, allowed }];
  }
  const isLacking = protobuf !== undefined && message === undefined;
  return [
    ...problemIf(isLacking, {
      path: `${path}.message`,
      message: 'is missing',
      allowed: 'the full name of a message, such as acme.Tick: the file may define several',
    }),
    ...problemIf(avro !== undefined && message !== undefined, {
      path: `${path}.message`,
      message: 'is set beside avro, whose file is one schema',
      given: message,
      allowed: 'nothing here',
    }),
  ];
}

const topicsAreRead: Rule<FormatsPart & KafkaPart & TablesPart> = {
  reads: ['formats[]', 'kafka.topics', 'tables'],
  find: (settings) => {
    const read = topicsOf(settings);
    return Object.keys(settings.formats)
      .filter((topic) => !read.some((text) => text === topic || partsOf(text, topic) !== undefined))
      .map((topic): Problem => {
        const nearest = nearestKey(topic, read);
        return {
          path: `formats.${topic}`,
          message: 'is the format of a topic that is not read',
          allowed: 'topics of kafka.topics and tables',
          ...(nearest !== undefined && { nearest: `formats.${nearest}` }),
        };
      });
  },
};

const registryIsKnown: Rule<FormatsPart & SchemaRegistryPart> = {
  reads: ['formats[]', 'schemaRegistry'],
  find: (settings) => {
    const [topic] = registryTopics(settings);
    return problemIf(topic !== undefined && settings.schemaRegistry === undefined, {
      path: 'schemaRegistry.url',
      message: `is missing, and formats.${topic} has the format registry`,
      allowed: 'the URL of the schema registry, such as https://registry.example.com',
    });
  },
};

const WITHOUT_FIELDS: readonly Format[] = ['text', 'bytes'];

/** An envelope is made of fields. */
const envelopeHasFields: Rule<FormatsPart & TablesPart> = {
  reads: ['formats[]', 'tables[]'],
  find: (settings) =>
    settings.tables.flatMap(({ envelope, topic: topics }, index) =>
      [topics].flat().flatMap((topic) => {
        const without = formatsOf(settings, topic).value.find((name) => WITHOUT_FIELDS.includes(name));
        return problemIf(envelope !== undefined && without !== undefined, {
          path: `tables[${index}].envelope`,
          message: `is not for the topic ${topic}: its format is ${String(without)}, which has no fields`,
          given: envelope,
          allowed: `nothing here, or formats.${topic}: json or registry`,
        });
      }),
    ),
};

/** What the settings allow and a person may not have meant, for the log and for --check. */
export const formatWarnings = (settings: FormatsPart & SchemaRegistryPart): readonly string[] =>
  settings.schemaRegistry !== undefined && registryTopics(settings).length === 0
    ? ['schemaRegistry is set, but no topic of formats has the format registry: the registry is never asked']
    : [];

/** What must fit together of formats, topics and the registry. */
export const FORMAT_RULES: readonly Rule<FormatsPart & KafkaPart & SchemaRegistryPart & TablesPart>[] = [
  firstByteDecides,
  fileHasOneSchema,
  topicsAreRead,
  registryIsKnown,
  envelopeHasFields,
];
