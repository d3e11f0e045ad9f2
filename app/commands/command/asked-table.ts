import { nearestKey, type Problem } from '../../../settings/schema/problem.ts';
import type { NamedTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { type TablesPart, tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { Option } from './command.ts';

/** The option that limits a command to one table. */
export const TABLE: Option = { type: 'string', value: 'NAME' };

/** Of at most so many tables a command prints all that it knows. Of more it prints a line each, and what they need. */
export const MOST_IN_FULL = 10;

/** Names in a message about a name that is not among them. */
const MOST_TABLE_NAMES = 20;

/** An entry with its place in the settings, which messages name. */
const placed = (tables: TablesPart['tables']): TablesPart['tables'] =>
  tables.map((entry, nth) => ({ ...entry, place: entry.place ?? `tables[${nth}]` }));

const fullName = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${schema}.${table}`;

/** Tables that the settings name for topics that wait: two topics would go into one table. */
const contested = (waiting: NamedTopics<Settings>['waiting']): readonly string[] =>
  [...waiting.values()].flatMap(({ path, given }) =>
    path.endsWith('.table') && typeof given === 'string' ? [given] : [],
  );

/** Without the schema. */
const ownName = (name: string): string => name.slice(name.indexOf('.') + 1);

/** A table by its full name; by its name in the schema where no other schema has a table of that name. */
function foundName(asked: string, names: readonly string[]): string | undefined {
  const sameEnd = names.filter((name) => ownName(name) === asked);
  return names.find((name) => name === asked) ?? (sameEnd.length === 1 ? sameEnd[0] : undefined);
}

function unknownTable(given: string, names: readonly string[]): Problem {
  const nearOwn = nearestKey(given, names.map(ownName));
  const nearest = nearestKey(given, names) ?? names.find((name) => ownName(name) === nearOwn);
  const more = names.length > MOST_TABLE_NAMES ? ` and ${names.length - MOST_TABLE_NAMES} more` : '';
  const allowed = `tables of the setting tables: ${names.slice(0, MOST_TABLE_NAMES).join(', ') || 'none'}${more}`;
  const problem = { path: '--table', message: 'is no table of these settings', given, allowed };
  return nearest === undefined ? problem : { ...problem, nearest };
}

/** What is about these topics alone. */
export const limitedTo = ({ settings, waiting, ...named }: NamedTopics<Settings>, topics: readonly string[]) => ({
  ...named,
  settings: {
    ...settings,
    kafka: { ...settings.kafka, topics: settings.kafka.topics.filter((topic) => topics.includes(topic)) },
    tables: placed(settings.tables).flatMap((entry) => {
      const topic = [entry.topic].flat().filter((each) => topics.includes(each));
      return topic.length === 0 ? [] : [{ ...entry, topic }];
    }),
  },
  waiting: new Map([...waiting].filter(([topic]) => topics.includes(topic))),
});

/** The settings for one table. */
export interface AskedTable {
  /** With the entries of this table alone. */
  readonly alone: NamedTopics<Settings>;
  /** With all tables that its topics go into. */
  readonly withTopics: NamedTopics<Settings>;
}

/**
 * Finds one table of the settings.
 *
 * @param asked `schema.table` as in the settings and as commands print it; or the name alone, where one schema has it
 * @returns the problem where the settings have no such table
 */
export function askedTable(named: NamedTopics<Settings>, asked: string): AskedTable | Problem {
  const { settings, waiting } = named;
  const entries = tablesOf(settings);
  const names = [...new Set([...entries.map(fullName), ...contested(waiting)])];
  const name = foundName(asked, names);
  if (name === undefined) {
    return unknownTable(asked, names);
  }
  const isOfTable = entries.map((entry) => fullName(entry) === name);
  const contesting = [...waiting].filter(([, { given }]) => given === name).map(([topic]) => topic);
  const topics = [...entries.flatMap((entry, nth) => (isOfTable[nth] ? entry.topics : [])), ...contesting];
  const withTopics = limitedTo(named, topics);
  const tables = placed(settings.tables).filter((_, nth) => isOfTable[nth]);
  return { withTopics, alone: { ...withTopics, settings: { ...withTopics.settings, tables } } };
}
