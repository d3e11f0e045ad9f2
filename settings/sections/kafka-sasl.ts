import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { type Section, sectionOf } from '../schema/document.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET } from '../schema/schema.ts';
import { needed, OAUTH_PROPERTIES, oauthProblems, unread } from './oauth.ts';

/** Mechanisms that prove a password. */
const PASSWORD_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const MECHANISMS = [...PASSWORD_MECHANISMS, 'oauthbearer', 'aws-msk-iam'] as const;

const oauth = Type.Object(
  {
    ...OAUTH_PROPERTIES,
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
    username: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'User at the brokers, of plain and scram. Left out: for a login by token.',
      }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        description: "The user's password. Left out: for a login by token.",
        [SECRET]: true,
      }),
    ),
    oauth: Type.Optional(oauth),
    aws: Type.Optional(aws),
  },
  { ...closed, description: 'SASL authentication with the brokers; left out: none.' },
);

/** The section, as it is checked. */
export type SaslSettings = Static<typeof sasl>;

interface SaslPart {
  readonly kafka: { readonly sasl?: SaslSettings; readonly ssl: boolean };
}

/** Whether the mechanism proves a password. */
export const provesPassword = (mechanism: unknown): boolean => PASSWORD_MECHANISMS.some((name) => name === mechanism);

/** Whether a token is asked for with the client's secret. */
export const asksTokenEndpoint = (sasl: Section): boolean =>
  sasl['mechanism'] === 'oauthbearer' && sectionOf(sasl, 'oauth')['tokenFile'] === undefined;

const PATH = 'kafka.sasl';

function ofMechanism({ kafka: { sasl } }: SaslPart): readonly Problem[] {
  if (sasl === undefined) {
    return [];
  }
  const { mechanism } = sasl;
  if (provesPassword(mechanism)) {
    return [
      ...needed(sasl, PATH, ['username', 'password'], mechanism),
      ...unread(sasl, PATH, ['oauth', 'aws'], mechanism),
    ];
  }
  if (mechanism === 'oauthbearer') {
    return [
      ...oauthProblems(`${PATH}.oauth`, sasl.oauth ?? {}, mechanism),
      ...unread(sasl, PATH, ['username', 'password', 'aws'], mechanism),
    ];
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
