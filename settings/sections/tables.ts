import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed } from '../schema/schema.ts';
import { type ColumnSource, parseSource, sourceMistake } from './column-source.ts';
import { forbiddenTopic, type KafkaPart, TOPICS_ALLOWED, TOPICS_PATTERN } from './kafka.ts';
import { CONDITION_PROPERTIES, CONDITION_RULES, type Condition, conditionsOf } from './tables/table-conditions.ts';
import {
  ENVELOPE_PROPERTIES,
  ENVELOPE_RULES,
  keyInEnvelope,
  type TableEnvelope,
  tableEnvelopeOf,
} from './tables/table-envelope.ts';
import { KEY_PROPERTIES, KEY_RULES, type TableKeySetting, tableKeyOf } from './tables/table-key.ts';
import { type TableWaiting, WAITING_PROPERTIES, waitingOf } from './tables/table-waiting.ts';

/** The unit of a number in a column that takes a date or time, or the form of a value that encodes another one. */
export type Unit =
  | 'epoch-seconds'
  | 'epoch-millis'
  | 'epoch-micros'
  | 'epoch-nanos'
  | 'epoch-days'
  | 'time-millis'
  | 'time-micros'
  | 'time-nanos'
  | 'duration-micros'
  | 'base64'
  | 'hex'
  | 'json'
  | 'bits'
  | 'variable-decimal'
  | 'point'
  | `decimal(${number})`;

const unit = Type.Unsafe<Unit>(
  Type.String({
    pattern:
      '^(epoch-(seconds|millis|micros|nanos|days)|time-(millis|micros|nanos)|duration-micros|base64|hex|json|bits|variable-decimal|point|decimal\\((0|[1-9][0-9]{0,3})\\))$',
    [ALLOWED]:
      'one of epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, epoch-days, time-millis, time-micros, time-nanos, duration-micros, base64, hex, json, bits, variable-decimal, point, or decimal(<scale>) with a scale from 0 to 9999',
    description:
      "Unit of a number in a column for a date or time, or form of a value that encodes another one: decimal and time-millis are Kafka Connect's, bits, variable-decimal and point Debezium's, json is a text that holds JSON. Left out: what the schema in the record says, where it has one; else the column's type determines how the value is read.",
  }),
);

const SOURCE_ALLOWED =
  'a path such as customer.name, a JSON Pointer such as /a.b/0, or a word such as $key or $header.<name>';

const column = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object(
      {
        from: Type.String({ minLength: 1, [ALLOWED]: SOURCE_ALLOWED, description: 'Where the value comes from.' }),
        as: Type.Optional(unit),
      },
      { ...closed, description: 'Where the value of a column comes from, and how it is read.' },
    ),
    Type.Literal(false),
  ],
  { [ALLOWED]: `${SOURCE_ALLOWED}; one of them as from, beside as; or false` },
);

const topic = { pattern: TOPICS_PATTERN, [ALLOWED]: TOPICS_ALLOWED };

const entry = Type.Object(
  {
    topic: Type.Union([Type.String(topic), Type.Array(Type.String(topic), { minItems: 1, uniqueItems: true })], {
      [ALLOWED]: `${TOPICS_ALLOWED}, or a list of them`,
      description:
        'Topic, or topics, whose records go into the table; each has to exist. A name in braces, as in shop.{schema}.{table}, takes any part between dots.',
    }),
    except: Type.Optional(
      Type.Union([Type.String(topic), Type.Array(Type.String(topic), { minItems: 1, uniqueItems: true })], {
        [ALLOWED]: `${TOPICS_ALLOWED}, or a list of them`,
        description: 'Topics that the templates of topic do not take: names and templates. Left out: they take all.',
      }),
    ),
    table: Type.String({
      pattern: '^[^."\\u0000]+[.][^"\\u0000]+$',
      [ALLOWED]: 'schema.table, both names as the catalog has them, capitals included and without quotes',
      description:
        'Table that takes a row of each record; it has to exist. The first dot ends the name of the schema, whatever search_path is. {table} is the part of topic with that name.',
    }),
    ...KEY_PROPERTIES,
    ...ENVELOPE_PROPERTIES,
    ...CONDITION_PROPERTIES,
    ...WAITING_PROPERTIES,
    sharedWithGroups: Type.Optional(
      Type.Boolean({
        description:
          'Whether this group may fill the table although another group of database.schema does from the same topic: each writes each record. Left out: no; a group new to it is refused with GROUP_MEETS_ANOTHER.',
      }),
    ),
    fields: Type.Enum(['same', 'camelCase'], {
      default: 'same',
      description:
        'Field that a column takes which columns does not name: the one of the same name, or that name in camelCase, so that customer_id takes customerId.',
    }),
    columns: Type.Unsafe<Readonly<Record<string, Static<typeof column>>>>(
      Type.Object(
        {},
        {
          ...closed,
          patternProperties: { '^.+$': column },
          default: {},
          description:
            'Columns, as in the catalog, not from the field of their name: a path, $value, $key, $key.<field>, $header.<name>, $topic, $partition, $offset, $timestamp, $op or $source.<field>. false: never written.',
        },
      ),
    ),
  },
  { ...closed, description: 'A table of yours, and the topics whose records go into it.' },
);

/** Tables of the user's that take records. */
export const tables = Type.Array(entry, {
  default: [],
  description: 'Tables of yours that take the records of topics. Left out: all records go into the table records.',
});

/** The section in the settings. */
export interface TablesPart {
  readonly tables: readonly (Static<typeof entry> & {
    /** The entry of the settings that this one was made of for some topics. Left out: it is of the settings itself. */
    readonly place?: string;
  })[];
}

type Entry = TablesPart['tables'][number];

/** Where a column's value comes from, as it was written, and how it is read; false: the column is never written. */
export type ColumnSetting = false | { readonly from: string; readonly as?: Unit };

/** What values are as a whole: by formats without parts a text or bytes, else an object, or bytes by their schema. */
export type WholeValue = 'object' | 'schema' | 'text' | 'bytes';

/** An entry of `tables`, complete. */
export interface TableSettings extends TableWaiting {
  /** The entry of the settings that it was made of, such as `tables[0]`. Left out: it is of the settings itself. */
  readonly path?: string;
  /** At least one, each once; names and templates. */
  readonly topics: readonly string[];
  /** Names and templates that the templates of the entry do not take. Left out: they take all. */
  readonly except?: readonly string[];
  /** As the catalog has it, not quoted; so is the table. */
  readonly schema: string;
  readonly table: string;
  /** `null`: rows are appended. */
  readonly key: TableKeySetting | null;
  /** What is around the rows. Left out: the value is the row. */
  readonly envelope?: TableEnvelope;
  /** What a record needs for the table to take it; all of it. Left out: nothing. */
  readonly when?: readonly Condition[];
  /** Whether a record that no table of its topic takes is a dead letter. Left out: it is counted. */
  readonly refusesUnmatched?: true;
  /** Whether another group may fill the table from the same topic. Left out: it may not. */
  readonly sharedWithGroups?: true;
  readonly fields: 'same' | 'camelCase';
  /** What the values of its topics are. Left out: objects. */
  readonly wholeValue?: WholeValue;
  /** By the columns' names; a column that is not there takes the field that `fields` says. */
  readonly columns: Readonly<Record<string, ColumnSetting>>;
}

const topicsOfEntry = ({ topic }: Entry): readonly string[] => [topic].flat();

const columnsOf = ({ columns }: Entry): readonly (readonly [name: string, setting: ColumnSetting])[] =>
  Object.entries(columns).map(([name, given]) => [name, typeof given === 'string' ? { from: given } : given]);

/** The entries of `tables`, in their order. */
export const tablesOf = ({ tables }: TablesPart): readonly TableSettings[] =>
  tables.map((each) => {
    const dot = each.table.indexOf('.');
    const envelope = tableEnvelopeOf(each);
    const when = conditionsOf(each);
    return {
      ...(each.place !== undefined && { path: each.place }),
      topics: topicsOfEntry(each),
      ...(each.except !== undefined && { except: [each.except].flat() }),
      schema: each.table.slice(0, dot),
      table: each.table.slice(dot + 1),
      key: keyInEnvelope(each, tableKeyOf(each)),
      ...(envelope && { envelope }),
      ...(when && { when }),
      ...(each.unmatched === 'dead-letter' && { refusesUnmatched: true }),
      ...waitingOf(each),
      ...(each.sharedWithGroups && { sharedWithGroups: true }),
      fields: each.fields,
      columns: Object.fromEntries(columnsOf(each)),
    };
  });

/** The topics and templates that are read: those of `kafka.topics`, and those of `tables`, each once. */
export const topicsOf = ({ kafka, tables }: KafkaPart & TablesPart): string[] => [
  ...new Set([...kafka.topics, ...tables.flatMap(topicsOfEntry)]),
];

/** The path of an entry's topic: of the value itself, or of the item of a list. */
const topicPath = ({ topic }: Entry, index: number, item: number): string =>
  `tables[${index}].topic${typeof topic === 'string' ? '' : `[${item}]`}`;

const someTopic: Rule<KafkaPart & TablesPart> = {
  reads: ['kafka.topics', 'tables'],
  find: (settings) =>
    problemIf(topicsOf(settings).length === 0, {
      path: 'kafka.topics',
      message: 'names no topic, and tables has no entry that does',
      allowed: 'at least one topic, here or in tables',
    }),
};

const topicNames: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((each, index) =>
      topicsOfEntry(each).flatMap((given, item) => forbiddenTopic(topicPath(each, index, item), given)),
    ),
};

/** Two rows of one record in one table are a slip: nothing distinguishes them. */
const tablesDiffer: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) => {
    const seen = new Map<string, number>();
    return tables.flatMap((each, index) =>
      topicsOfEntry(each).flatMap((given, item): readonly Problem[] => {
        const key = JSON.stringify([given, each.table]);
        const first = seen.get(key) ?? index;
        seen.set(key, first);
        return problemIf(first !== index, {
          path: topicPath(each, index, item),
          message: `goes into the same table by tables[${first}] already`,
          given,
          allowed: 'one entry for a topic and a table',
        });
      }),
    );
  },
};

/** The text would be taken for the word, as a file's texts become what a setting asks for: one of both is meant. */
const QUOTED_FALSE = {
  message: 'is a text, and not the word false',
  allowed: 'false without quotes for a column that is never written; /false for the field of that name',
};

function sourceProblems(path: string, column: Entry['columns'][string]): readonly Problem[] {
  const isText = typeof column === 'string';
  const given = isText || column === false ? column : column.from;
  if (given === false) {
    return [];
  }
  const mistake = isText && given.trim().toLowerCase() === 'false' ? QUOTED_FALSE : sourceMistake(given);
  return mistake === undefined ? [] : [{ path: isText ? path : `${path}.from`, given, ...mistake }];
}

const sources: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ columns }, index) =>
      Object.entries(columns).flatMap(([name, column]) => sourceProblems(`tables[${index}].columns.${name}`, column)),
    ),
};

/** Sources whose values need no unit: Kafka says what they are. */
const WITHOUT_UNIT: readonly ColumnSource['kind'][] = ['topic', 'partition', 'offset', 'timestamp'];

const units: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((each, index) =>
      columnsOf(each).flatMap(([name, setting]): readonly Problem[] => {
        if (setting === false || setting.as === undefined || sourceMistake(setting.from) !== undefined) {
          return [];
        }
        return problemIf(WITHOUT_UNIT.includes(parseSource(setting.from).kind), {
          path: `tables[${index}].columns.${name}.as`,
          message: `is not for ${setting.from}, of which Kafka says what it is`,
          given: setting.as,
          allowed: 'nothing here; a unit goes with a field, $value, $key or $header',
        });
      }),
    ),
};

/** What the schema cannot say of the user's tables. */
export const TABLE_RULES: readonly Rule<KafkaPart & TablesPart>[] = [
  someTopic,
  topicNames,
  tablesDiffer,
  sources,
  units,
  ...KEY_RULES,
  ...ENVELOPE_RULES,
  ...CONDITION_RULES,
];
