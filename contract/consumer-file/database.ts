import { Type } from 'typebox';
import { ALLOWED } from '../schema-node.ts';
import { section } from '../section.ts';
import { objectName, secretKey } from './object-name.ts';

/** Where PostgreSQL's credentials come from. */
export const database = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with the credentials, made by you in the same namespace.',
      [ALLOWED]: 'the name of a Secret with the keys url, user and password (database.keys renames them)',
    }),
    keys: Type.Object(
      { url: secretKey('url'), user: secretKey('user'), password: secretKey('password') },
      { ...section, description: 'Keys of the Secret.' },
    ),
  },
  { ...section, description: "PostgreSQL's URL, user and password; user and password may be missing from the Secret." },
);
