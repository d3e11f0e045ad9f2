import { stringify } from 'yaml';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { maskSecrets } from '../../settings/schema/mask-secrets.ts';
import { describeProblems, type Problem } from '../../settings/schema/problem.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { allowedValues } from '../../settings/schema/schema-problems.ts';
import { listSettings } from '../../settings/schema/setting-list.ts';
import { type Settings, SettingsSchema, settingsWarnings } from '../../settings/settings.ts';
import {
  CONFIG_FILE_PLACES,
  type LoadedAtStart,
  type LoadedSettings,
  loadSettings,
  settingsReloading,
} from '../configuration/load-settings.ts';
import { FILE_RULES } from '../credentials/tls-files.ts';
import { SCHEMA_FILE_RULES } from '../formats/schema-files.ts';
import { type CommandRequest, exitCodesHelp } from './command/command.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { COMMANDS } from './commands.ts';

/** The consumer or the command to run with its settings, or the output and exit code to end with. */
export type Decision =
  | {
      readonly kind: 'run';
      readonly settings: Settings;
      /** What the settings allow and a person may not have meant. */
      readonly warnings: readonly string[];
      readonly reload: () => LoadedSettings;
    }
  | { readonly kind: 'command'; readonly settings: Settings; readonly request: CommandRequest }
  | { readonly kind: 'exit'; readonly code: number; readonly stdout?: string; readonly stderr?: string };

function refuseWith(what: string, problems: readonly Problem[], hint: string): Decision {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const stderr = `${what}: ${count}; nothing was started.\n\n${describeProblems(problems)}\n\n${hint}\n`;
  return { kind: 'exit', code: EXIT_CODE.configuration, stderr };
}

const warningLines = (warnings: readonly string[]): string =>
  warnings.map((warning) => `warning: ${warning}\n`).join('');

function refuseSettings(
  problems: readonly Problem[],
  { configFile, warnings }: Pick<LoadedAtStart, 'configFile' | 'warnings'>,
): Decision {
  const read =
    configFile === undefined
      ? `No configuration file was named, and none is at ${CONFIG_FILE_PLACES.join(' or ')}.`
      : `The configuration file is ${configFile}.`;
  return refuseWith(
    'The configuration is wrong',
    problems,
    `${warningLines(warnings)}${read} --help lists the settings.`,
  );
}

function settle(loaded: LoadedAtStart, { check, request }: CommandLine, reload: () => LoadedSettings): Decision {
  if (!loaded.ok) {
    return refuseSettings(loaded.problems, loaded);
  }
  if (request !== undefined) {
    return { kind: 'command', settings: loaded.value, request };
  }
  const warnings = [...loaded.warnings, ...settingsWarnings(loaded.value)];
  return check
    ? { kind: 'exit', code: EXIT_CODE.ok, stdout: printSettings(loaded.value), stderr: warningLines(warnings) }
    : { kind: 'run', settings: loaded.value, warnings, reload };
}

/**
 * Decides by the command line and the environment; nothing is done but reading files.
 *
 * @param argv arguments without the program's own two, `process.argv.slice(2)`.
 * @param env the process's environment.
 * @param cwd folder that relative paths begin at, and where the configuration file is looked for.
 */
export function configure(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Decision {
  const commandLine = parseCommandLine(argv);
  const { command } = commandLine;
  if (commandLine.help) {
    return { kind: 'exit', code: EXIT_CODE.ok, stdout: command?.help?.() ?? helpText() };
  }
  if (commandLine.version) {
    return { kind: 'exit', code: EXIT_CODE.ok, stdout: `${PRODUCT_NAME} ${PRODUCT_VERSION}\n` };
  }
  if (commandLine.problems.length > 0) {
    return refuseWith('The command line is wrong', commandLine.problems, '--help lists the options.');
  }
  const { config, configTree } = commandLine;
  const rules = command?.fileRules ?? [...FILE_RULES, ...SCHEMA_FILE_RULES];
  const sources = { configFile: config, configTree, env, cwd };
  // Files that settings name are looked at again where they are used: a broken one keeps no password from being taken.
  return settle(loadSettings({ ...sources, rules }), commandLine, settingsReloading(sources));
}

function inSchemaOrder(node: SchemaNode, value: unknown): unknown {
  const { properties } = node;
  if (properties === undefined || typeof value !== 'object' || value === null) {
    return value;
  }
  const order = Object.keys(properties);
  const rank = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(entries.map(([key, child]) => [key, inSchemaOrder(properties[key] ?? {}, child)]));
}

/** The settings as YAML in the schema's order; each secret, and the password in the database's URL, is `******`. */
export function printSettings(settings: Settings): string {
  const schema = SettingsSchema as SchemaNode;
  return stringify(inSchemaOrder(schema, maskSecrets(schema, settings)), { lineWidth: 0 });
}

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
function helpText(): string {
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
