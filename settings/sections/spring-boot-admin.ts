import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { duration, durationBetween } from '../schema/duration.ts';
import type { Problem } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET, section } from '../schema/schema.ts';
import { completeCredential, type ManagementPart } from './management.ts';

/** fetch() refuses a URL that holds a user, and a query makes no sense before a path. */
const httpUrl = {
  pattern: '^https?://[^\\s/@?#]+(/[^\\s@?#]*)?$',
  [ALLOWED]: 'an http or https URL without user, query and fragment',
};

const instance = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, description: 'Name to be shown. Left out: management.metrics.tags.application.' }),
    ),
    'service-base-url': Type.Optional(
      Type.String({
        ...httpUrl,
        description:
          "Where the server finds this consumer, up to the port. Left out: the Pod's IP (environment variable POD_IP), else the machine's name, with scheme and port as they are.",
      }),
    ),
    'management-url': Type.Optional(
      Type.String({ ...httpUrl, description: 'The list of endpoints. Left out: the base URL and the base path.' }),
    ),
    'health-url': Type.Optional(
      Type.String({ ...httpUrl, description: 'The health. Left out: the base URL and the path of the health.' }),
    ),
    'send-credentials': Type.Boolean({
      default: false,
      description:
        'Whether the server gets user and password of management.security (metadata user.name, user.password), without which it sees the status of the health alone.',
    }),
    metadata: Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        {
          ...closed,
          patternProperties: { '^[A-Za-z0-9._-]+$': Type.String() },
          default: {},
          description: 'Sent to the server unchanged, such as tags.environment: staging.',
        },
      ),
    ),
  },
  { ...section, description: 'What the server gets.' },
);

const client = Type.Object(
  {
    url: Type.Array(Type.String(httpUrl), {
      default: [],
      uniqueItems: true,
      description: 'Servers to register at, as their users see them. Left out: none, and nobody is asked.',
    }),
    username: Type.Optional(
      Type.String({ minLength: 1, description: 'User at the server. Left out: none.', [SECRET]: true }),
    ),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "That user's password. Left out: none.", [SECRET]: true }),
    ),
    period: duration('10s', 'Time between two registrations; a server that was started anew knows nobody.'),
    'register-once': Type.Boolean({
      default: true,
      description: 'Whether the first server that answers is enough. false: the consumer registers at each.',
    }),
    'auto-deregistration': Type.Boolean({
      default: true,
      description: 'Whether the consumer signs off when it ends.',
    }),
    instance,
  },
  { ...section, description: 'Registration at Spring Boot Admin.' },
);

/** What Spring's own settings say of Spring Boot Admin, and nothing else of them. */
export const spring = Type.Object(
  {
    boot: Type.Object(
      {
        admin: Type.Object({ client }, { ...section, description: 'Spring Boot Admin.' }),
      },
      { ...section, description: "Spring Boot's own settings." },
    ),
  },
  { ...section, description: "Spring's own settings." },
);

interface SpringPart {
  readonly spring: Static<typeof spring>;
}

const CLIENT = 'spring.boot.admin.client';

const urlsParse: Rule<SpringPart> = {
  reads: [`${CLIENT}.url[]`],
  find: ({ spring }) =>
    spring.boot.admin.client.url.flatMap((given, index): Problem[] =>
      URL.canParse(given)
        ? []
        : [
            {
              path: `${CLIENT}.url[${index}]`,
              message: 'is not a URL',
              given,
              allowed: 'an http or https URL with a host and a port that exist',
            },
          ],
    ),
};

/** The server knows user and password only: there is no way to give it a token. */
const sentCredentialsExist: Rule<SpringPart & ManagementPart> = {
  reads: [`${CLIENT}.instance.send-credentials`, 'management.security.username'],
  find: ({ spring, management }) => {
    const { 'send-credentials': isSent } = spring.boot.admin.client.instance;
    return isSent && management.security.username === undefined
      ? [
          {
            path: `${CLIENT}.instance.send-credentials`,
            message: 'has nothing to send',
            given: isSent,
            allowed: 'false, or management.security.username and .password beside it',
          },
        ]
      : [];
  },
};

/** What the schema cannot say of the registration. */
export const SPRING_BOOT_ADMIN_RULES: readonly Rule<SpringPart & ManagementPart>[] = [
  urlsParse,
  completeCredential(CLIENT, ({ spring }) => spring.boot.admin.client),
  durationBetween(`${CLIENT}.period`, ({ spring }) => spring.boot.admin.client.period, '1s', '1h'),
  sentCredentialsExist,
];
