import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shownFile } from './shown-file.ts';

/** Where `application.yml` is looked for when nobody names a file, in this order, below the working directory. */
export const CONFIG_FILE_PLACES = ['application.yml', join('config', 'application.yml')] as const;

/** The configuration file to read. */
export interface ConfigFile {
  readonly path: string;
  /** The name for messages: as the user wrote it, as far as that may be shown, or where it was found. */
  readonly name: string;
  /** What named it: `--config` or `CONFIG_FILE`; left out when it was found at one of the usual places. */
  readonly namedBy?: string;
}

/**
 * Finds the configuration file: the one named on the command line, else by the variable `CONFIG_FILE`, else at the first
 * of the usual places. An empty variable names nothing.
 *
 * @returns `undefined` when no file is named and none is there: the environment may hold everything.
 */
export function findConfigFile(
  named: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): ConfigFile | undefined {
  if (named !== undefined) {
    return { path: resolve(cwd, named), name: shownFile(named, cwd), namedBy: '--config' };
  }
  const variable = env['CONFIG_FILE'];
  if (variable !== undefined && variable !== '') {
    return { path: resolve(cwd, variable), name: shownFile(variable, cwd), namedBy: 'CONFIG_FILE' };
  }
  const place = CONFIG_FILE_PLACES.find((candidate) => existsSync(join(cwd, candidate)));
  return place === undefined ? undefined : { path: join(cwd, place), name: place };
}
