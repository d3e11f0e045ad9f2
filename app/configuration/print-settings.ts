import { stringify } from 'yaml';
import { maskSecrets } from '../../settings/mask-secrets.ts';
import type { SchemaNode } from '../../settings/schema.ts';
import { type Settings, SettingsSchema } from '../../settings/settings.ts';

const schema = SettingsSchema as SchemaNode;

/** The settings with each secret, and the password inside the database's URL, replaced by `******`. */
function maskSettings(settings: Settings): Settings {
  return maskSecrets(schema, settings) as Settings;
}

function inSchemaOrder(node: SchemaNode, value: unknown): unknown {
  const { properties } = node;
  if (properties === undefined || typeof value !== 'object' || value === null) {
    return value;
  }
  const order = Object.keys(properties);
  const rank = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(entries.map(([key, child]) => [key, inSchemaOrder(properties[key] ?? {}, child)]));
}

/** The settings as a YAML document in the schema's order, secrets masked. */
export function printSettings(settings: Settings): string {
  return stringify(inSchemaOrder(schema, maskSettings(settings)), { lineWidth: 0 });
}
