import { Type } from 'typebox';
import type { SettingPath } from '../settings/document.ts';
import type { SchemaNode } from '../settings/schema.ts';
import { SettingsSchema } from '../settings/settings.ts';

/** The user's name at the brokers is not secret, but it may come from the Secret that holds the password. */
const MAY_COME_FROM_SECRET: readonly string[] = ['kafka.sasl.username'];

const FROM_SECRET = 'Left out: it comes from the Secret with the password.';

const isSecret = (node: SchemaNode): boolean => (node['x-secret'] ?? false) !== false;

function secretPaths(node: SchemaNode, path: SettingPath = []): SettingPath[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) =>
    isSecret(child) ? [[...path, key]] : secretPaths(child, [...path, key]),
  );
}

/** Paths in application.yml of everything that must never stand in a manifest. */
export const SECRET_SETTINGS: readonly SettingPath[] = secretPaths(SettingsSchema as SchemaNode);

const SECRET_HOME: Readonly<Record<string, string>> = {
  database: 'database',
  kafka: 'kafka',
  management: 'monitoring.credentials',
  spring: 'monitoring.springBootAdmin',
};

/** The key of consumer.yaml that names the Secret of a secret setting. */
export const secretHome = (path: SettingPath): string => `${SECRET_HOME[String(path[0])]}.existingSecret`;

function withoutSecrets(node: SchemaNode, path: string): SchemaNode {
  if (node.properties === undefined) {
    return node;
  }
  const kept = Object.entries(node.properties).filter(([, child]) => !isSecret(child));
  const isRequired = (key: string): boolean =>
    kept.some(([name]) => name === key) && !MAY_COME_FROM_SECRET.includes(`${path}${key}`);
  const described = (child: SchemaNode, name: string): SchemaNode =>
    MAY_COME_FROM_SECRET.includes(name) ? { ...child, description: `${child.description} ${FROM_SECRET}` } : child;
  return {
    ...node,
    properties: Object.fromEntries(
      kept.map(([key, child]) => [key, withoutSecrets(described(child, `${path}${key}`), `${path}${key}.`)]),
    ),
    ...(node.required === undefined ? {} : { required: node.required.filter(isRequired) }),
  };
}

/**
 * The schema of `application` in consumer.yaml: the consumer's own settings without the secrets, which come from
 * Secrets that exist in the cluster. `database` may be missing: all that is left of it has defaults.
 */
export function applicationPart() {
  const settings = JSON.parse(JSON.stringify(SettingsSchema)) as SchemaNode;
  const { $id: _id, title: _title, ...part } = withoutSecrets(settings, '') as SchemaNode & { $id?: string };
  return Type.Unsafe<Record<string, unknown>>({
    ...part,
    properties: { ...part.properties, database: { ...part.properties?.['database'], default: {} } },
    description: 'Settings of the consumer, as in application.yml; they go into the ConfigMap.',
  });
}
