import { type Static, Type } from 'typebox';
import type { Rule } from '../settings/schema/check.ts';
import { problemIf } from '../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../settings/schema/schema.ts';
import { tlsFiles } from './sections/certificates.ts';
import { annotationMap, objectName, secretKey } from './sections/object-names.ts';
import { secretSource } from './sections/secrets.ts';

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
    tls: tlsFiles('PostgreSQL, the owner of the tables included'),
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
    job: Type.Object(
      {
        annotations: annotationMap({
          default: {},
          description: 'Its annotations, such as argocd.argoproj.io/sync-options. Others make no new Job.',
        }),
      },
      { ...section, description: 'The Job of migrate: job.' },
    ),
  },
  { ...section, description: "PostgreSQL's URL, user and password; user and password may be missing from the Secret." },
);

interface DatabasePart {
  readonly database: Static<typeof database>;
}

const jobHasOwner: Rule<DatabasePart> = {
  reads: ['database.migrate', 'database.owner'],
  find: ({ database: { migrate, owner } }) => [
    ...problemIf(migrate === 'job' && owner === undefined, {
      path: 'database.owner.existingSecret',
      message: 'is missing, and the Job of migrate: job has to log in as somebody',
      allowed: 'the name of a Secret with the keys url, user and password (database.owner.keys renames them)',
    }),
    ...problemIf(migrate !== 'job' && owner !== undefined, {
      path: 'database.owner',
      message: `is used by nobody with migrate: ${migrate}`,
      allowed: 'nothing, or migrate: job',
    }),
  ],
};

const annotationsHaveJob: Rule<DatabasePart> = {
  reads: ['database.migrate', 'database.job.annotations'],
  find: ({ database: { migrate, job } }) =>
    problemIf(migrate !== 'job' && Object.keys(job.annotations).length > 0, {
      path: 'database.job.annotations',
      message: `would be written nowhere: there is no Job with migrate: ${migrate}`,
      allowed: 'nothing, or migrate: job',
    }),
};

/** What must hold for the Job that migrates. */
export const DATABASE_RULES: readonly Rule<DatabasePart>[] = [jobHasOwner, annotationsHaveJob];
