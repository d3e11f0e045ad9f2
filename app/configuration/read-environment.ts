import type { SchemaNode } from '../../contract/schema-node.ts';
import { listSettings, type SettingEntry, springEnvironmentName } from '../../contract/setting-list.ts';
import { convert } from './convert-text.ts';
import type { SettingValue } from './setting-value.ts';

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

function readMap({ segments, environmentName, schema }: SettingEntry, env: Environment): readonly SettingValue[] {
  const prefix = `${environmentName}_`;
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && name.length > prefix.length)
    .map((name) => ({
      path: [...segments, name.slice(prefix.length).toLowerCase()],
      value: convert(Object.values(schema.patternProperties ?? {})[0], env[name]),
      source: sourceOf(name),
    }));
}

function readSetting(setting: SettingEntry, env: Environment): readonly SettingValue[] {
  if (setting.isMap) {
    return readMap(setting, env);
  }
  const names = [setting.environmentName, springEnvironmentName(setting.path)];
  const name = names.find((candidate) => env[candidate] !== undefined);
  if (name !== undefined) {
    return [{ path: setting.segments, value: convert(setting.schema, env[name]), source: sourceOf(name) }];
  }
  return setting.schema.type === 'array'
    ? (names.map((base) => readList(setting, base, env)).find((found) => found.length > 0) ?? [])
    : [];
}

/**
 * The settings that environment variables give. A setting's name has an underscore at each dot, capital and dash
 * (`KAFKA_GROUP_ID`); the form without the inner ones (`KAFKA_GROUPID`) counts where the first is not set. Lists are
 * comma-separated or have a variable for each item (`KAFKA_BROKERS_0`); labels are named in lower case after
 * `MANAGEMENT_METRICS_TAGS_`. A variable that names no setting is none of ours, so it is ignored.
 */
export function readEnvironment(schema: SchemaNode, env: Environment): readonly SettingValue[] {
  return listSettings(schema).flatMap((setting) => readSetting(setting, env));
}
