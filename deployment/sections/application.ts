import { Type } from 'typebox';
import { CONTAINER_PATH } from '../../contract/container.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { formatPath, isSection, type Section, type SettingPath, sectionOf } from '../../settings/schema/document.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { camelCase, childSchema, type SchemaNode } from '../../settings/schema/schema.ts';
import { asksTokenEndpoint, provesPassword } from '../../settings/sections/kafka-sasl.ts';
import { type Settings, SettingsSchema } from '../../settings/settings.ts';
import { type CertificateSources, withCertificates } from './certificates.ts';
import type { MonitoringSettings } from './monitoring.ts';

/** The names of users are not secret, but each may come from the Secret that holds the password. */
const MAY_COME_FROM_SECRET: readonly string[] = ['kafka.sasl.username', 'schemaRegistry.username'];

const COMES_FROM_SECRET = 'Left out: it comes from the Secret with the password.';

const isSecret = (node: SchemaNode): boolean => (node['x-secret'] ?? false) !== false;

function secretPaths(node: SchemaNode, path: SettingPath = []): SettingPath[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) =>
    isSecret(child) ? [[...path, key]] : secretPaths(child, [...path, key]),
  );
}

/** Paths in application.yml of everything that must never be in a manifest. */
export const SECRET_SETTINGS: readonly SettingPath[] = secretPaths(SettingsSchema as SchemaNode);

const SECRET_HOME: Readonly<Record<string, string>> = {
  database: 'database',
  kafka: 'kafka',
  schemaRegistry: 'schemaRegistry',
  management: 'monitoring.credentials',
  spring: 'monitoring.springBootAdmin',
};

/** The key of consumer.yaml that names the Secret of a secret setting. */
export const secretHome = ([server, section]: SettingPath): string =>
  `${section === 'tls' ? `${server}.tls.clientCertificate` : SECRET_HOME[String(server)]}.existingSecret`;

function withoutSecrets(node: SchemaNode, path: string): SchemaNode {
  if (node.properties === undefined) {
    return node;
  }
  const kept = Object.entries(node.properties).filter(([, child]) => !isSecret(child));
  const isRequired = (key: string): boolean =>
    kept.some(([name]) => name === key) && !MAY_COME_FROM_SECRET.includes(`${path}${key}`);
  const described = (child: SchemaNode, name: string): SchemaNode =>
    MAY_COME_FROM_SECRET.includes(name)
      ? { ...child, description: `${child.description} ${COMES_FROM_SECRET}` }
      : child;
  return {
    ...node,
    properties: Object.fromEntries(
      kept.map(([key, child]) => [key, withoutSecrets(described(child, `${path}${key}`), `${path}${key}.`)]),
    ),
    ...(node.required === undefined ? {} : { required: node.required.filter(isRequired) }),
  };
}

/** `application` with its defaults: of what it may hold, the rules of consumer.yaml name these sections. */
export type ApplicationSettings = Section & Pick<Settings, 'server' | 'management'>;

/**
 * The schema of `application` in consumer.yaml: the consumer's own settings without the secrets, which come from
 * Secrets that exist in the cluster. `database` may be missing: all that is left of it has defaults.
 */
export function applicationPart() {
  const settings = JSON.parse(JSON.stringify(SettingsSchema)) as SchemaNode;
  const { $id: _id, title: _title, ...part } = withoutSecrets(settings, '') as SchemaNode & { $id?: string };
  return Type.Unsafe<ApplicationSettings>({
    ...part,
    properties: { ...part.properties, database: { ...part.properties?.['database'], default: {} } },
    description: 'Settings of the consumer, as in application.yml; they go into the ConfigMap.',
  });
}

/** `application` by the names of the settings. */
export interface NamedApplication {
  readonly application: unknown;
  readonly problems: readonly Problem[];
}

const twoNames = (path: SettingPath, key: string): Problem => ({
  path: formatPath(['application', ...path, camelCase(key)]),
  message: `is set beside ${key}, which is the same`,
  allowed: 'one of both',
});

/**
 * `application` with the names of the settings: those that Spring Boot has in kebab-case are written in camelCase, as
 * all of consumer.yaml is, or as Spring Boot has them.
 */
export function withSettingNames(
  written: unknown,
  node: SchemaNode = SettingsSchema as SchemaNode,
  path: SettingPath = [],
): NamedApplication {
  if (!isSection(written)) {
    return { application: written, problems: [] };
  }
  const kebab = Object.keys(node.properties ?? {}).filter((key) => key.includes('-'));
  const names = new Map(kebab.map((key) => [camelCase(key), key]));
  const problems = kebab
    .filter((key) => Object.hasOwn(written, key) && Object.hasOwn(written, camelCase(key)))
    .map((key) => twoNames(path, key));
  const entries = Object.entries(written).map(([key, value]) => {
    const name = names.get(key) ?? key;
    const child = withSettingNames(value, childSchema(node, name) ?? {}, [...path, name]);
    problems.push(...child.problems);
    return [name, child.application] as const;
  });
  return { application: Object.fromEntries(entries), problems };
}

function kebabKeys({ properties = {}, patternProperties = {} }: SchemaNode): string[] {
  const inner = [...Object.values(properties), ...Object.values(patternProperties)].flatMap(kebabKeys);
  return [...Object.keys(properties).filter((key) => key.includes('-')), ...inner];
}

const KEBAB_KEYS: ReadonlyMap<string, string> = new Map(
  kebabKeys(SettingsSchema as SchemaNode).map((key) => [camelCase(key), key]),
);

/** A path with the names that consumer.yaml has: `application.management.endpoints.web.basePath`. */
export const consumerPath = (path: string): string =>
  path.replaceAll(/[^.[\]]+/g, (key) => (KEBAB_KEYS.get(camelCase(key)) === key ? camelCase(key) : key));

/** The same path with Spring Boot's names. */
export const springPath = (path: SettingPath): SettingPath =>
  path.map((key) => (typeof key === 'string' ? (KEBAB_KEYS.get(key) ?? key) : key));

const FROM_SECRET = 'from-secret';

/** What names the Secret of the schema registry's login. */
interface RegistrySource {
  readonly existingSecret?: string;
  readonly type: 'basic' | 'bearer';
}

const SECURITY = {
  bearer: { token: FROM_SECRET },
  basic: { username: FROM_SECRET, password: FROM_SECRET },
} as const;

/** The files of the certificate, and the placeholder of the credential, which a section that is wrong may give, too. */
function access(application: Section, monitoring: MonitoringSettings | undefined): Section {
  const { tls, credentials } = monitoring ?? { credentials: { type: 'basic' } as const };
  const ssl = tls && {
    certificate: `${CONTAINER_PATH.certificate}/${tls.keys.certificate}`,
    'certificate-private-key': `${CONTAINER_PATH.certificate}/${tls.keys.privateKey}`,
  };
  const security = credentials && SECURITY[credentials.type];
  return {
    ...(ssl && { server: { ...sectionOf(application, 'server'), ssl } }),
    ...(security && { management: { ...sectionOf(application, 'management'), security } }),
  };
}

/** The login with placeholders for the parts that its mechanism takes from the Secret. */
function withLogin(sasl: Section): Section {
  const oauth = sectionOf(sasl, 'oauth');
  if (asksTokenEndpoint(sasl)) {
    return { ...sasl, oauth: { clientId: FROM_SECRET, ...oauth, clientSecret: FROM_SECRET } };
  }
  return provesPassword(sasl['mechanism']) ? { username: FROM_SECRET, ...sasl, password: FROM_SECRET } : sasl;
}

/** The registry with placeholders for what its Secret gives, and for what only a Secret may give. */
function withRegistryLogin(registry: Section, source: RegistrySource | undefined): Section {
  const oauth = registry['oauth'];
  if (isSection(oauth)) {
    return {
      ...registry,
      ...('username' in registry && { password: FROM_SECRET }),
      ...('tokenFile' in oauth ? {} : { oauth: { clientId: FROM_SECRET, ...oauth, clientSecret: FROM_SECRET } }),
    };
  }
  if (source?.existingSecret !== undefined && source.type === 'bearer') {
    return { ...registry, token: FROM_SECRET };
  }
  return source?.existingSecret !== undefined || 'username' in registry
    ? { username: FROM_SECRET, ...registry, password: FROM_SECRET }
    : registry;
}

/** The section of the registry, where `application` has one or a Secret gives a login for it. */
function registryPart(application: Section, source: RegistrySource | undefined): Section {
  const isWrong = 'schemaRegistry' in application && !isSection(application['schemaRegistry']);
  const isUsed = 'schemaRegistry' in application || source?.existingSecret !== undefined;
  return isUsed && !isWrong
    ? { schemaRegistry: withRegistryLogin(sectionOf(application, 'schemaRegistry'), source) }
    : {};
}

/**
 * `application` of consumer.yaml with something in place of each value that a Secret will give, so that the consumer's
 * own check can be asked.
 *
 * @param file the sections of the file that are right
 */
export function withPlaceholders(written: Section, file: SecretNamingSections): Section {
  const application = withCertificates(written, file);
  const kafka = sectionOf(application, 'kafka');
  const sasl = isSection(kafka['sasl']) ? { sasl: withLogin(kafka['sasl']) } : {};
  return {
    ...application,
    kafka: 'kafka' in application && !isSection(application['kafka']) ? application['kafka'] : { ...kafka, ...sasl },
    database: { ...sectionOf(application, 'database'), url: `postgresql://${FROM_SECRET}/${FROM_SECRET}` },
    ...registryPart(application, file.schemaRegistry),
    ...access(application, file.monitoring),
  };
}

/** The sections of consumer.yaml that name what a Secret gives; a wrong one is left out. */
export interface SecretNamingSections extends CertificateSources {
  readonly monitoring?: MonitoringSettings;
  readonly schemaRegistry?: CertificateSources['schemaRegistry'] & RegistrySource;
}

/** What of consumer.yaml says how the registry is logged in at. */
interface RegistryPart {
  readonly application: unknown;
  readonly schemaRegistry?: RegistrySource;
}

/** A login at the registry that needs a secret, and its Secret: neither without the other. */
export const registryHasCredentials: Rule<RegistryPart> = {
  reads: ['schemaRegistry.existingSecret', 'application.schemaRegistry'],
  find: ({ schemaRegistry, application }) => {
    const { oauth, username } = sectionOf(isSection(application) ? application : {}, 'schemaRegistry');
    const readsFile = isSection(oauth) && 'tokenFile' in oauth;
    const needsSecret = username !== undefined || (oauth !== undefined && !readsFile);
    return [
      ...problemIf(needsSecret && schemaRegistry?.existingSecret === undefined, {
        path: 'schemaRegistry.existingSecret',
        message: `is missing, and application.schemaRegistry.${oauth === undefined ? 'username needs a password' : 'oauth needs the secret of its client'}`,
        allowed:
          'the name of a Secret with the keys username and password, or clientId and clientSecret with oauth (schemaRegistry.keys renames them)',
      }),
      ...problemIf(readsFile && schemaRegistry?.existingSecret !== undefined, {
        path: 'schemaRegistry.existingSecret',
        message: 'gives credentials that a login by application.schemaRegistry.oauth.tokenFile does not read',
        allowed: 'nothing here, or application.schemaRegistry.oauth without tokenFile',
      }),
    ];
  },
};
