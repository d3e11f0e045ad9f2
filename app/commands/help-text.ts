import { DEAD_LETTER_REASON } from '../../contract/dead-letter-reasons.ts';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { allowedValues } from '../../settings/schema/schema-problems.ts';
import { listSettings } from '../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { LISTED_BY_DEFAULT } from './dead-letters/dead-letters-request.ts';

/** Optional settings that most installations set. */
const COMMON_PATHS: ReadonlySet<string> = new Set([
  'kafka.topics',
  'server.port',
  'database.user',
  'database.password',
  'database.schema',
  'consumer.startFrom',
  'logging.level',
]);

/** The description up to its first stop: the rest is for docs/configuration.md. */
const summary = ({ description = '' }: SchemaNode): string => description.split(/[.:;](?: |$)/)[0] ?? '';

function environmentTable(): string {
  const shown = listSettings(SettingsSchema as SchemaNode).filter(
    ({ path, isRequired }) => isRequired || COMMON_PATHS.has(path),
  );
  const rows = shown.map(({ environmentName, schema, isRequired }) => {
    const choices = schema.enum === undefined ? '' : `: ${allowedValues(schema)}`;
    const fallback = schema.default === undefined ? '' : ` [${String(schema.default)}]`;
    return `  ${environmentName.padEnd(20)}${summary(schema)}${choices}${isRequired ? ' (required)' : fallback}`;
  });
  return rows.join('\n');
}

/** What `--help` prints. */
export function helpText(): string {
  return `Usage: ${PRODUCT_NAME} [--config FILE] [--config-tree DIR] [--check]
       ${PRODUCT_NAME} migrate [--config FILE] [--config-tree DIR]
       ${PRODUCT_NAME} dead-letters list|replay [OPTIONS]
       ${PRODUCT_NAME} offsets accept-topic|begin-again TOPIC [OPTIONS]
       ${PRODUCT_NAME} tables check [OPTIONS]

Writes the records of Kafka topics to PostgreSQL, each exactly once. Records that PostgreSQL cannot store are dead letters:
dead-letters --help says how to see them and how to move those that fit later. migrate creates or upgrades the tables and
exits; the consumer does it itself unless DATABASE_MIGRATE=false. offsets --help is for topics that were created again.
tables check compares the setting tables with the tables that it names, and exits.

Options:
  --config FILE       the configuration, YAML [CONFIG_FILE, else ./application.yml, else ./config/application.yml]
  --config-tree DIR   a folder of secret files, such as a mounted Secret: the file database/password or
                      database.password holds that setting [CONFIG_TREE]
  --check             check the configuration, print it with secrets masked, and exit
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the defaults, over them from the YAML file, the config tree and the environment. In the file,
\${NAME} and \${NAME:default} stand for environment variables and for files of the config tree. The main ones by their
environment variables (docs/settings.md lists them all):
${environmentTable()}

Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}stopped by SIGTERM or SIGINT after everything was written; --check, --help and --version succeeded
  ${String(EXIT_CODE.failed).padEnd(4)}a fatal error; one line of the log says what and where
  ${String(EXIT_CODE.configuration).padEnd(4)}the command line or the configuration is wrong, or the group writes into another schema; nothing was written
`;
}

/** What `dead-letters --help` prints. */
export function deadLettersHelp(): string {
  const reasons = Object.entries(DEAD_LETTER_REASON).map(([reason, text]) => `  ${reason.padEnd(24)}${text}`);
  return `Usage: ${PRODUCT_NAME} dead-letters list   [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--show-value] [--json]
       ${PRODUCT_NAME} dead-letters replay [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--dry-run] [--overwrite] [--json]

list shows what is in the table dead_letters. replay moves the records that fit by now, because a limit was raised or a row
of the table was put right by hand, to their tables: each in a transaction of its own, exactly once, also beside a running
consumer and beside another replay. What still does not fit stays where it is, with the reason it has now.

Into a table with a key a letter goes only where no row has its key, and a letter that deletes goes nowhere while one has:
newer records may have been applied since. --overwrite replaces and deletes such rows. Either way replay cannot know of a
row that a newer record has deleted: the letter's record is inserted again.

Options:
  --reason REASON     only letters with this reason; may be given several times
  --topic TOPIC       only letters from this topic; may be given several times
  --limit N           look at N letters at most [list: ${LISTED_BY_DEFAULT}, replay: all]
  --show-value        list: show keys and values as well, which are left out otherwise
  --dry-run           replay: try everything and change nothing
  --overwrite         replay: replace and delete rows of the letters' keys in tables with a key
  --json              one JSON object per line
  --config FILE       the consumer's configuration, which says where the database is
  --config-tree DIR   a folder of secret files
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the same places as the consumer's: see ${PRODUCT_NAME} --help. Kafka is not asked.

Reasons, each for "this record is a dead letter because ...":
${reasons.join('\n')}

Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}list: all was shown; replay: every letter that was looked at was moved, or there was none
  ${String(EXIT_CODE.failed).padEnd(4)}replay: some letters stayed, each with a line that says why; or PostgreSQL was away or refused
  ${String(EXIT_CODE.configuration).padEnd(4)}the command line or the configuration is wrong; nothing was started
  130 interrupted by Ctrl-C (143 by SIGTERM): the letter in hand was finished, what was moved stays moved
`;
}

/** What `offsets --help` prints. */
export function offsetsHelp(): string {
  return `Usage: ${PRODUCT_NAME} offsets accept-topic TOPIC [--dry-run]
       ${PRODUCT_NAME} offsets begin-again TOPIC [--rename-rows] [--keep-table-rows] [--dry-run]

A topic that is deleted and created again, mirrored or restored has another id than the one that is stored with its offsets,
and the consumer stops rather than take it for the same topic. Which of the two is right only you know:

  accept-topic    it holds the same records at the same offsets, as a restored cluster does: go on at the stored offsets.
                  Where it holds others, those below the stored offsets are never read
  begin-again     it holds other records: read it from offset 0. The rows of the topic before, in records, dead_letters and
                  gaps, have the same keys: while there are any it is refused, unless --rename-rows keeps them under another name.
                  Rows of your own tables stay as they are, and tables without a key get the topic a second time: where the
                  topic fills such tables it is refused, unless --keep-table-rows consents

Both are one transaction, and change the offsets of kafka.groupId alone. The topic id that the next consumer finds is stored.
A consumer may run beside them: its next transaction is turned away, and it goes on where they say. Kafka is not asked.

Options:
  --rename-rows       begin-again: give the rows that the topic has the topic TOPIC@TIME, which no topic in Kafka can be called
  --keep-table-rows   begin-again: leave the rows of your own tables as they are, and fill these tables with the topic again
  --dry-run           say what would be done, and change nothing
  --config FILE       the consumer's configuration, which says where the database is
  --config-tree DIR   a folder of secret files
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the same places as the consumer's: see ${PRODUCT_NAME} --help. --rename-rows needs the right to UPDATE the
tables, which their owner has (docs/database-roles.md).

Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}it was done, or there was nothing to do
  ${String(EXIT_CODE.failed).padEnd(4)}it was refused and nothing was changed: no offset of the topic is stored, rows are in the way, a consent is missing, or
      PostgreSQL was away
  ${String(EXIT_CODE.configuration).padEnd(4)}the command line or the configuration is wrong; nothing was started
`;
}

/** What `tables --help` prints. */
export function tablesHelp(): string {
  return `Usage: ${PRODUCT_NAME} tables check [--json]

Compares the setting tables with the tables in PostgreSQL, column by column, as the consumer does at its start. It prints for
each table which source each column takes, what a record without a value there comes to, which columns are left to
PostgreSQL, and the NOT NULL columns that are looked at record by record. What is wrong with any of the tables is told at
once. Nothing is written, and Kafka is not asked.

Options:
  --json              one JSON object per line and table
  --config FILE       the consumer's configuration, which names the tables and says where the database is
  --config-tree DIR   a folder of secret files
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the same places as the consumer's: see ${PRODUCT_NAME} --help. Run it as the consumer's role: privileges are
part of the comparison.

Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}each table takes the records of its topics
  ${String(EXIT_CODE.failed).padEnd(4)}PostgreSQL was away or refused
  ${String(EXIT_CODE.configuration).padEnd(4)}a table does not fit the setting tables, or the command line or the configuration is wrong
`;
}
