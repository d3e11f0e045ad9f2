import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { closed, section } from '../settings/section.ts';
import { objectName, secretKey } from './object-names.ts';
import { secretSource } from './secrets.ts';

const keys = Type.Object(
  { url: secretKey('url'), user: secretKey('user'), password: secretKey('password') },
  { ...section, description: 'Keys of the Secret.' },
);

const credentials = (whose: string) => ({
  existingSecret: Type.String({
    ...objectName,
    description: `Secret with the ${whose}credentials in the same namespace, made by you or by one of the two below.`,
    [ALLOWED]: 'the name of a Secret with the keys url, user and password (keys renames them)',
  }),
  ...secretSource,
  keys,
});

/** Where PostgreSQL's credentials come from. */
export const database = Type.Object(
  {
    ...credentials(''),
    migrate: Type.Enum(['onStart', 'job', 'never'], {
      default: 'onStart',
      description:
        'Who creates and upgrades the tables. onStart: the consumer. job: a Job, as the owner, so that the consumer need not be able to. never: somebody else.',
    }),
    owner: Type.Optional(
      Type.Object(credentials("owner's "), {
        ...closed,
        description: 'Who the Job logs in as; needed with migrate: job. Left out: nobody.',
      }),
    ),
  },
  { ...section, description: "PostgreSQL's URL, user and password; user and password may be missing from the Secret." },
);
