import { isOpen, type SchemaNode } from '../../settings/schema.ts';
import {
  FREE_KEY,
  FREE_VARIABLE_PART,
  listSettings,
  type SettingEntry,
  springEnvironmentName,
} from '../../settings/setting-list.ts';
import type { SettingValue } from './merge-values.ts';
import { convert } from './relaxed-binding.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const sourceOf = (name: string): string => `environment variable ${name}`;

/** `KAFKA_BROKERS_0`, `KAFKA_BROKERS_1`, ... up to the first that is not there. */
function indexedNames(base: string, env: Environment): readonly string[] {
  const names: string[] = [];
  while (env[`${base}_${names.length}`] !== undefined) {
    names.push(`${base}_${names.length}`);
  }
  return names;
}

function readList({ segments, schema }: SettingEntry, base: string, env: Environment): readonly SettingValue[] {
  const names = indexedNames(base, env);
  if (names.length === 0) {
    return [];
  }
  const value = names.map((name) => convert(schema.items, env[name]?.trim()));
  return [{ path: segments, value, source: sourceOf(`${base}_0`), itemSources: names.map(sourceOf) }];
}

const namesOf = ({ environmentName, path }: SettingEntry): readonly string[] => [
  environmentName,
  springEnvironmentName(path),
];

function readSetting(setting: SettingEntry, env: Environment): readonly SettingValue[] {
  const names = namesOf(setting);
  const name = names.find((candidate) => env[candidate] !== undefined);
  if (name !== undefined) {
    return [{ path: setting.segments, value: convert(setting.schema, env[name]), source: sourceOf(name) }];
  }
  return setting.schema.type === 'array'
    ? (names.map((base) => readList(setting, base, env)).find((found) => found.length > 0) ?? [])
    : [];
}

/** The parts of the variables' names at the place where the setting's name is free. */
function freeParts(setting: SettingEntry, env: Environment): readonly string[] {
  const parts = namesOf(setting).flatMap((pattern) => {
    const [before = '', after = ''] = pattern.split(FREE_VARIABLE_PART);
    const end = setting.schema.type === 'array' ? `${after}(?:_\\d+)?` : after;
    const variable = new RegExp(`^${before}(.+?)${end}$`);
    return Object.keys(env).flatMap((name) => variable.exec(name)?.[1] ?? []);
  });
  return [...new Set(parts)];
}

/** In a free section an underscore begins the next level, as a dot does in the file. */
const keysOf = ({ schema }: SettingEntry, part: string): readonly string[] =>
  isOpen(schema) ? part.toLowerCase().split('_') : [part.toLowerCase()];

function readMap(setting: SettingEntry, env: Environment): readonly SettingValue[] {
  return freeParts(setting, env).flatMap((part) => {
    const keys = keysOf(setting, part);
    const segments = setting.segments.flatMap((key) => (key === FREE_KEY ? keys : [key]));
    const environmentName = setting.environmentName.replace(FREE_VARIABLE_PART, part);
    const path = setting.path.replace(FREE_KEY, part);
    return readSetting({ ...setting, segments, path, environmentName }, env);
  });
}

/**
 * The settings that environment variables give. A setting's name has an underscore at each dot, capital and dash
 * (`KAFKA_GROUP_ID`); the form without the inner ones (`KAFKA_GROUPID`) counts where the first is not set. Lists are
 * comma-separated or have a variable for each item (`KAFKA_BROKERS_0`); a free name is in lower case: that of a label
 * after `MANAGEMENT_METRICS_TAGS_`, that of a group after `MANAGEMENT_ENDPOINT_HEALTH_GROUP_`. A variable that names no
 * setting is ignored.
 */
export function readEnvironment(schema: SchemaNode, env: Environment): readonly SettingValue[] {
  return listSettings(schema).flatMap((setting) => (setting.isMap ? readMap(setting, env) : readSetting(setting, env)));
}
