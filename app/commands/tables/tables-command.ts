import { EXIT_CODE_OF_DEAD_LETTERS } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import { CLIENT_FILE_RULES } from '../../credentials/tls-files.ts';
import { SCHEMA_FILE_RULES } from '../../formats/schema-files.ts';
import type { Selection } from '../../kafka/topic-reader.ts';
import { MOST_IN_FULL, TABLE } from '../command/asked-table.ts';
import {
  action,
  type Command,
  everywhereHelp,
  exitCodesHelp,
  type GivenOptions,
  type Option,
  surplusWords,
} from '../command/command.ts';
import type { CheckRequest } from './check/check-tables.ts';
import type { DdlRequest } from './ddl/run-ddl.ts';
import type { DryRunRequest } from './dry-run/run-dry-run.ts';

/** Offsets of a topic that are looked at unless `--records` says another number, and the most that it may say. */
const DDL_RECORDS = 1_000;
const TRIED_RECORDS = 100;
const MOST_RECORDS = 100_000;

/** @param values of which the last one counts */
function wrongCount(values: readonly string[]): readonly Problem[] {
  const given = values.at(-1);
  const isRight = given === undefined || (/^[1-9]\d{0,5}$/.test(given) && Number(given) <= MOST_RECORDS);
  const allowed = `a whole number from 1 to ${MOST_RECORDS.toLocaleString('en')}`;
  return isRight ? [] : [{ path: '--records', message: 'is no number of records', given: shownText(given), allowed }];
}

const RECORDS_OPTION: Option = { type: 'string', value: 'N', check: wrongCount };
const TOPIC: Option = { type: 'string', value: 'TOPIC' };
const JSON_LINES: Option = { type: 'boolean' };

const askedTableOf = (given: GivenOptions): string | undefined => given.get('table')?.at(-1);

const WITHOUT_WORDS = { message: 'takes no further word' };

const chosenRecords = (given: GivenOptions, fallback: number): number =>
  Number(given.get('records')?.at(-1) ?? fallback);

const CHECK = action<CheckRequest>({
  word: 'check',
  options: { table: TABLE, json: JSON_LINES },
  read: (words, given) => ({
    request: { json: given.has('json'), table: askedTableOf(given) },
    problems: surplusWords('tables check', words, { ...WITHOUT_WORDS, allowed: 'tables check' }),
  }),
  run: async (settings, request, process) => {
    const { checkTables } = await import('./check/check-tables.ts');
    const { withNamedTopics } = await import('../command/with-named-topics.ts');
    const command = { words: 'tables check', table: request.table };
    return withNamedTopics(command, settings, process, (named, asked) =>
      checkTables(asked?.alone ?? named, request, process),
    );
  },
});

const DDL_SOURCES = ['registry', 'records'] as const;
const ddlSourceOf = (word: string | undefined) => DDL_SOURCES.find((each) => each === word);

const wrongSource = (values: readonly string[]): readonly Problem[] =>
  values
    .filter((word) => ddlSourceOf(word) === undefined)
    .map((word) => ({
      path: '--from',
      message: 'is no place that types come from',
      given: shownText(word, DDL_SOURCES),
      allowed: DDL_SOURCES.join(', '),
    }));

const DDL = action<DdlRequest>({
  word: 'ddl',
  options: {
    table: TABLE,
    topic: TOPIC,
    from: { type: 'string', value: 'registry|records', check: wrongSource },
    records: RECORDS_OPTION,
  },
  read: (words, given) => ({
    request: {
      table: askedTableOf(given),
      topics: given.get('topic') ?? [],
      from: ddlSourceOf(given.get('from')?.at(-1)),
      records: chosenRecords(given, DDL_RECORDS),
    },
    problems: surplusWords('tables ddl', words, { ...WITHOUT_WORDS, allowed: 'tables ddl' }),
  }),
  run: async (settings, request, process) => {
    const { printDdl } = await import('./ddl/run-ddl.ts');
    const { withNamedTopics } = await import('../command/with-named-topics.ts');
    const command = { words: 'tables ddl', table: request.table };
    return withNamedTopics(command, settings, process, (named, asked) =>
      printDdl(asked?.alone ?? named, request, process),
    );
  },
});

/** Where records are read from; `null`: nowhere. */
function readFrom(word: string): Selection['from'] | null {
  if (word === 'earliest' || word === 'latest') {
    return word;
  }
  return /^\d{1,18}$/.test(word) ? BigInt(word) : null;
}

const wrongPlace = (values: readonly string[]): readonly Problem[] =>
  values
    .filter((word) => readFrom(word) === null)
    .map((word) => ({
      path: '--from',
      message: 'is no place in a topic',
      given: shownText(word, ['earliest', 'latest']),
      allowed: 'earliest, latest, or the offset to begin at',
    }));

/** Options that say what is read of Kafka, beside a file that takes its place. */
const besideSample = (given: GivenOptions): readonly Problem[] =>
  ['from', 'records']
    .filter((name) => given.has('sample') && given.has(name))
    .map((name) => ({
      path: `--${name}`,
      message: 'says what is read of Kafka, and --sample names a file in its place',
      allowed: '--sample, which is read as a whole, or what is read of Kafka',
    }));

const DRY_RUN = action<DryRunRequest>({
  word: 'dry-run',
  options: {
    table: TABLE,
    topic: TOPIC,
    from: { type: 'string', value: 'earliest|latest|OFFSET', check: wrongPlace },
    records: RECORDS_OPTION,
    sample: { type: 'string', value: 'FILE' },
    values: { type: 'boolean' },
    json: JSON_LINES,
  },
  read: (words, given) => ({
    request: {
      table: askedTableOf(given),
      topics: given.get('topic') ?? [],
      selection: {
        from: readFrom(given.get('from')?.at(-1) ?? 'latest') ?? 'latest',
        count: chosenRecords(given, TRIED_RECORDS),
      },
      sample: given.get('sample')?.at(-1),
      values: given.has('values'),
      json: given.has('json'),
    },
    problems: [
      ...surplusWords('tables dry-run', words, { ...WITHOUT_WORDS, allowed: 'tables dry-run' }),
      ...besideSample(given),
    ],
  }),
  run: async (settings, request, process) => {
    const signal = process.interruption();
    const { runDryRun } = await import('./dry-run/run-dry-run.ts');
    const { withNamedTopics } = await import('../command/with-named-topics.ts');
    const command = { words: 'tables dry-run', table: request.table };
    return withNamedTopics(command, settings, process, (named, asked) =>
      runDryRun(asked?.withTopics ?? named, request, process, signal),
    );
  },
});

const tablesHelp = (): string =>
  `Usage: ${PRODUCT_NAME} tables check   [--table NAME] [--json]
       ${PRODUCT_NAME} tables ddl     [--table NAME] [--topic TOPIC ...] [--from registry|records] [--records N]
       ${PRODUCT_NAME} tables dry-run [--table NAME] [--topic TOPIC ...] [--from earliest|latest|OFFSET] [--records N]
                                     [--sample FILE] [--values] [--json]

check compares the setting tables with the tables in PostgreSQL, column by column, as the consumer does at its start. For each
table it prints which source each column takes and what a record without a value there comes to. It also prints which columns
are left to PostgreSQL, and which NOT NULL columns are checked record by record. It reports all problems of all tables at
once. It writes nothing. It asks Kafka for the keys of the last records of topics with an envelope, and the schema registry
for the latest schemas of its topics: it prints where a schema and a table differ, column by column.

ddl prints the CREATE TABLE of each table of the setting tables, or the ALTER TABLE that adds the columns that it lacks, and
the GRANTs for the role that runs it. It runs none of them. Types come from the latest schema of a topic, else from its last
records. A comment with REVIEW marks each guess.

dry-run writes the last records of the topics into their tables as the consumer does, in one transaction that is rolled back.
It prints what each record becomes: a row, or a dead letter with its reason and column. At the end it counts them, and names
fields without a column and columns without a value. Until it rolls back it holds the locks of a write. It waits 1 s for one.
Sequences advance. Records of the table records go into a temporary one.

Of at most ${MOST_IN_FULL} tables each command prints everything. Of more it prints a line for each table, and below it or behind the
list what somebody has to look at. --table NAME prints everything about one of them.

Options:
  --table NAME        only this table, as SCHEMA.TABLE; or its name alone, where only one schema has it
  --json              check, dry-run: one JSON object per line and table, or record; the last one of dry-run is the summary
  --topic TOPIC       ddl, dry-run: only tables, or records, of this topic; may be given several times
  --from PLACE        ddl: registry, from the latest schemas alone; records, from the last records alone
                      dry-run: earliest or latest, or the offset of each partition to begin at [latest]
  --records N         ddl, dry-run: look at N offsets of each topic, shared by its partitions, at most ${MOST_RECORDS.toLocaleString('en')}
                      [ddl: ${DDL_RECORDS.toLocaleString('en')}, dry-run: ${TRIED_RECORDS}]
  --sample FILE       dry-run: try the records of a file in the place of Kafka's. Each line is an object of topic, partition,
                      offset, timestamp, key, value and headers; only value has to be there
  --values            dry-run: show keys and values as well, which are left out otherwise
${everywhereHelp('names the tables and says where the servers are')} Run it as the consumer's role: privileges are
part of the comparison. Kafka is read without a group, and nothing is committed.

${exitCodesHelp({
  ok: 'check: each table takes the records of its topics; ddl: the statements were printed; dry-run: all would be stored',
  failed: 'PostgreSQL was away or refused; ddl, dry-run: or Kafka or the registry was away, or a table is locked',
  configuration: 'a table does not fit the setting tables; or the command line or the configuration is wrong',
})}
  ${EXIT_CODE_OF_DEAD_LETTERS}  dry-run: some records would be dead letters, or cannot be read
  130 dry-run: interrupted by Ctrl-C (143 by SIGTERM): everything was rolled back
`;

/** The command `tables`. A signal ends it: it writes nothing. */
export const TABLES_COMMAND: Command = {
  name: 'tables',
  usage: 'check|ddl|dry-run [OPTIONS]',
  help: tablesHelp,
  options: {},
  fileRules: [...CLIENT_FILE_RULES, ...SCHEMA_FILE_RULES],
  actions: [CHECK, DDL, DRY_RUN],
};
