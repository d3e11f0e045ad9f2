import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { allowedValues } from '../../settings/schema/schema-problems.ts';
import { listSettings } from '../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { exitCodesHelp } from './command/command.ts';
import { COMMANDS } from './commands.ts';

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
  const commands = COMMANDS.map(({ name, usage }) => `       ${PRODUCT_NAME} ${name} ${usage}`);
  return `Usage: ${PRODUCT_NAME} [--config FILE] [--config-tree DIR] [--check]
${commands.join('\n')}

Writes the records of Kafka topics to PostgreSQL, each exactly once. Records that PostgreSQL cannot store are dead letters:
dead-letters --help says how to see them and how to move those that fit later. migrate creates or upgrades the tables and
exits; the consumer does it itself unless DATABASE_MIGRATE=false. offsets --help is for topics that were created again.
tables --help says how to print tables for topics, and how to check them before they take records. doctor looks at all that
the consumer needs, and exits.

Options:
  --config FILE       the configuration, YAML [CONFIG_FILE, else ./application.yml, else ./config/application.yml]
  --config-tree DIR   a folder of secret files, such as a mounted Secret. The file database/password or
                      database.password holds that setting [CONFIG_TREE].
  --check             check the configuration, print it with secrets masked, and exit
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the defaults, over them from the YAML file, the config tree and the environment. In the file,
\${NAME} and \${NAME:default} are replaced by environment variables and by files of the config tree. The main ones by their
environment variables (docs/settings.md lists them all):
${environmentTable()}

${exitCodesHelp({
  ok: 'stopped by SIGTERM or SIGINT after everything was written; --check, --help and --version succeeded',
  failed: 'a fatal error; one line of the log says what and where',
  configuration:
    'the command line or the configuration is wrong, or the group writes into another schema; nothing was written',
})}
`;
}
