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
  /** Whether it has to be there once anything else of its section is, a section that may be missing itself. */
  readonly isRequiredInSection: boolean;
}

const upperSnake = (text: string): string => text.replaceAll(/[.-]/g, '_').toUpperCase();

/** The documented environment variable of a setting: an underscore at each dot, capital and dash. */
export const environmentName = (path: string): string => upperSnake(path.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** The environment variable as Spring Boot would name it: dots become underscores, dashes and capitals leave no trace. */
export const springEnvironmentName = (path: string): string => upperSnake(path.replaceAll('-', ''));

/** A section on the way to its settings. */
interface Section {
  readonly segments: readonly string[];
  /** Whether the finished settings always have it. */
  readonly isPresent: boolean;
}

function entryOf(schema: SchemaNode, segments: readonly string[]): SettingEntry {
  const path = segments.join('.');
  const name = environmentName(path);
  return { segments, path, environmentName: name, schema, isMap: false, isRequired: false, isRequiredInSection: false };
}

function childEntries(key: string, child: SchemaNode, isNeeded: boolean, section: Section): readonly SettingEntry[] {
  const segments = [...section.segments, key];
  if (child.type === 'object') {
    return listSettings(child, { segments, isPresent: section.isPresent && isNeeded });
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
 * @param section where the schema stands. @default the root
 */
export function listSettings(
  schema: SchemaNode,
  section: Section = { segments: [], isPresent: true },
): readonly SettingEntry[] {
  const required = schema.required ?? [];
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
    childEntries(key, child, required.includes(key), section),
  );
  return isFreeMap(schema) ? [...named, { ...entryOf(schema, section.segments), isMap: true }] : named;
}
