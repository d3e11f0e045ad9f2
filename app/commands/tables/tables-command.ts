import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { DATABASE_FILE_RULES } from '../../credentials/tls-files.ts';
import { SCHEMA_FILE_RULES } from '../../formats/schema-files.ts';
import { action, type Command, everywhereHelp, exitCodesHelp, surplusWords } from '../command/command.ts';
import type { CheckRequest } from './check-tables.ts';

const CHECK = action<CheckRequest>({
  word: 'check',
  read: (words, given) => ({
    request: { json: given.has('json') },
    problems: surplusWords('tables check', words, { message: 'takes no further word', allowed: 'tables check' }),
  }),
  run: async (settings, request, process) => {
    const { checkTables } = await import('./check-tables.ts');
    return checkTables(settings, request, process);
  },
});

const tablesHelp = (): string =>
  `Usage: ${PRODUCT_NAME} tables check [--json]

Compares the setting tables with the tables in PostgreSQL, column by column, as the consumer does at its start. For each
table it prints which source each column takes and what a record without a value there comes to. It also prints which columns
are left to PostgreSQL, and which NOT NULL columns are checked record by record. It reports all problems of all tables at
once. It writes nothing. It asks Kafka for the keys of the last records of topics with an envelope, and the schema registry
for the latest schemas of its topics: it prints where a schema and a table differ, column by column.

Options:
  --json              one JSON object per line and table
${everywhereHelp('names the tables and says where the database is')} Run it as the consumer's role: privileges are
part of the comparison.

${exitCodesHelp({
  ok: 'each table takes the records of its topics',
  failed: 'PostgreSQL was away or refused',
  configuration: 'a table does not fit the setting tables, or the command line or the configuration is wrong',
})}
`;

/** The command `tables`. A signal ends it at once: it writes nothing. */
export const TABLES_COMMAND: Command = {
  name: 'tables',
  usage: 'check [OPTIONS]',
  help: tablesHelp,
  options: { json: { type: 'boolean' } },
  fileRules: [...DATABASE_FILE_RULES, ...SCHEMA_FILE_RULES],
  actions: [CHECK],
};
