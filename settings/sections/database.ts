import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { duration, durationBetween, LONGEST } from '../schema/duration.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET, section } from '../schema/schema.ts';
import { asksForTls, DATABASE_URL_RULES, readDatabaseUrl } from './database-url.ts';

const PEM = 'the path of a PEM file, or the PEM itself';

const tls = Type.Object(
  {
    ca: Type.Optional(
      Type.String({
        minLength: 1,
        [ALLOWED]: PEM,
        description: `Authorities that the server's certificate may be signed by: ${PEM}. Left out: the URL's sslrootcert, else those of Node.js.`,
      }),
    ),
    certificate: Type.Optional(
      Type.String({
        minLength: 1,
        [ALLOWED]: PEM,
        description: `The client's certificate, followed by those of its intermediate authorities: ${PEM}. Left out: the URL's sslcert.`,
      }),
    ),
    privateKey: Type.Optional(
      Type.String({
        minLength: 1,
        [ALLOWED]: PEM,
        [SECRET]: true,
        description: "The certificate's private key, not encrypted: the path of a PEM file, or the PEM itself.",
      }),
    ),
  },
  {
    ...closed,
    description:
      'TLS to PostgreSQL: the certificate of the server has to be trusted and to name the host. The files are read at each new connection, and win over those of the URL. Left out: as in the URL.',
  },
);

const rdsIam = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description:
        'Whether the password is a token of RDS IAM, made for each connection by the identity that the Pod has at AWS. It wants TLS, a user, and no password.',
    }),
    region: Type.Optional(
      Type.String({
        pattern: '^[a-z]{2,}(-[a-z0-9]+)+$',
        [ALLOWED]: "a region's name, such as eu-central-1",
        description: "Region of the database; left out: the environment's AWS_REGION, else AWS_DEFAULT_REGION.",
      }),
    ),
  },
  { ...section, description: 'Login at Amazon RDS and Aurora by IAM.' },
);

/** How PostgreSQL is reached. */
export const database = Type.Object(
  {
    url: Type.String({
      pattern: '^postgres(ql)?://',
      description:
        "Where PostgreSQL is. Of libpq's parameters, such as ?sslmode=verify-full, those that are not followed are refused.",
      [ALLOWED]: 'postgresql://user:password@host:port/database',
      [SECRET]: 'url',
    }),
    user: Type.Optional(Type.String({ minLength: 1, description: "Role to log in as; left out: the URL's." })),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "The role's password; left out: the URL's.", [SECRET]: true }),
    ),
    credentialsFrom: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Where the credentials and certificates come from, named where PostgreSQL refuses them; the manifests write the Secret and its keys. Left out: nothing is named.',
      }),
    ),
    tls: Type.Optional(tls),
    rdsIam,
    schema: Type.String({
      pattern: '^[a-z_][a-z0-9_]{0,62}$',
      [ALLOWED]: 'a lower-case identifier: 1 to 63 letters, digits and underscores, no digit first',
      default: 'stream_consumer',
      description: 'Schema of the tables; created, with them, when absent.',
    }),
    migrate: Type.Boolean({
      default: true,
      description:
        'Whether the consumer creates and upgrades its tables when it starts. false: it checks that they are there and what it knows, for `stream-consumer migrate` by a role that owns them.',
    }),
    poolSize: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 4,
      description: 'Connections for writing: as many transactions run at once.',
    }),
    connectTimeout: duration('5s', 'Time to wait for a connection.'),
    statementTimeout: duration('30s', 'Time after which PostgreSQL gives up a statement of ours.'),
  },
  { ...section, description: 'How PostgreSQL is reached.' },
);

interface DatabasePart {
  readonly database: Static<typeof database>;
}

const PAIR_ALLOWED = 'certificate and privateKey together, or neither';

const certificateHasKey: Rule<DatabasePart> = {
  reads: ['database.tls.certificate', 'database.tls.privateKey'],
  find: ({ database }) => {
    const { certificate, privateKey } = database.tls ?? {};
    return [
      ...problemIf(certificate !== undefined && privateKey === undefined, {
        path: 'database.tls.certificate',
        message: 'has no database.tls.privateKey beside it',
        allowed: PAIR_ALLOWED,
      }),
      ...problemIf(certificate === undefined && privateKey !== undefined, {
        path: 'database.tls.privateKey',
        message: 'has no database.tls.certificate beside it',
        allowed: PAIR_ALLOWED,
      }),
    ];
  },
};

const RDS_IAM = 'database.rdsIam.enabled';

/**
 * PostgreSQL of RDS takes a token over TLS alone, and as the password of its user.
 *
 * @param reads beside the switch and the URL
 * @param isWrong asked where the login is by RDS IAM
 */
const withRdsIam = (
  reads: readonly string[],
  isWrong: (database: DatabasePart['database'], url: URL) => boolean,
  problem: Pick<Problem, 'message' | 'allowed'>,
): Rule<DatabasePart> => ({
  reads: [RDS_IAM, 'database.url', ...reads],
  find: ({ database }) => {
    const [url] = database.rdsIam.enabled ? readDatabaseUrl(database.url) : [];
    return problemIf(url !== undefined && isWrong(database, url), { path: RDS_IAM, ...problem });
  },
});

const RDS_IAM_RULES: readonly Rule<DatabasePart>[] = [
  withRdsIam(['database.tls'], ({ tls }, url) => !(asksForTls(url.searchParams) ?? tls !== undefined), {
    message: 'has no TLS to send the token over',
    allowed: 'database.tls, or sslmode=verify-full in database.url',
  }),
  withRdsIam(
    ['database.password'],
    ({ password }, url) => password !== undefined || url.password !== '' || url.searchParams.has('password'),
    { message: 'has a password beside it', allowed: 'no database.password, and none in database.url' },
  ),
  withRdsIam(
    ['database.user'],
    ({ user }, url) => user === undefined && url.username === '' && !url.searchParams.has('user'),
    { message: 'has no user to log in as', allowed: 'database.user beside it' },
  ),
];

/** What the schema cannot say of the URL, of TLS and of the time-outs. */
export const DATABASE_RULES: readonly Rule<DatabasePart>[] = [
  ...DATABASE_URL_RULES,
  certificateHasKey,
  ...RDS_IAM_RULES,
  // PostgreSQL and its client take 0 for "wait for ever", which no time-out of 0 in a configuration means.
  durationBetween('database.connectTimeout', ({ database }) => database.connectTimeout, '1ms', LONGEST),
  durationBetween('database.statementTimeout', ({ database }) => database.statementTimeout, '1ms', LONGEST),
];
