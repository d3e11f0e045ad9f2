import { Type } from 'typebox';
import { closed, section } from '../settings/section.ts';
import { objectName, secretKey } from './object-names.ts';
import { secretSource } from './secrets.ts';

/** Where the brokers' credentials come from. */
export const kafka = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with the SASL credentials in the same namespace, made by you or by one of the two below.',
    }),
    ...secretSource,
    keys: Type.Object(
      { username: secretKey('username'), password: secretKey('password') },
      {
        ...section,
        description: 'Keys of the Secret.',
      },
    ),
  },
  { ...closed, description: 'Credentials of the brokers, needed with application.kafka.sasl; left out: none.' },
);
