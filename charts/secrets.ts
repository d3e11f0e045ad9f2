import { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { VOLUME } from '../contract/container.ts';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { type CertificateMount, certificateMounts } from '../deployment/sections/certificates.ts';
import type { SecretSource } from '../deployment/sections/secrets.ts';
import { environmentName } from '../settings/schema/setting-list.ts';

/** A setting of the consumer whose value a key of a Secret holds. */
export interface Credential {
  /** Path of the setting, such as `database.url`. */
  readonly setting: string;
  readonly secret: string;
  readonly key: string;
  /** Whether the Secret need not have the key: the value may be elsewhere, in the URL for instance. */
  readonly isOptional: boolean;
}

const credential = (secret: string, setting: string, key: string, isOptional = false): Credential => ({
  setting,
  secret,
  key,
  isOptional,
});

type DatabaseSecret = Pick<ConsumerFile['database'], 'existingSecret' | 'keys'>;

const ofDatabase = ({ existingSecret, keys }: DatabaseSecret): Credential[] => [
  credential(existingSecret, 'database.url', keys.url),
  credential(existingSecret, 'database.user', keys.user, true),
  credential(existingSecret, 'database.password', keys.password, true),
];

function ofKafka(kafka: ConsumerFile['kafka'], mechanism: string | undefined): Credential[] {
  if (kafka?.existingSecret === undefined) {
    return [];
  }
  const { existingSecret, keys } = kafka;
  return mechanism === 'oauthbearer'
    ? [
        credential(existingSecret, 'kafka.sasl.oauth.clientId', keys.clientId, true),
        credential(existingSecret, 'kafka.sasl.oauth.clientSecret', keys.clientSecret),
      ]
    : [
        credential(existingSecret, 'kafka.sasl.username', keys.username, true),
        credential(existingSecret, 'kafka.sasl.password', keys.password),
      ];
}

/** @param usesOauth whether the login is by a token of a token endpoint */
function ofRegistry(registry: ConsumerFile['schemaRegistry'], usesOauth: boolean): Credential[] {
  if (registry?.existingSecret === undefined) {
    return [];
  }
  const { existingSecret, keys, type } = registry;
  if (usesOauth) {
    return [
      credential(existingSecret, 'schemaRegistry.oauth.clientId', keys.clientId, true),
      credential(existingSecret, 'schemaRegistry.oauth.clientSecret', keys.clientSecret),
    ];
  }
  return type === 'bearer'
    ? [credential(existingSecret, 'schemaRegistry.token', keys.token)]
    : [
        credential(existingSecret, 'schemaRegistry.username', keys.username, true),
        credential(existingSecret, 'schemaRegistry.password', keys.password),
      ];
}

function ofManagement({ credentials }: ConsumerFile['monitoring']): Credential[] {
  if (credentials === undefined) {
    return [];
  }
  const { existingSecret, type, keys } = credentials;
  return type === 'bearer'
    ? [credential(existingSecret, 'management.security.token', keys.token)]
    : [
        credential(existingSecret, 'management.security.username', keys.username),
        credential(existingSecret, 'management.security.password', keys.password),
      ];
}

function ofAdminServer({ settings, file }: CheckedWorkload): Credential[] {
  const { springBootAdmin } = file.monitoring;
  if (springBootAdmin === undefined || settings.spring.boot.admin.client.url.length === 0) {
    return [];
  }
  const { existingSecret, keys } = springBootAdmin;
  return [
    credential(existingSecret, 'spring.boot.admin.client.username', keys.username),
    credential(existingSecret, 'spring.boot.admin.client.password', keys.password),
  ];
}

/**
 * Everything that the container takes from Secrets.
 *
 * @param database names the Secret with the credentials at PostgreSQL. @default the consumer's
 */
export function credentials(
  workload: CheckedWorkload,
  database: DatabaseSecret = workload.file.database,
): Credential[] {
  const { kafka, schemaRegistry, monitoring } = workload.file;
  const { settings } = workload;
  return [
    ...ofDatabase(database),
    ...ofKafka(kafka, settings.kafka.sasl?.mechanism),
    ...ofRegistry(schemaRegistry, settings.schemaRegistry?.oauth !== undefined),
    ...ofManagement(monitoring),
    ...ofAdminServer(workload),
  ];
}

/** A credential as a variable of the container's environment. */
export const secretVariable = ({ setting, secret, key, isOptional }: Credential): k8s.EnvVar => ({
  name: environmentName(setting),
  valueFrom: { secretKeyRef: { name: secret, key, ...(isOptional && { optional: true }) } },
});

/** What the keys of a Secret or ConfigMap are called in a message. */
const origin = (kind: 'Secret' | 'ConfigMap', name: string, keys: readonly string[]): string =>
  `${kind} ${name}, ${keys.length === 1 ? 'key' : 'keys'} ${keys.join(', ')}`;

function originsOf(
  server: 'kafka' | 'database' | 'schemaRegistry',
  { file }: CheckedWorkload,
  credentials: readonly Credential[],
): readonly string[] {
  const own = credentials.filter(({ setting }) => setting.startsWith(`${server}.`));
  const [first] = own;
  const mounts = certificateMounts(file).filter(({ place }) => place.startsWith(server));
  return [
    ...(first === undefined ? [] : [origin('Secret', first.secret, [...new Set(own.map(({ key }) => key))])]),
    ...mounts.map(({ secret, configMap = '', keys }) =>
      secret === undefined ? origin('ConfigMap', configMap, keys) : origin('Secret', secret, keys),
    ),
  ];
}

/** Variables that name, to the container, the Secrets and ConfigMaps that a refusal of its credentials is about. */
export const originVariables = (workload: CheckedWorkload, credentials: readonly Credential[]): k8s.EnvVar[] =>
  (['database', 'kafka', 'schemaRegistry'] as const).flatMap((server) => {
    const origins = originsOf(server, workload, credentials);
    return origins.length === 0
      ? []
      : [{ name: environmentName(`${server}.credentialsFrom`), value: origins.join('; ') }];
  });

/** Readable for the consumer's group alone. */
const FILE_MODE = 0o440;

const toItem = ({ setting, key }: Credential): k8s.KeyToPath => ({ key, path: setting.replaceAll('.', '/') });

/** One source for each Secret's keys that must be there, and one for those that need not. */
function sources(credentials: readonly Credential[]): k8s.VolumeProjection[] {
  const names = [...new Set(credentials.map(({ secret }) => secret))];
  return names.flatMap((name) =>
    [false, true].flatMap((optional) => {
      const items = credentials
        .filter(({ secret, isOptional }) => secret === name && isOptional === optional)
        .map(toItem);
      return items.length === 0 ? [] : [{ secret: { name, items, ...(optional && { optional }) } }];
    }),
  );
}

/** Credentials as a volume of files, a config tree: `database/url` holds the setting `database.url`. */
export function secretFiles(name: string, credentials: readonly Credential[]): k8s.Volume {
  return { name, projected: { defaultMode: FILE_MODE, sources: sources(credentials) } };
}

type External = NonNullable<SecretSource['externalSecret']>;
type Sealed = NonNullable<SecretSource['sealedSecret']>;

function externalSecret(scope: Construct, workload: CheckedWorkload, name: string, external: External): ApiObject {
  return new ApiObject(scope, `external-secret-${name}`, {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: objectMetadata(workload, name),
    spec: {
      refreshInterval: external.refreshInterval,
      secretStoreRef: { kind: external.storeKind, name: external.store },
      target: { name, creationPolicy: 'Owner' },
      dataFrom: [{ extract: { key: external.remoteKey } }],
    },
  });
}

/** The annotation that names the scope of the encryption to the Sealed Secrets controller; `strict` needs none. */
const SCOPE_ANNOTATION: Readonly<Record<Sealed['scope'], Readonly<Record<string, string>> | undefined>> = {
  strict: undefined,
  'namespace-wide': { 'sealedsecrets.bitnami.com/namespace-wide': 'true' },
  'cluster-wide': { 'sealedsecrets.bitnami.com/cluster-wide': 'true' },
};

function sealedSecret(scope: Construct, workload: CheckedWorkload, name: string, sealed: Sealed): ApiObject {
  const metadata = objectMetadata(workload, name);
  const annotations = SCOPE_ANNOTATION[sealed.scope];
  const scoped = annotations === undefined ? metadata : { ...metadata, annotations };
  return new ApiObject(scope, `sealed-secret-${name}`, {
    apiVersion: 'bitnami.com/v1alpha1',
    kind: 'SealedSecret',
    metadata: scoped,
    spec: { encryptedData: sealed.encryptedData, template: { metadata: scoped } },
  });
}

/**
 * The keys of a Secret or ConfigMap as a volume of files, which the kubelet renews; no key is mounted alone, by
 * subPath.
 */
export function certificateVolume({ place, secret, configMap, keys }: CertificateMount): k8s.Volume {
  const items = [...new Set(keys)].map((key): k8s.KeyToPath => ({ key, path: key }));
  return secret === undefined
    ? { name: VOLUME[place], configMap: { ...(configMap !== undefined && { name: configMap }), items } }
    : { name: VOLUME[place], secret: { secretName: secret, items, defaultMode: FILE_MODE } };
}

/** The ExternalSecrets and SealedSecrets, from which operators make the Secrets that have a source in consumer.yaml. */
export function secretObjects(scope: Construct, workload: CheckedWorkload): ApiObject[] {
  const { database, kafka, schemaRegistry } = workload.file;
  return [database, database.owner, kafka, schemaRegistry].flatMap((each) => {
    if (each?.existingSecret === undefined) {
      return [];
    }
    if (each.externalSecret !== undefined) {
      return [externalSecret(scope, workload, each.existingSecret, each.externalSecret)];
    }
    return each.sealedSecret === undefined
      ? []
      : [sealedSecret(scope, workload, each.existingSecret, each.sealedSecret)];
  });
}
