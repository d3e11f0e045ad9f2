import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Checked, Rule } from '../../settings/schema/check.ts';
import type { Problem } from '../../settings/schema/problem.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { environmentName } from '../../settings/schema/setting-list.ts';
import { shownPath } from '../../settings/schema/shown-value.ts';
import { checkSettings, type Settings, SettingsSchema } from '../../settings/settings.ts';
import { readText, shownFile } from '../credentials/named-file.ts';
import { type MergedValues, mergeValues, type SettingValue } from './merge-values.ts';
import { misspelledVariables, readEnvironment } from './read-environment.ts';
import { readYaml, type YamlInput, type YamlSettings } from './read-yaml.ts';
import { bindKey, convert } from './relaxed-binding.ts';

/** The sources of settings. */
export interface SettingsSources {
  /**
   * The configuration file. @default the one that `CONFIG_FILE` names, else `./application.yml`, else
   * `./config/application.yml`, else none
   */
  readonly configFile?: string | undefined;
  /** Folder of secret files. @default the one that `CONFIG_TREE` names, else none */
  readonly configTree?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths begin at. */
  readonly cwd: string;
  /** Conditions beyond those of the settings themselves, such as on files that they name. @default none */
  readonly rules?: readonly Rule<Settings>[];
}

/** The settings, or everything that is wrong with them. */
export type LoadedSettings = Checked<Settings> & {
  /** The configuration file that was read, as it was named or found; `undefined` when there is none. */
  readonly configFile: string | undefined;
};

/** The settings of a start. */
export type LoadedAtStart = LoadedSettings & {
  /** What is not wrong and most likely not meant: variables whose name is nearly that of a setting. */
  readonly warnings: readonly string[];
};

const schema = SettingsSchema as SchemaNode;

/**
 * Loads the settings: defaults, over them the YAML file, over that the config tree, over all the environment. It reads
 * files and changes nothing.
 *
 * @returns the complete, frozen settings, or all problems at once, each with the place of its value. A file that cannot
 * be read is the only problem reported: its content may be all that is missing.
 */
export function loadSettings(sources: SettingsSources): LoadedAtStart {
  const asked = new Set<string>();
  const loaded = loadOver(sources, () => readEnvironment(schema, sources.env), asked);
  return { ...loaded, warnings: misspelledVariables(schema, sources.env, asked) };
}

/**
 * Loads them again and again, as {@link loadSettings} does. The environment of a process never changes, so it is read
 * once: all settings are looked for in it, and that is half of the work.
 */
export function settingsReloading(sources: SettingsSources): () => LoadedSettings {
  let ofEnvironment: ReturnType<typeof readEnvironment> | null = null;
  return () =>
    loadOver(sources, () => {
      ofEnvironment ??= readEnvironment(schema, sources.env);
      return ofEnvironment;
    });
}

/** @param asked receives the variables that placeholders name. @default nothing does */
function loadOver(
  sources: SettingsSources,
  ofEnvironment: () => ReturnType<typeof readEnvironment>,
  asked = new Set<string>(),
): LoadedSettings {
  const { env } = sources;
  const tree = readTree(sources);
  const lookup = (name: string): string | undefined => {
    asked.add(name).add(environmentName(name));
    return env[name] ?? env[environmentName(name)] ?? tree.read.lookup(name);
  };
  const file = findConfigFile(sources.configFile, env, sources.cwd);
  const yaml = file === undefined ? { values: [], problems: [] } : readSettings(file, sources, lookup);
  const problems = [...tree.problems, ...yaml.problems];
  const configFile = file?.name;
  if (problems.length > 0) {
    return { configFile, ok: false, problems };
  }
  const merged = mergeValues([...yaml.values, ...tree.read.values, ...ofEnvironment()]);
  return { ...check(merged, sources.rules), configFile };
}

const REASON: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  NOT_A_FILE: 'is not a regular file',
  TOO_LARGE: 'is larger than 1 MiB',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

/** @param problem the setting or option that names the file or folder, and the allowed values */
function unreadableFile(error: unknown, problem: Pick<Problem, 'path' | 'given' | 'allowed'>, cwd: string): Problem {
  const { code = '', path: place } = error as NodeJS.ErrnoException;
  const reason = REASON[code] ?? `cannot be read (${code || 'for an unknown reason'})`;
  const source = place === undefined ? {} : { source: shownFile(place, cwd) };
  return { ...problem, message: `names something that ${reason}`, ...source };
}

function unreadableTree(error: unknown, { configTree, env, cwd }: SettingsSources): Problem {
  const path = configTree === undefined ? 'CONFIG_TREE' : '--config-tree';
  const given = shownFile(configTree ?? env['CONFIG_TREE'] ?? '', cwd);
  return unreadableFile(error, { path, given, allowed: 'a folder of readable files' }, cwd);
}

/** Files that were read, or the reasons why they cannot be. */
interface ReadFiles<T> {
  readonly read: T;
  readonly problems: readonly Problem[];
}

function readTree(sources: SettingsSources): ReadFiles<ConfigTree> {
  const { configTree, env, cwd } = sources;
  const folder = configTree ?? (env['CONFIG_TREE'] || undefined);
  const none: ConfigTree = { values: [], lookup: () => undefined };
  if (folder === undefined) {
    return { read: none, problems: [] };
  }
  try {
    return { read: readConfigTree(schema, resolve(cwd, folder)), problems: [] };
  } catch (error) {
    return { read: none, problems: [unreadableTree(error, sources)] };
  }
}

function readFile({ path, name, namedBy }: ConfigFile, cwd: string): ReadFiles<string> {
  try {
    return { read: readText(path), problems: [] };
  } catch (error) {
    const problem = { path: namedBy ?? 'the configuration file', given: name, allowed: 'a readable YAML file' };
    return { read: '', problems: [unreadableFile(error, problem, cwd)] };
  }
}

/** A placeholder may name a file of the config tree that cannot be read. */
function readSettings(file: ConfigFile, sources: SettingsSources, lookup: YamlInput['lookup']): YamlSettings {
  const { read: text, problems } = readFile(file, sources.cwd);
  if (problems.length > 0) {
    return { values: [], problems };
  }
  try {
    return readYaml({ text, name: file.name, schema, lookup });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path === undefined) {
      throw error;
    }
    return { values: [], problems: [unreadableTree(error, sources)] };
  }
}

/** The source of the value at a path, or else, in a list, of what contains it. */
function sourceAt(path: string, sources: MergedValues['sources']): string | undefined {
  const source = sources.get(path);
  return source === undefined && path.includes('[')
    ? sourceAt(path.slice(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('['))), sources)
    : source;
}

function withSource(problem: Problem, { sources }: MergedValues): Problem {
  const source = sourceAt(problem.path, sources);
  return source === undefined || problem.source !== undefined ? problem : { ...problem, source };
}

function check(merged: MergedValues, rules: SettingsSources['rules']): Checked<Settings> {
  const checked = checkSettings(merged.document, rules);
  const known = new Set(merged.problems.map(({ path }) => path));
  const found = checked.ok ? [] : checked.problems.filter(({ path }) => !known.has(path));
  const problems = [...merged.problems, ...found.map((problem) => withSource(problem, merged))];
  return problems.length === 0
    ? checked
    : { ok: false, problems: problems.map((problem) => ({ ...problem, path: shownPath(schema, problem.path) })) };
}

/** The usual places of `application.yml`, in this order, below the working directory. */
export const CONFIG_FILE_PLACES = ['application.yml', join('config', 'application.yml')] as const;

/** The configuration file to read. */
interface ConfigFile {
  readonly path: string;
  /** The name for messages: as the user wrote it, secrets masked, or the place where it was found. */
  readonly name: string;
  /** `--config` or `CONFIG_FILE`; left out when the file was found at one of the usual places. */
  readonly namedBy?: string;
}

/**
 * Finds the configuration file: the one named on the command line, else by the variable `CONFIG_FILE`, else at the
 * first of the usual places. An empty variable names nothing.
 *
 * @returns `undefined` when no file is named and none is there: the environment may hold everything.
 */
function findConfigFile(
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

/** A mounted directory of secret files. */
interface ConfigTree {
  /** The values of the files that name a setting. */
  readonly values: readonly SettingValue[];
  /** The content of the file with a dotted name, for placeholders; `undefined` when there is none. */
  readonly lookup: (name: string) => string | undefined;
}

/** Deeper than any setting; a symbolic link to a folder above is not followed for ever. */
const DEEPEST = 8;

function listFiles(folder: string, prefix: string, depth: number): readonly (readonly [string, string])[] {
  if (depth > DEEPEST) {
    return [];
  }
  // Kubernetes keeps the real files in folders such as ..data, with links to them beside these folders.
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const dotted = prefix === '' ? name : `${prefix}.${name}`;
    return statSync(path).isDirectory() ? listFiles(path, dotted, depth + 1) : [[dotted, path] as const];
  });
}

const readSecret = (path: string): string => readText(path).replace(/\r?\n$/, '');

/**
 * Reads a config tree: a file's path below the folder, with its slashes as dots, is the name of a setting
 * (`database/password` or `database.password`), and its content without the last line break is the value.
 *
 * @throws the file system's error when the folder or a file that names a setting cannot be read.
 */
function readConfigTree(schema: SchemaNode, folder: string): ConfigTree {
  const files = listFiles(folder, '', 1);
  const values = files.flatMap(([name, path]): readonly SettingValue[] => {
    const bound = bindKey(schema, name);
    return bound.schema === undefined || bound.schema.type === 'object'
      ? []
      : [
          {
            path: bound.segments,
            value: convert(bound.schema, readSecret(path)),
            source: `config tree file ${path}`,
          },
        ];
  });
  const paths = new Map(files);
  const lookup = (name: string): string | undefined => {
    const path = paths.get(name);
    return path === undefined ? undefined : readSecret(path);
  };
  return { values, lookup };
}
