import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { isSection, valueAt } from '../../settings/schema/document.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../../settings/schema/schema.ts';
import { asksTokenEndpoint, provesPassword } from '../../settings/sections/kafka-sasl.ts';
import { tlsFiles } from './certificates.ts';
import { objectName, SECRET_KEY, secretKey } from './object-names.ts';

const externalSecret = Type.Object(
  {
    store: Type.String({ ...objectName, description: 'Name of the store, which somebody has set up in the cluster.' }),
    storeKind: Type.Enum(['SecretStore', 'ClusterSecretStore'], {
      default: 'ClusterSecretStore',
      description: 'Whether the store is for the namespace or for the cluster.',
    }),
    remoteKey: Type.String({
      minLength: 1,
      description: 'What the store calls the secret; each of its properties becomes a key of the Secret.',
    }),
    refreshInterval: Type.String({
      pattern: '^[1-9][0-9]*(s|m|h)$',
      default: '1h',
      description: 'Time between two reads of the store.',
      [ALLOWED]: 'a whole number and one of s, m, h, such as 1h',
    }),
  },
  {
    ...closed,
    description:
      'Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes it.',
  },
);

const sealedSecret = Type.Object(
  {
    encryptedData: Type.Record(
      Type.String({ pattern: SECRET_KEY }),
      Type.String({
        pattern: '^[A-Za-z0-9+/]{100,}={0,2}$',
        [ALLOWED]: 'what kubeseal makes of a value: at least 100 characters of base64',
      }),
      { ...closed, minProperties: 1, description: 'By key of the Secret: its value as kubeseal encrypted it.' },
    ),
    scope: Type.Enum(['strict', 'namespace-wide', 'cluster-wide'], {
      default: 'strict',
      description: 'Scope that kubeseal encrypted the values for: what may use them.',
    }),
  },
  {
    ...closed,
    description:
      'Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.',
  },
);

/** Who makes a Secret, unless it is there already. */
export const secretSource = {
  externalSecret: Type.Optional(externalSecret),
  sealedSecret: Type.Optional(sealedSecret),
};

const source = Type.Object(secretSource);

/** Who makes a Secret: at most one of both. */
export type SecretSource = Static<typeof source>;

/** How the container gets what the Secrets hold. */
export const secrets = Type.Object(
  {
    as: Type.Enum(['files', 'environment'], {
      default: 'files',
      description:
        'files: a folder that the consumer reads as a config tree, again when it changes. environment: variables; a changed Secret needs a restart.',
    }),
  },
  { ...section, description: 'How the container gets what the Secrets hold.' },
);

/** Where the brokers' credentials and certificates come from. */
export const kafka = Type.Object(
  {
    existingSecret: Type.Optional(
      Type.String({
        ...objectName,
        description:
          'Secret with the SASL credentials in the same namespace, made by you or by one of the two below. Left out: there is no such login.',
      }),
    ),
    ...secretSource,
    keys: Type.Object(
      {
        username: secretKey('username'),
        password: secretKey('password'),
        clientId: secretKey('clientId'),
        clientSecret: secretKey('clientSecret'),
      },
      {
        ...section,
        description: 'Keys of the Secret: the first two, or with oauthbearer the last two, for the token endpoint.',
      },
    ),
    tls: tlsFiles('the brokers'),
  },
  {
    ...closed,
    description: 'Credentials of the brokers, needed with application.kafka.sasl, and certificates. Left out: none.',
  },
);

/** Where the schema registry's credentials and certificates come from. */
export const schemaRegistry = Type.Object(
  {
    existingSecret: Type.Optional(
      Type.String({
        ...objectName,
        description:
          'Secret with the credentials in the same namespace, made by you or by one of the two below. Left out: the registry wants none, or a token that is a file.',
      }),
    ),
    ...secretSource,
    type: Type.Enum(['basic', 'bearer'], {
      default: 'basic',
      description:
        'basic: the Secret has a user and a password. bearer: it has a token. With application.schemaRegistry.oauth it has the client instead.',
    }),
    keys: Type.Object(
      {
        username: secretKey('username'),
        password: secretKey('password'),
        token: secretKey('token'),
        clientId: secretKey('clientId'),
        clientSecret: secretKey('clientSecret'),
      },
      { ...section, description: 'Keys of the Secret: those of its type, or the last two with OAuth.' },
    ),
    tls: tlsFiles('the schema registry'),
  },
  {
    ...closed,
    description: 'Credentials of application.schemaRegistry, and certificates. Left out: none.',
  },
);

interface SecretsPart {
  readonly database: SecretSource & {
    readonly existingSecret: string;
    readonly owner?: SecretSource & { readonly existingSecret: string };
  };
  readonly kafka?: Static<typeof kafka>;
  readonly schemaRegistry?: Static<typeof schemaRegistry>;
}

/** Where Secrets are named, and what may make them. */
const SOURCES: readonly (readonly [path: string, read: (file: SecretsPart) => SecretSource | undefined])[] = [
  ['database', ({ database }) => database],
  ['database.owner', ({ database }) => database.owner],
  ['kafka', ({ kafka }) => kafka],
  ['schemaRegistry', ({ schemaRegistry }) => schemaRegistry],
];

const makersAt = (path: string): string[] => [`${path}.externalSecret`, `${path}.sealedSecret`];

const secretHasOneSource = SOURCES.map(
  ([path, read]): Rule<SecretsPart> => ({
    reads: makersAt(path),
    find: (file) => {
      const source = read(file);
      return problemIf(source?.externalSecret !== undefined && source.sealedSecret !== undefined, {
        path,
        message: 'has two that make one Secret, externalSecret and sealedSecret',
        allowed: 'one of both, or neither: then the Secret is there already',
      });
    },
  }),
);

const madeSecretIsNamed = (['kafka', 'schemaRegistry'] as const).map(
  (server): Rule<SecretsPart> => ({
    reads: [`${server}.existingSecret`, ...makersAt(server)],
    find: ({ [server]: part }) =>
      problemIf(part?.existingSecret === undefined && (part?.externalSecret ?? part?.sealedSecret) !== undefined, {
        path: `${server}.existingSecret`,
        message: `is missing, and ${server}.externalSecret or ${server}.sealedSecret makes a Secret`,
        allowed: 'the name of the Secret that is made',
      }),
  }),
);

const secretsDiffer: Rule<SecretsPart> = {
  reads: SOURCES.flatMap(([path]) => [`${path}.existingSecret`, ...makersAt(path)]),
  find: ({ database, kafka, schemaRegistry }) => {
    const made = [database, database.owner, kafka, schemaRegistry].filter(
      (each) => (each?.externalSecret ?? each?.sealedSecret) !== undefined,
    );
    const names = made.map((each) => each?.existingSecret);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return problemIf(twice !== undefined, {
      path: 'database.existingSecret',
      message: 'is the name of a Secret that is made twice',
      given: twice,
      allowed: 'another name for each Secret that externalSecret or sealedSecret makes',
    });
  },
};

/** A SASL login with a password or a client's secret, and its Secret: neither without the other. */
export const saslHasCredentials: Rule<SecretsPart & { readonly application: unknown }> = {
  reads: ['kafka.existingSecret', 'application.kafka.sasl'],
  find: ({ kafka, application }) => {
    const sasl = valueAt(application, ['kafka', 'sasl']);
    const login = isSection(sasl) ? sasl : {};
    const isSecret = provesPassword(login['mechanism']) || asksTokenEndpoint(login);
    return [
      ...problemIf(isSecret && kafka?.existingSecret === undefined, {
        path: 'kafka.existingSecret',
        message: 'is missing, and application.kafka.sasl needs a password',
        allowed:
          'the name of a Secret with the keys username and password, or clientId and clientSecret with oauthbearer (kafka.keys renames them)',
      }),
      ...problemIf(sasl === undefined && kafka?.existingSecret !== undefined, {
        path: 'application.kafka.sasl.mechanism',
        message: 'is missing, and kafka.existingSecret gives credentials for it',
        allowed: 'one of plain, scram-sha-256, scram-sha-512, oauthbearer',
      }),
      ...problemIf(sasl !== undefined && !isSecret && kafka?.existingSecret !== undefined, {
        path: 'kafka.existingSecret',
        message: 'gives credentials that the login of application.kafka.sasl does not read',
        allowed: 'nothing here, or another application.kafka.sasl.mechanism',
      }),
    ];
  },
};

/** What must hold for Secrets, and for what makes them. */
export const SECRET_RULES: readonly Rule<SecretsPart>[] = [...secretHasOneSource, ...madeSecretIsNamed, secretsDiffer];
