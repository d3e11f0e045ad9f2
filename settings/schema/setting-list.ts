import { freeValue, isFreeMap, isListOfMaps, type SchemaNode } from './schema.ts';

/**
 * Is in a path where a key is free, such as the name of a label; {@link FREE_VARIABLE_PART} in a variable's name.
 */
export const FREE_KEY = '<name>';

/** Is in a path where a position in a list of maps is free; {@link FREE_VARIABLE_INDEX} in a variable's name. */
export const FREE_INDEX = '<n>';

/** Is in the name of an environment variable where {@link FREE_KEY} is in the path. */
export const FREE_VARIABLE_PART = '<NAME>';

/** Is in the name of an environment variable where {@link FREE_INDEX} is in the path. */
export const FREE_VARIABLE_INDEX = '<N>';

/** One setting of a schema: a value, not the section around it. */
export interface SettingEntry {
  /**
   * Keys from the root; {@link FREE_KEY} or {@link FREE_INDEX} where any may be, each of which is another setting
   * then.
   */
  readonly segments: readonly string[];
  /** The keys with dots, positions in brackets: `kafka.groupId`, `tables[<n>].topic`. */
  readonly path: string;
  /** The environment variable that is documented for it: `KAFKA_GROUP_ID`. */
  readonly environmentName: string;
  readonly schema: SchemaNode;
  /** Whether {@link FREE_KEY} or {@link FREE_INDEX} is one of the keys. */
  readonly isFree: boolean;
  /** Whether the application does not start without it (a value without default in a section that always exists). */
  readonly isRequired: boolean;
  /** Whether it has to be there once anything else of its section is, a section that may be missing itself. */
  readonly isRequiredInSection: boolean;
}

const upperSnake = (text: string): string => text.replaceAll(']', '').replaceAll(/[.[-]/g, '_').toUpperCase();

/** The documented environment variable of a setting: an underscore at each dot, capital and dash. */
export const environmentName = (path: string): string => upperSnake(path.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'));

/**
 * The environment variable as Spring Boot would name it: dots become underscores, dashes and capitals leave no trace.
 */
export const springEnvironmentName = (path: string): string => upperSnake(path.replaceAll('-', ''));

/** A section on the way to its settings. */
interface Section {
  readonly segments: readonly string[];
  /** Whether the finished settings always have it. */
  readonly isPresent: boolean;
}

/** A path of {@link SettingEntry.segments}. */
export const pathOf = (segments: readonly string[]): string =>
  segments.reduce((path, key) => (key === FREE_INDEX ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`), '');

function entryOf(schema: SchemaNode, segments: readonly string[]): SettingEntry {
  const path = pathOf(segments);
  const name = environmentName(path);
  const isFree = segments.includes(FREE_KEY) || segments.includes(FREE_INDEX);
  return { segments, path, environmentName: name, schema, isFree, isRequired: false, isRequiredInSection: false };
}

function childEntries(key: string, child: SchemaNode, isNeeded: boolean, section: Section): readonly SettingEntry[] {
  const segments = [...section.segments, key];
  if (child.type === 'object') {
    return listSettings(child, { segments, isPresent: section.isPresent && isNeeded });
  }
  if (isListOfMaps(child)) {
    return listSettings(child.items, { segments: [...segments, FREE_INDEX], isPresent: false });
  }
  const isMandatory = isNeeded && child.default === undefined;
  return [
    {
      ...entryOf(child, segments),
      isRequired: isMandatory && section.isPresent,
      isRequiredInSection: isMandatory && !section.isPresent,
    },
  ];
}

/**
 * All settings of a schema in its order.
 *
 * @param section where the schema is. @default the root
 */
export function listSettings(
  schema: SchemaNode,
  section: Section = { segments: [], isPresent: true },
): readonly SettingEntry[] {
  const required = schema.required ?? [];
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
    childEntries(key, child, required.includes(key), section),
  );
  if (!isFreeMap(schema)) {
    return named;
  }
  const value = freeValue(schema) ?? {};
  const entry = { ...value, description: value.description ?? schema.description ?? '' };
  return [...named, ...childEntries(FREE_KEY, entry, false, section)];
}
