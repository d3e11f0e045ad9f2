import { EXIT_CODE } from '../../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../../contract/identity.ts';
import { describeProblems, type Problem } from '../../../../settings/schema/problem.ts';
import { formatsOf, formattedTables } from '../../../../settings/sections/formats.ts';
import type { NamedTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import { type TableSettings, tablesOf } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { createRegistry } from '../../../formats/registry/schema-registry.ts';
import { openTopicReader } from '../../../kafka/topic-reader.ts';
import { UNWATCHED } from '../../../logging/outage-log.ts';
import { printable } from '../../../logging/printable-text.ts';
import { systemClock } from '../../../stream/ports/clock.ts';
import { FatalError } from '../../../stream/ports/stream-errors.ts';
import { type CatalogTable, readCatalog } from '../../../tables/mapping/table-catalog.ts';
import { MOST_IN_FULL } from '../../command/asked-table.ts';
import type { OutputStreams } from '../../command/command.ts';
import { unknownTopics } from '../../command/table-topics.ts';
import { withServers } from '../../command/with-database.ts';
import { readShapes, type TopicShapes } from './read-shapes.ts';
import { reviewLines, statementList, statements, type TableStatements } from './statements.ts';
import { unknownShape } from './topic-shape.ts';
import { wantedTable, withPrimaryKeys } from './wanted-columns.ts';

/** The command `tables ddl`. */
export interface DdlRequest {
  /** The only table, of which everything is printed. Left out: all tables. */
  readonly table: string | undefined;
  /** Topics whose tables are printed; empty: all. */
  readonly topics: readonly string[];
  /** Where types come from. Left out: the registry where it has a schema, else records. */
  readonly from: 'registry' | 'records' | undefined;
  /** Offsets of a topic that are looked at, at most. */
  readonly records: number;
}

type TableEntry = readonly [path: string, settings: TableSettings];

/** The entries by their tables, in the order of the settings; of a table those come first that ask its primary key. */
function entriesByTable(settings: Settings, topics: readonly string[]): readonly (readonly TableEntry[])[] {
  const tables = new Map<string, TableEntry[]>();
  for (const [nth, entry] of formattedTables(settings).entries()) {
    const name = JSON.stringify([entry.schema, entry.table]);
    tables.set(name, [...(tables.get(name) ?? []), [entry.path ?? `tables[${nth}]`, entry]]);
  }
  const asksPrimary = ([, { key }]: TableEntry): number => Number(key !== null && key.columns === null);
  const isAsked = ([, entry]: TableEntry) =>
    topics.length === 0 || entry.topics.some((topic) => topics.includes(topic));
  return [...tables.values()]
    .filter((entries) => entries.some(isAsked))
    .map((entries) => entries.toSorted((one, other) => asksPrimary(other) - asksPrimary(one)));
}

const NO_TABLE_TO_PRINT = `-- the setting tables is empty, so there is no table to print: name a topic and a table there, such as
-- tables: [{ topic: orders, table: public.orders }]`;

/** Topics without a schema, where schemas are asked for. */
const withoutSchemas = (settings: Settings, topics: readonly string[]): readonly Problem[] =>
  topics
    .filter((topic) => !formatsOf(settings, topic).value.includes('registry'))
    .map((topic) => ({
      path: '--from',
      message: `asks for schemas, and the registry has none of the topic ${topic}`,
      given: 'registry',
      allowed: `--from records; or formats.${topic}: registry`,
    }));

function requestProblems(settings: Settings, { topics, from }: DdlRequest): readonly Problem[] {
  const known = tablesOf(settings).flatMap((entry) => entry.topics);
  const asked = topics.length === 0 ? [...new Set(known)] : topics;
  return [
    ...unknownTopics(topics, known, 'topics of the setting tables'),
    ...(from === 'registry'
      ? withoutSchemas(
          settings,
          asked.filter((topic) => known.includes(topic)),
        )
      : []),
  ];
}

/**
 * Runs `tables ddl`: prints the statements that make tables for topics, and runs none of them.
 *
 * @returns the exit code: 0 when they are printed, 78 when the request does not fit the settings. 1: PostgreSQL, Kafka
 * or the registry was away or refused, also where Kafka forbids one topic and the others are printed. It rejects only
 * for a mistake in the program.
 */
export async function printDdl(
  { settings, waiting }: NamedTopics<Settings>,
  request: DdlRequest,
  { out, err }: OutputStreams,
): Promise<number> {
  const problems = requestProblems(settings, request);
  if (problems.length > 0) {
    err.write(`${PRODUCT_NAME} tables ddl: nothing was read.\n\n${describeProblems(problems)}\n`);
    return EXIT_CODE.configuration;
  }
  const tables = entriesByTable(settings, request.topics);
  const unclear = [...waiting.values()].map(reviewLines);
  if (tables.length === 0) {
    out.write(`${unclear.length === 0 ? NO_TABLE_TO_PRINT : unclear.join('\n\n')}\n`);
    return EXIT_CODE.ok;
  }
  return withServers('tables ddl', settings.database, { err }, async (pool) => {
    const names = tables.flatMap(([first]) => (first === undefined ? [] : [first[1]]));
    const found = await pool.withClient((client) => readCatalog(client, names, settings.database.schema));
    const { shapes, isComplete } = await readAll(settings, tables, request);
    const texts = tables.flatMap((entries, nth) => {
      const table = found[nth];
      return table === undefined ? [] : [tableStatements(entries, table, shapes[nth] ?? [], settings)];
    });
    const isList = request.table === undefined && texts.length > MOST_IN_FULL;
    const printed = isList ? statementList(texts) : texts.map(({ lines }) => lines.join('\n'));
    out.write(`${[...printed, ...unclear].join('\n\n')}\n`);
    return isComplete ? EXIT_CODE.ok : EXIT_CODE.failed;
  });
}

/** The statements for one table. */
function tableStatements(
  entries: readonly TableEntry[],
  table: CatalogTable,
  shapes: readonly TopicShapes[],
  settings: Settings,
): TableStatements {
  const given = entries.map(([, entry]) => entry);
  const keyed = withPrimaryKeys(given, table, shapes);
  const { columns, remarks } = wantedTable(keyed.entries, shapes, settings);
  const wanted = { columns, remarks: [...new Set([...remarks, ...keyed.remarks])] };
  const placed = entries.map(([path, entry], nth): TableEntry => [path, keyed.entries[nth] ?? entry]);
  return statements(placed, table, wanted);
}

/** What is known of topics. */
interface ReadTables {
  /** Of each table, in their order. */
  readonly shapes: readonly (readonly TopicShapes[])[];
  /** Whether each topic may be read. */
  readonly isComplete: boolean;
}

/** A topic that may not be read is a remark on its table, and keeps no other one from being printed. */
async function readAll(
  settings: Settings,
  tables: readonly (readonly TableEntry[])[],
  { from, records }: DdlRequest,
): Promise<ReadTables> {
  const reader = openTopicReader(settings.kafka);
  const registry = createRegistry(settings, { current: () => settings, clock: systemClock, outages: UNWATCHED });
  const sources = { settings, reader, registry, from, records };
  let isComplete = true;
  const unlessForbidden = (topic: string) => (error: unknown) => {
    if (!(error instanceof FatalError && error.isOfTopic)) {
      throw error;
    }
    isComplete = false;
    const shape = unknownShape(printable(`nothing was read of ${topic}: ${error.messageWithoutStart}`));
    return { topic, value: shape, key: shape };
  };
  const shapesOf = async (entries: readonly TableSettings[]): Promise<readonly TopicShapes[]> => {
    const shapes: TopicShapes[] = [];
    for (const topic of new Set(entries.flatMap(({ topics }) => topics))) {
      const ofTopic = entries.filter(({ topics }) => topics.includes(topic));
      shapes.push(await readShapes(topic, ofTopic, sources).catch(unlessForbidden(topic)));
    }
    return shapes;
  };
  try {
    const shapes: (readonly TopicShapes[])[] = [];
    for (const entries of tables) {
      shapes.push(await shapesOf(entries.map(([, entry]) => entry)));
    }
    return { shapes, isComplete };
  } finally {
    await Promise.all([reader.close(), registry?.close()]);
  }
}
