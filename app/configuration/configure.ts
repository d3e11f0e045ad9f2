import { PRODUCT_NAME } from '../../contract/identity.ts';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { describeProblems, type Problem } from '../../settings/problem.ts';
import type { Settings } from '../../settings/settings.ts';
import type { DeadLettersRequest } from '../dead-letters/dead-letters-request.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { deadLettersHelp } from './dead-letters-help.ts';
import { certificateFiles, databaseUrlFiles } from './file-rules.ts';
import { CONFIG_FILE_PLACES } from './find-config-file.ts';
import { helpText } from './help-text.ts';
import { type LoadedSettings, loadSettings } from './load-settings.ts';
import { printSettings } from './print-settings.ts';

/** What the process has to do: run with these settings, see to dead letters, or print and end. */
export type Decision =
  | { readonly kind: 'run'; readonly settings: Settings }
  | { readonly kind: 'dead-letters'; readonly settings: Settings; readonly request: DeadLettersRequest }
  | { readonly kind: 'migrate'; readonly settings: Settings }
  | { readonly kind: 'exit'; readonly code: number; readonly stdout?: string; readonly stderr?: string };

function refuse(what: string, problems: readonly Problem[], hint: string): Decision {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const stderr = `${what}: ${count}; nothing was started.\n\n${describeProblems(problems)}\n\n${hint}\n`;
  return { kind: 'exit', code: EXIT_CODE.configuration, stderr };
}

function refuseSettings(problems: readonly Problem[], configFile: string | undefined): Decision {
  const read =
    configFile === undefined
      ? `No configuration file was named, and none is at ${CONFIG_FILE_PLACES.join(' or ')}.`
      : `The configuration file is ${configFile}.`;
  return refuse('The configuration is wrong', problems, `${read} --help lists the settings.`);
}

function settle(loaded: LoadedSettings, { check, deadLetters, isMigrate }: CommandLine): Decision {
  if (!loaded.ok) {
    return refuseSettings(loaded.problems, loaded.configFile);
  }
  if (deadLetters) {
    return { kind: 'dead-letters', settings: loaded.value, request: deadLetters };
  }
  if (isMigrate) {
    return { kind: 'migrate', settings: loaded.value };
  }
  return check
    ? { kind: 'exit', code: EXIT_CODE.ok, stdout: printSettings(loaded.value) }
    : { kind: 'run', settings: loaded.value };
}

/**
 * From the command line and the environment to a decision; only files are read for it.
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
  if (commandLine.help) {
    return { kind: 'exit', code: EXIT_CODE.ok, stdout: commandLine.isDeadLetters ? deadLettersHelp() : helpText() };
  }
  if (commandLine.version) {
    return { kind: 'exit', code: EXIT_CODE.ok, stdout: `${PRODUCT_NAME} ${PRODUCT_VERSION}\n` };
  }
  if (commandLine.problems.length > 0) {
    return refuse('The command line is wrong', commandLine.problems, '--help lists the options.');
  }
  const { config, configTree, deadLetters } = commandLine;
  const rules = deadLetters ? [databaseUrlFiles] : [databaseUrlFiles, certificateFiles];
  return settle(loadSettings({ configFile: config, configTree, env, cwd, rules }), commandLine);
}
