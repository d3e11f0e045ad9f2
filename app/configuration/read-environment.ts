import { distance } from 'fastest-levenshtein';
import { formatPath, type SettingPath } from '../../settings/schema/document.ts';
import { isOpen, listBranch, type SchemaNode } from '../../settings/schema/schema.ts';
import {
  FREE_INDEX,
  FREE_KEY,
  FREE_VARIABLE_INDEX,
  FREE_VARIABLE_PART,
  listSettings,
  type SettingEntry,
  environmentName as snake,
  springEnvironmentName,
} from '../../settings/schema/setting-list.ts';
import { joinLists, type SettingValue } from './merge-values.ts';
import { convert } from './relaxed-binding.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const variableSource = (name: string): string => `environment variable ${name}`;

/** `KAFKA_BROKERS_0`, `KAFKA_BROKERS_1`, ... up to the first that is not there. */
function indexedNames(base: string, env: Environment): readonly string[] {
  const names: string[] = [];
  while (env[`${base}_${names.length}`] !== undefined) {
    names.push(`${base}_${names.length}`);
  }
  return names;
}

/** A setting whose free keys and positions are known. */
interface FoundSetting extends Pick<SettingEntry, 'path' | 'environmentName' | 'schema'> {
  readonly segments: SettingPath;
}

function readList({ segments, schema }: FoundSetting, base: string, env: Environment): readonly SettingValue[] {
  const names = indexedNames(base, env);
  if (names.length === 0) {
    return [];
  }
  const value = names.map((name) => convert(listBranch(schema)?.items, env[name]?.trim()));
  const innerSources = new Map(names.map((name, index) => [formatPath([...segments, index]), variableSource(name)]));
  return [{ path: segments, value, source: variableSource(`${base}_0`), innerSources }];
}

const namesOf = ({ environmentName, path }: FoundSetting): readonly string[] => [
  environmentName,
  springEnvironmentName(path),
];

function readSetting(setting: FoundSetting, env: Environment): readonly SettingValue[] {
  const names = namesOf(setting);
  const name = names.find((candidate) => env[candidate] !== undefined);
  if (name !== undefined) {
    return [{ path: setting.segments, value: convert(setting.schema, env[name]), source: variableSource(name) }];
  }
  return listBranch(setting.schema) !== undefined
    ? (names.map((base) => readList(setting, base, env)).find((found) => found.length > 0) ?? [])
    : [];
}

/** The variables that set a setting, as an expression: its free parts are groups, a list may have an index. */
function variableOf(pattern: string, { schema }: SettingEntry): RegExp {
  const end = listBranch(schema) === undefined ? '' : '(?:_\\d+)?';
  const free = pattern.replace(FREE_VARIABLE_INDEX, INDEX).replace(FREE_VARIABLE_PART, '(.+?)');
  return new RegExp(`^${free}${end}$`);
}

/** Up to 999: the positions below it that no variable names become empty items. */
const INDEX = '(0|[1-9]\\d{0,2})';

/** The free parts of a setting's name, in their order, as the variables that are there have them. */
function freeParts(setting: SettingEntry, env: Environment): readonly (readonly string[])[] {
  const found = namesOf(setting).flatMap((pattern) => {
    const variable = variableOf(pattern, setting);
    return Object.keys(env).flatMap((name) => {
      const match = variable.exec(name);
      return match === null ? [] : [match.slice(1)];
    });
  });
  return [...new Map(found.map((parts) => [parts.join(), parts])).values()];
}

/** In a free section an underscore begins the next level, as a dot does in the file. */
const variableKeys = ({ schema }: SettingEntry, part: string): readonly string[] =>
  isOpen(schema) ? part.toLowerCase().split('_') : [part.toLowerCase()];

function readFree(setting: SettingEntry, env: Environment): readonly SettingValue[] {
  return freeParts(setting, env).flatMap((parts) => {
    const filled = (name: string): string =>
      parts.reduce((text, part) => text.replace(/<n(?:ame)?>/i, () => part), name);
    const [index, name] = setting.segments.includes(FREE_INDEX) ? parts : [undefined, ...parts];
    const segments = setting.segments.flatMap((key): SettingPath => {
      const isName = key === FREE_KEY && name !== undefined;
      return key === FREE_INDEX ? [Number(index)] : isName ? variableKeys(setting, name) : [key];
    });
    const { schema } = setting;
    return readSetting(
      { schema, segments, path: filled(setting.path), environmentName: filled(setting.environmentName) },
      env,
    );
  });
}

/**
 * The settings that environment variables give. A setting's name has an underscore at each dot, capital and dash
 * (`KAFKA_GROUP_ID`); the form without the inner ones (`KAFKA_GROUPID`) counts where the first is not set. Lists are
 * comma-separated or have a variable for each item (`KAFKA_BROKERS_0`); a free name is in lower case: that of a label
 * after `MANAGEMENT_METRICS_TAGS_`, that of a column after `TABLES_0_COLUMNS_`. The items of a list of maps have a
 * number each (`TABLES_0_TOPIC`). A variable that names no setting is ignored.
 */
export function readEnvironment(schema: SchemaNode, env: Environment): readonly SettingValue[] {
  return joinLists(
    listSettings(schema).flatMap((setting) => (setting.isFree ? readFree(setting, env) : readSetting(setting, env))),
  );
}

/** A name without underscores: they are what people mix up most. */
const plain = (name: string): string => name.replaceAll('_', '');

/** Letters that may differ: two at most, and of a short name fewer. */
const MOST_WRONG_LETTERS = 2;

/** The documented variable that a name differs from in one letter or two, behind a first part that is the same. */
function nearestVariable(name: string, settings: readonly SettingEntry[]): string | undefined {
  const end = /_\d+$/.exec(name)?.[0] ?? '';
  const shape = name.slice(0, name.length - end.length).replaceAll(/_\d+(?=_)/g, `_${FREE_VARIABLE_INDEX}`);
  const distances = settings.flatMap(({ environmentName, segments, schema }) => {
    const prefix = `${snake(segments[0] ?? '')}_`;
    if (segments.includes(FREE_KEY) || !shape.startsWith(prefix) || (end !== '' && listBranch(schema) === undefined)) {
      return [];
    }
    const known = plain(environmentName.slice(prefix.length));
    const wrong = distance(plain(shape.slice(prefix.length)), known);
    return wrong <= Math.min(MOST_WRONG_LETTERS, Math.floor(known.length / 3)) ? [{ environmentName, wrong }] : [];
  });
  const [nearest] = distances.sort((one, other) => one.wrong - other.wrong);
  const [index = ''] = /_\d+(?=_)/.exec(name) ?? [];
  return nearest && `${nearest.environmentName.replace(`_${FREE_VARIABLE_INDEX}`, index)}${end}`;
}

/**
 * A warning for each environment variable that names no setting and differs in one letter or two from one that does,
 * such as `KAFKA_BROKER`. It has the name, never the value. There is none for a variable that was asked for, nor where
 * the variable that was most likely meant is set.
 *
 * @param asked names of placeholders in the file
 */
export function misspelledVariables(
  schema: SchemaNode,
  env: Environment,
  asked: ReadonlySet<string>,
): readonly string[] {
  const settings = listSettings(schema);
  const isKnown = (name: string) =>
    settings.some((setting) => namesOf(setting).some((pattern) => variableOf(pattern, setting).test(name)));
  return Object.keys(env).flatMap((name) => {
    const nearest = nearestVariable(name, settings);
    return nearest === undefined || env[nearest] !== undefined || asked.has(name) || isKnown(name)
      ? []
      : [`the environment variable ${name} names no setting and is ignored; did you mean ${nearest}?`];
  });
}
