import { basename } from 'node:path';
import { parseCommandLine } from './command-line.ts';
import type { SettingsSources } from './load-settings.ts';

/** The program whose options are meant, under the name that the image starts it by. */
const PROGRAM = 'main.js';

/**
 * Where another process was told to find its configuration.
 *
 * @param commandLine a `/proc/PID/cmdline`: words that each end with NUL. An init that only starts the consumer has the
 * consumer's words in it, too; without the consumer in it nothing is found.
 */
export function optionsOfProcess(commandLine: string): Pick<SettingsSources, 'configFile' | 'configTree'> {
  const words = commandLine.split('\0').slice(0, -1);
  const program = words.findIndex((word) => basename(word) === PROGRAM);
  const { config, configTree } = parseCommandLine(program === -1 ? [] : words.slice(program + 1));
  return { configFile: config, configTree };
}
