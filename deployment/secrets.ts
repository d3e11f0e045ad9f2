import { type Static, Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { closed } from '../settings/section.ts';
import { objectName, SECRET_KEY } from './object-names.ts';

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
      description: 'What kubeseal was told that the values may be used for.',
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
