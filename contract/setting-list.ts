import { isFreeMap, type SchemaNode } from './schema-node.ts';

/** One setting of a schema: a value, not the section around it. */
export interface SettingEntry {
  /** Keys from the root; the last one of a free map is left out, see `isMap`. */
  readonly segments: readonly string[];
  /** The keys with dots: `kafka.groupId`. */
  readonly path: string;
  /** The environment variable that is documented for it: `KAFKA_GROUP_ID`; of a map, what its variables begin with. */
  readonly environmentName: string;
  readonly schema: SchemaNode;
  /** Whether names below it are free, such as those of labels: each name is a setting then. */
  readonly isMap: boolean;
  /** Whether the application does not start without it (a value without default in a section that always exists). */
  readonly isRequired: boolean;
}

const upperSnake = (text: string): string => text.replaceAll(/[.-]/g, '_').toUpperCase();

/** The documented environment variable of a setting: an underscore at each dot, capital and dash. */
export const environmentName = (path: string): string => upperSnake(path.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** The environment variable as Spring Boot would name it: dots become underscores, dashes and capitals leave no trace. */
export const springEnvironmentName = (path: string): string => upperSnake(path.replaceAll('-', ''));

/** All settings of a schema in its order. */
export function listSettings(
  schema: SchemaNode,
  prefix: readonly string[] = [],
  isSectionPresent = true,
): readonly SettingEntry[] {
  const entry = (segments: readonly string[], node: SchemaNode, isMap: boolean, isRequired: boolean): SettingEntry => {
    const path = segments.join('.');
    return { segments, path, environmentName: environmentName(path), schema: node, isMap, isRequired };
  };
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const segments = [...prefix, key];
    const isThere = isSectionPresent && (schema.required ?? []).includes(key);
    return child.type === 'object'
      ? listSettings(child, segments, isThere)
      : [entry(segments, child, false, isThere && child.default === undefined)];
  });
  return isFreeMap(schema) ? [...named, entry(prefix, schema, true, false)] : named;
}
