import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { EXIT_CODE } from '../../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../../contract/identity.ts';
import { describeProblem, type Problem } from '../../../../settings/schema/problem.ts';
import { formatsOf, formattedTables } from '../../../../settings/sections/formats.ts';
import type { NamedTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { SchemaRegistry } from '../../../formats/registry/schema-registry.ts';
import { openTopicReader, type ReadRecords, type TopicReader } from '../../../kafka/topic-reader.ts';
import { UNWATCHED } from '../../../logging/outage-log.ts';
import { systemClock } from '../../../stream/ports/clock.ts';
import { FatalError, OutageError } from '../../../stream/ports/stream-errors.ts';
import { readMappings } from '../../../tables/mapping/read-mappings.ts';
import { MOST_IN_FULL } from '../../command/asked-table.ts';
import type { OutputStreams } from '../../command/command.ts';
import { counted } from '../../command/output.ts';
import { withDatabase } from '../../command/with-database.ts';
import { KeyNames, LOOKED_AT, type RecordKeys, topicsByKey } from './record-keys.ts';
import { mappingJson, mappingLines, type OffsetsElsewhere, warningLines } from './shown-mapping.ts';
import { type ComparedTables, isUnwanted, tableList, unwantedLine } from './table-list.ts';
import { readSchemas, type TopicSchema } from './topic-schemas.ts';

/** The command `tables check`. */
export interface CheckRequest {
  /** Whether each table is a line of JSON. */
  readonly json: boolean;
  /** The only table, of which everything is printed. Left out: all tables. */
  readonly table?: string | undefined;
}

const NO_TABLE = 'the setting tables is empty: all records go into the table records';

/** All of them, unlike those of the settings: each table is put right by another statement. */
function allMisfits({ problems, missing }: Pick<CheckReport, 'problems' | 'missing'>): string {
  const count = counted(problems.length + missing, 'problem');
  const described = problems.map(describeProblem);
  const others =
    missing === 0 ? [] : [`${counted(missing, 'table')} to create: ${PRODUCT_NAME} tables ddl prints them`];
  return `The tables do not fit the setting tables: ${count}; nothing was written.\n\n${[...described, ...others].join('\n')}\n`;
}

/** What the command prints. */
interface CheckReport {
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Tables that are missing, and whose line in a list says all of it. */
  readonly missing: number;
}

/** What is known beside the catalog. */
interface Surroundings {
  readonly elsewhere: readonly OffsetsElsewhere[];
  readonly keys: readonly RecordKeys[];
  readonly schemas: readonly TopicSchema[];
}

function report(tables: ComparedTables, beside: Surroundings, { json, table }: CheckRequest): CheckReport {
  const { entries } = tables;
  const found = [beside.elsewhere, beside.keys, beside.schemas] as const;
  if (!json && table === undefined && entries.length > MOST_IN_FULL) {
    return tableList(tables, (mapping) => warningLines(mapping, ...found));
  }
  const wanted = entries.filter((each) => !isUnwanted(each));
  const shown = entries.flatMap((each) => {
    if (each.mapping === null) {
      return isUnwanted(each) && !json ? [unwantedLine(each)] : [];
    }
    return [json ? mappingJson(each.mapping, ...found) : mappingLines(each.mapping, ...found).join('\n')];
  });
  return {
    text: (entries.length > 0 || tables.waiting.size > 0 || json ? shown : [NO_TABLE]).join(json ? '\n' : '\n\n'),
    problems: [...tables.waiting.values(), ...wanted.flatMap(({ problems }) => problems)],
    missing: 0,
  };
}

/**
 * Other schemas with tables of ours, which the guard of one schema knows nothing of. A role may not be able to look
 * into one.
 */
const OTHER_SCHEMAS = `
  SELECT nspname AS schema,
         has_schema_privilege(nsp.oid, 'USAGE') AND has_table_privilege(offsets.oid, 'SELECT') AS "isReadable"
    FROM pg_namespace AS nsp
    JOIN pg_class AS offsets ON offsets.relnamespace = nsp.oid AND offsets.relname = 'offsets' AND offsets.relkind = 'r'
    JOIN pg_class AS versions ON versions.relnamespace = nsp.oid AND versions.relname = 'schema_migrations'
   WHERE nspname <> $1 AND (SELECT count(*) FROM pg_attribute WHERE attrelid = offsets.oid
           AND attname IN ('group_id', 'topic', 'partition', 'next_offset') AND NOT attisdropped) = 4
   ORDER BY 1`;

/** Offsets of the topics in other schemas of the same database. */
async function offsetsElsewhere(
  client: PoolClient,
  ownSchema: string,
  topics: readonly string[],
): Promise<readonly OffsetsElsewhere[]> {
  const { rows } = await client.query<{ schema: string; isReadable: boolean }>(OTHER_SCHEMAS, [ownSchema]);
  const found: OffsetsElsewhere[] = rows.filter(({ isReadable }) => !isReadable).map(({ schema }) => ({ schema }));
  for (const { schema } of rows.filter(({ isReadable }) => isReadable)) {
    const offsets = `SELECT DISTINCT group_id AS "groupId", topic FROM ${escapeIdentifier(schema)}.offsets
                      WHERE topic = ANY ($1) ORDER BY 2, 1`;
    const answer = await client.query<{ groupId: string; topic: string }>(offsets, [topics]).catch(unlessDropped);
    found.push(...answer.rows.map(({ groupId, topic }) => ({ schema, groupId, topic })));
  }
  return found;
}

/** A schema may be dropped while others are read. */
function unlessDropped(error: unknown): { readonly rows: readonly [] } {
  if (error instanceof DatabaseError && (error.code === '42P01' || error.code === '3F000')) {
    return { rows: [] };
  }
  throw error;
}

/** What the last records of these topics are keyed by. */
async function readKeys({ kafka }: Settings, topics: readonly string[]): Promise<readonly RecordKeys[]> {
  if (topics.length === 0) {
    return [];
  }
  const reader = openTopicReader(kafka);
  try {
    const found: RecordKeys[] = [];
    for (const topic of topics) {
      found.push(await lastKeysOf(reader, topic));
    }
    return found;
  } finally {
    await reader.close();
  }
}

async function lastKeysOf(reader: TopicReader, topic: string): Promise<RecordKeys> {
  const names = new KeyNames(topic);
  try {
    const take = ({ records }: ReadRecords) =>
      records.forEach((record) => {
        names.add(record);
      });
    await reader.read(topic, { from: 'latest', count: LOOKED_AT }, { take });
    return names.found;
  } catch (error) {
    if (!(error instanceof OutageError || error instanceof FatalError)) {
      throw error;
    }
    return { topic, records: 0, keyedBy: [], fault: error.message };
  }
}

/** The schemas of these topics: of files, and where a registry is set the latest ones that it has. */
async function readLatestSchemas(settings: Settings, topics: readonly string[]): Promise<readonly TopicSchema[]> {
  const { schemaRegistry } = settings;
  if (schemaRegistry === undefined) {
    return readSchemas(settings, topics);
  }
  const registry = new SchemaRegistry({
    current: () => schemaRegistry,
    subjects: [],
    clock: systemClock,
    // The reason why a schema was not compared is in the output already.
    outages: UNWATCHED,
  });
  try {
    return await readSchemas(settings, topics, registry);
  } finally {
    await registry.close();
  }
}

/**
 * Runs `tables check`: compares the setting `tables` with the catalog, prints the mapping of each table that is right,
 * all problems of the others, and which other schemas hold offsets of the topics. Nothing is written. Kafka is asked
 * for the last records of topics with an envelope, without a group, and the schema registry for the latest schemas of
 * its topics. If one of them is away, the output has the reason.
 *
 * @returns the exit code: 0 when all tables are right, 78 when one is not, 1 when PostgreSQL was away or refused. It
 * rejects only for a mistake in the program.
 */
export function checkTables(
  { settings, waiting, isTemplated = () => false }: NamedTopics<Settings>,
  request: CheckRequest,
  { out, err }: OutputStreams,
): Promise<number> {
  const { database } = settings;
  const tables = formattedTables(settings);
  return withDatabase('tables check', database, { err }, async (pool) => {
    const topics = tables.flatMap((table) => table.topics);
    const { entries, mappings, elsewhere } = await pool.withClient(async (client) => ({
      ...(await readMappings(client, tables, database.schema, isTemplated)),
      elsewhere: topics.length === 0 ? [] : await offsetsElsewhere(client, database.schema, topics),
    }));
    const keyed = topicsByKey(mappings).filter((topic) => !formatsOf(settings, topic).key?.includes('registry'));
    const keys = await readKeys(settings, keyed);
    const schemas = await readLatestSchemas(settings, topics);
    const found = { elsewhere, keys, schemas };
    const compared = tables.flatMap((entry, nth) => {
      const read = entries[nth];
      return read === undefined ? [] : [{ ...read, entry }];
    });
    const { text, ...misfits } = report({ waiting, isTemplated, entries: compared }, found, request);
    const isRight = misfits.problems.length + misfits.missing === 0;
    out.write(text === '' ? '' : `${text}\n`);
    err.write(isRight ? '' : allMisfits(misfits));
    return isRight ? EXIT_CODE.ok : EXIT_CODE.configuration;
  });
}
