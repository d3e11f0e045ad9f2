import type { Rule } from '../../schema/check.ts';
import { type Problem, problemIf } from '../../schema/problem.ts';
import type { KafkaPart } from '../kafka.ts';
import { type TableSettings, type TablesPart, tablesOf, topicsOf } from '../tables.ts';
import { WAITING_RULES } from './table-waiting.ts';
import {
  ANY,
  filled,
  isTemplate,
  namesIn,
  type TakenBy,
  type TopicNames,
  takenBy,
  templateMistake,
} from './topic-template.ts';

/** The sections that say which topics are read. */
interface TopicsParts extends KafkaPart, TablesPart {
  readonly deadLetters: { readonly topic?: string };
}

/** An entry of `tables` for topics that it takes, with the place of the entry. */
interface PlacedTable extends TableSettings {
  /** Such as `tables[0]`. */
  readonly path: string;
}

/** What the settings make of topics that Kafka has. */
export interface TopicTables {
  /** Entries with names of topics and tables alone, in the order of the settings; none of a topic that waits. */
  readonly tables: readonly PlacedTable[];
  /** Topics that go into records. */
  readonly inRecords: readonly string[];
  /** Topics that templates take and that the settings do not say enough of, and why. */
  readonly waiting: ReadonlyMap<string, Problem>;
}

/** What the settings say of topics. */
export const topicNames = (settings: TopicsParts): TopicNames => ({
  read: [
    { topics: settings.kafka.topics, except: [] },
    ...tablesOf(settings).map(({ topics, except = [] }) => ({ topics, except })),
  ],
  deadLetters: settings.deadLetters.topic,
});

/** An entry that takes a topic, and what of it does. */
interface Taken {
  readonly entry: PlacedTable;
  readonly topic: string;
  readonly by: TakenBy;
}

const target = ({ schema, table }: TableSettings, { parts }: TakenBy): string =>
  JSON.stringify([filled(schema, parts), filled(table, parts)]);

/** Whether the entry maps each topic to another table. */
const isMapped = ({ schema, table }: TableSettings): boolean => isTemplate(schema) || isTemplate(table);

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const others = groups.get(keyOf(item));
    others === undefined ? groups.set(keyOf(item), [item]) : others.push(item);
  }
  return groups;
}

const listed = (texts: readonly string[]): string => [...new Set(texts)].toSorted().join(' and ');

/** Templates that say different things of one topic; entries of one text, and its name, go together. */
function conflict(topic: string, taken: readonly Taken[]): Problem | undefined {
  const templates = taken.filter(({ by }) => by.isTemplate);
  const [first] = templates;
  if (first === undefined) {
    return undefined;
  }
  const problem = { path: `${first.entry.path}.topic`, given: topic };
  const templateTexts = new Set(templates.map(({ by }) => by.text));
  if (templateTexts.size > 1) {
    const allowed = 'one template for a topic: except in one of the entries';
    return { ...problem, message: `takes a topic that two templates match: ${listed([...templateTexts])}`, allowed };
  }
  if (new Set(taken.map(({ entry }) => entry.envelope?.format)).size > 1) {
    const allowed = 'the same envelope in all entries of a topic';
    return { ...problem, message: 'takes a topic that entries with another envelope take, too', allowed };
  }
  const targets = taken.map(({ entry, by }) => target(entry, by));
  return new Set(targets).size < targets.length
    ? { ...problem, message: 'puts a topic into a table twice', allowed: 'one entry for a topic and a table' }
    : undefined;
}

/**
 * Topics that go into one table by a `table` with braces, which is of one topic alone. The first entry that does so is
 * named, whatever the order of the topics.
 */
function collisions(taken: readonly Taken[]): ReadonlyMap<string, Problem> {
  const byTarget = grouped(taken, ({ entry, by }) => target(entry, by));
  const found = new Map<string, Problem>();
  for (const { entry, topic, by } of taken) {
    const topics = [...new Set((byTarget.get(target(entry, by)) ?? []).map((each) => each.topic))].toSorted();
    if (topics.length > 1 && by.isTemplate && isMapped(entry) && !found.has(topic)) {
      found.set(topic, {
        path: `${entry.path}.table`,
        message: `is one table for several topics: ${topics.join(', ')}`,
        given: `${filled(entry.schema, by.parts)}.${filled(entry.table, by.parts)}`,
        allowed: 'a different table for each topic; or a table without braces, which several topics may fill',
      });
    }
  }
  return found;
}

/** Entries for the topics that they take: one where the table has no braces, else one for each topic. */
function placed(entry: PlacedTable, taken: readonly Taken[]): readonly PlacedTable[] {
  if (!isMapped(entry)) {
    const topics = taken.map(({ topic }) => topic);
    return topics.length === 0 ? [] : [{ ...entry, topics }];
  }
  return taken.map(({ topic, by: { parts } }) => ({
    ...entry,
    ...{ topics: [topic], schema: filled(entry.schema, parts), table: filled(entry.table, parts) },
  }));
}

/** Each entry that takes a topic, by its name or else by its templates. */
function takenOf(topics: readonly string[], entries: readonly PlacedTable[], names: TopicNames): readonly Taken[] {
  return topics.flatMap((topic) =>
    entries.flatMap((entry, nth): readonly Taken[] => {
      const choice = names.read[nth + 1];
      const found = choice === undefined ? [] : takenBy(topic, choice, names);
      const named = found.filter((by) => !by.isTemplate);
      return (named.length > 0 ? named : found).map((by) => ({ entry, topic, by }));
    }),
  );
}

/**
 * What the settings make of topics: each entry of `tables` for those that it takes by name or by a template.
 *
 * @param topics those that Kafka has; names of the settings are taken whether they are among them or not
 */
export function tablesOfTopics(settings: TopicsParts, topics: readonly string[]): TopicTables {
  const names = topicNames(settings);
  const entries = tablesOf(settings).map(({ except: _, ...entry }, nth) => ({ ...entry, path: `tables[${nth}]` }));
  const named = names.read.flatMap((choice) => choice.topics.filter((text) => !isTemplate(text)));
  const all = [...new Set([...named, ...topics])];
  const taken = takenOf(all, entries, names);
  const waiting = new Map(collisions(taken));
  for (const [topic, ofTopic] of grouped(taken, (each) => each.topic)) {
    const problem = conflict(topic, ofTopic);
    if (problem !== undefined) {
      waiting.set(topic, problem);
    }
  }
  const [records] = names.read;
  return {
    tables: entries.flatMap((entry) =>
      placed(
        entry,
        taken.filter((each) => each.entry === entry && !waiting.has(each.topic)),
      ),
    ),
    inRecords: all.filter((topic) => records && !waiting.has(topic) && takenBy(topic, records, names).length > 0),
    waiting,
  };
}

/** Settings that name each topic, and topics that they do not say enough of. */
export interface NamedTopics<S> {
  readonly settings: S;
  /** Of these, why they wait. */
  readonly waiting: ReadonlyMap<string, Problem>;
  /** Whether a template alone takes a topic. Left out: the settings have none. */
  isTemplated?(topic: string): boolean;
}

/**
 * The settings as they would be if each topic were named: without templates, and without the topics that wait. Messages
 * about an entry name the one that it was made of, with the topic where another one has another table:
 * `tables[0](shop.public.orders)`.
 *
 * @param topics those that are read, of which Kafka may have no names of the settings
 * @param others further topics that Kafka has: they may keep one that is read waiting
 */
export function settingsOfTopics<S extends TopicsParts>(
  settings: S,
  topics: readonly string[],
  others: readonly string[] = [],
): NamedTopics<S> {
  if (!topicsOf(settings).some(isTemplate)) {
    return { settings, waiting: new Map() };
  }
  const { tables, inRecords, waiting } = tablesOfTopics(settings, [...topics, ...others]);
  const read = new Set([...topics, ...topicsOf(settings)]);
  const names = new Set(topicsOf(settings).filter((text) => !isTemplate(text)));
  const entryOf = new Map(settings.tables.map((entry, nth) => [`tables[${nth}]`, entry]));
  const named = tables.flatMap(({ path, schema, table, ...of }) => {
    const entry = entryOf.get(path);
    const topic = of.topics.filter((each) => read.has(each));
    const { except: _, ...kept } = entry ?? {};
    const place = entry !== undefined && isTemplate(entry.table) ? `${path}(${topic.join()})` : path;
    return topic.length === 0 ? [] : [{ ...kept, topic, table: `${schema}.${table}`, place }];
  });
  return {
    isTemplated: (topic) => !names.has(topic),
    settings: {
      ...settings,
      kafka: { ...settings.kafka, topics: inRecords.filter((topic) => read.has(topic)) },
      tables: named,
    },
    waiting: new Map([...waiting].filter(([topic]) => read.has(topic))),
  };
}

/** A list that a rule looks at has holes in it, which flatMap passes over. */
const texts = (given: string | readonly string[] | undefined, path: string): readonly (readonly [string, string])[] =>
  typeof given === 'string'
    ? [[path, given]]
    : (given ?? []).flatMap((text, nth) => [[`${path}[${nth}]`, text] as const]);

/** Templates are what templates are made of. */
const templatesAreRight: Rule<TopicsParts> = {
  reads: ['kafka.topics[]', 'tables[]'],
  find: ({ kafka, tables }) => {
    const given = [
      ...texts(kafka.topics, 'kafka.topics'),
      ...tables.flatMap(({ topic, except }, index) => [
        ...texts(topic, `tables[${index}].topic`),
        ...texts(except, `tables[${index}].except`),
      ]),
    ];
    return given.flatMap(([path, text]): readonly Problem[] => {
      const mistake = isTemplate(text) ? templateMistake(text) : undefined;
      return mistake === undefined ? [] : [{ path, given: text, ...mistake }];
    });
  },
};

/** Only a template takes more than it names. */
const exceptHasTemplate: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ topic, except }, index) =>
      problemIf(except !== undefined && ![topic].flat().some(isTemplate), {
        path: `tables[${index}].except`,
        message: 'is beside topics that are named one by one',
        given: except,
        allowed: 'nothing here; or a template in topic, such as shop.{schema}.{table}',
      }),
    ),
};

/** What a table takes of a topic's name has to be in each text of topic. */
const tableHasParts: Rule<TablesPart> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ table, topic: topics }, index) => {
      const path = `tables[${index}].table`;
      if (!isTemplate(table)) {
        return [];
      }
      const names = namesIn(table);
      const given = [topics].flat();
      const lacking = given.find((text) => names.some((name) => name === ANY || !namesIn(text).includes(name)));
      return [
        ...problemIf(names.length === 0 || isTemplate(table.replaceAll(/\{[a-zA-Z0-9_]+\}/g, '')), {
          path,
          message: 'has braces that are not around a name',
          given: table,
          allowed: 'names that topic has in braces, such as {schema}.{table}',
        }),
        ...problemIf(lacking !== undefined, {
          path,
          message: `takes a name in braces that topic does not have: ${lacking}`,
          given: table,
          allowed: `names in braces of each text of topic, other than {${ANY}}; or a table without braces`,
        }),
      ];
    }),
};

/** What the schema cannot say of templates. */
export const TEMPLATE_RULES: readonly Rule<TopicsParts>[] = [
  templatesAreRight,
  exceptHasTemplate,
  tableHasParts,
  ...WAITING_RULES,
];
