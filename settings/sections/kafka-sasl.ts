import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { type Section, sectionOf } from '../schema/document.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET } from '../schema/schema.ts';

/** Mechanisms that prove a password. */
const PASSWORD_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const MECHANISMS = [...PASSWORD_MECHANISMS, 'oauthbearer', 'aws-msk-iam'] as const;

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const secret = (description: string) => Type.Optional(Type.String({ minLength: 1, description, [SECRET]: true }));

const oauth = Type.Object(
  {
    tokenEndpoint: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/@?#]+(/[^\\s@#]*)?$',
        [ALLOWED]: 'an https URL, or an http URL of this host, without user and fragment',
        description: 'Where a token is asked for by client credentials (RFC 6749, section 4.4). Left out: tokenFile.',
      }),
    ),
    clientId: text('Id of this client at the token endpoint. Left out: with a tokenFile.'),
    clientSecret: secret(
      "The client's secret, sent by HTTP Basic (RFC 6749, section 2.3.1). Left out: with a tokenFile.",
    ),
    scope: text('What the token is for; several with blanks between them. Left out: as the server takes it.'),
    tokenFile: text(
      'File with a token, read at each login, such as one of a projected volume. Left out: tokenEndpoint.',
    ),
    extensions: Type.Optional(
      Type.Unsafe<Record<string, string>>(
        Type.Object(
          {},
          {
            ...closed,
            patternProperties: {
              '^(?!auth$)[A-Za-z]+$': Type.String({
                pattern: '^[\\t\\n\\r -~]+$',
                [ALLOWED]: 'a text in ASCII that is not empty',
              }),
            },
            description:
              'SASL extensions (RFC 7628, KIP-342), such as logicalCluster and identityPoolId of Confluent Cloud. Left out: none.',
          },
        ),
      ),
    ),
  },
  { ...closed, description: 'Where the token of oauthbearer comes from. Left out: for another mechanism.' },
);

const aws = Type.Object(
  {
    region: Type.Optional(
      Type.String({
        pattern: '^[a-z]{2,}(-[a-z0-9]+)+$',
        [ALLOWED]: "a region's name, such as eu-central-1",
        description: "The cluster's region. Left out: the environment's AWS_REGION, else AWS_DEFAULT_REGION.",
      }),
    ),
  },
  {
    ...closed,
    description: 'What aws-msk-iam signs for; the keys are those of the environment. Left out: the region is, too.',
  },
);

/** The login at the brokers. */
export const sasl = Type.Object(
  {
    mechanism: Type.Enum([...MECHANISMS], {
      description:
        'How the login is proved; plain sends the password and oauthbearer the token, so they want kafka.ssl.',
    }),
    username: text('User at the brokers, of plain and scram. Left out: for a login by token.'),
    password: secret("The user's password. Left out: for a login by token."),
    oauth: Type.Optional(oauth),
    aws: Type.Optional(aws),
  },
  { ...closed, description: 'SASL authentication with the brokers; left out: none.' },
);

/** The section, as it is checked. */
export type SaslSettings = Static<typeof sasl>;

/** Where the token of `oauthbearer` comes from. */
export type OauthSettings = Static<typeof oauth>;

interface SaslPart {
  readonly kafka: { readonly sasl?: SaslSettings; readonly ssl: boolean };
}

/** Whether the mechanism proves a password. */
export const provesPassword = (mechanism: unknown): boolean => PASSWORD_MECHANISMS.some((name) => name === mechanism);

/** Whether a token is asked for with the client's secret. */
export const asksTokenEndpoint = (sasl: Section): boolean =>
  sasl['mechanism'] === 'oauthbearer' && sectionOf(sasl, 'oauth')['tokenFile'] === undefined;

const PATH = 'kafka.sasl';

const missing = (key: string, why: string, allowed: string): Problem => ({
  path: `${PATH}.${key}`,
  message: `is missing, and ${why} needs it`,
  allowed,
});

/** A setting that nothing reads would be taken for one that does something. */
const unread = (section: object | undefined, path: string, keys: readonly string[], why: string): Problem[] =>
  keys.flatMap((key) =>
    section !== undefined && key in section
      ? [{ path: `${path}.${key}`, message: `is not read by ${why}`, allowed: 'nothing here' }]
      : [],
  );

const needed = (section: object | undefined, path: string, keys: readonly string[], why: string): Problem[] =>
  keys.flatMap((key) =>
    section !== undefined && key in section ? [] : [missing(`${path}${key}`, why, 'a text that is not empty')],
  );

function ofOauth(oauth: OauthSettings = {}): readonly Problem[] {
  const { tokenEndpoint, tokenFile } = oauth;
  const path = `${PATH}.oauth`;
  if (tokenFile === undefined) {
    return [
      ...problemIf(tokenEndpoint === undefined, {
        ...missing('oauth.tokenEndpoint', 'oauthbearer', 'an https URL, or kafka.sasl.oauth.tokenFile in its place'),
      }),
      ...needed(oauth, 'oauth.', ['clientId', 'clientSecret'], 'the token endpoint'),
      ...(tokenEndpoint === undefined ? [] : ofEndpoint(tokenEndpoint)),
    ];
  }
  return unread(oauth, path, ['tokenEndpoint', 'clientId', 'clientSecret', 'scope'], 'a login with a tokenFile');
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** RFC 6749, section 3.2, demands TLS: the request holds the client's secret. */
function ofEndpoint(given: string): readonly Problem[] {
  const path = `${PATH}.oauth.tokenEndpoint`;
  if (!URL.canParse(given)) {
    return [{ path, message: 'is not a URL', given, allowed: 'an https URL with a host and a port that exist' }];
  }
  const { protocol, hostname } = new URL(given);
  return problemIf(protocol === 'http:' && !LOOPBACK.test(hostname), {
    path,
    message: "would send the client's secret in the clear",
    given,
    allowed: 'https; http for localhost, 127.0.0.1 and [::1] alone, as of a proxy in the Pod',
  });
}

function ofMechanism({ kafka: { sasl } }: SaslPart): readonly Problem[] {
  if (sasl === undefined) {
    return [];
  }
  const { mechanism } = sasl;
  if (provesPassword(mechanism)) {
    return [
      ...needed(sasl, '', ['username', 'password'], mechanism),
      ...unread(sasl, PATH, ['oauth', 'aws'], mechanism),
    ];
  }
  if (mechanism === 'oauthbearer') {
    return [...ofOauth(sasl.oauth), ...unread(sasl, PATH, ['username', 'password', 'aws'], mechanism)];
  }
  return unread(sasl, PATH, ['username', 'password', 'oauth'], mechanism);
}

const mskWantsTls: Rule<SaslPart> = {
  reads: [`${PATH}.mechanism`, 'kafka.ssl'],
  find: ({ kafka: { sasl, ssl } }) =>
    problemIf(sasl?.mechanism === 'aws-msk-iam' && !ssl, {
      path: 'kafka.ssl',
      message: 'is off, and MSK takes aws-msk-iam over TLS alone',
      given: ssl,
      allowed: 'true',
    }),
};

/** What each mechanism needs and what it does not read. */
export const SASL_RULES: readonly Rule<SaslPart>[] = [{ reads: [PATH], find: ofMechanism }, mskWantsTls];
