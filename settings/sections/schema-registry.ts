import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { duration, durationBetween, LONGEST } from '../schema/duration.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET } from '../schema/schema.ts';
import { certificateHasKey, tlsProperties } from './kafka.ts';
import { LOOPBACK, missing, OAUTH_PROPERTIES, oauthProblems } from './oauth.ts';

const URL_ALLOWED = 'an http or https URL without user, query and fragment, such as https://registry.example.com';

const url = Type.String({ pattern: '^https?://', [ALLOWED]: URL_ALLOWED });

/** What HTTP takes as the value of a header without blanks. */
const headerValue = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^[!-~]+$', [ALLOWED]: 'a text of visible ASCII characters without blanks', description }),
  );

const oauth = Type.Object(
  {
    ...OAUTH_PROPERTIES,
    logicalCluster: headerValue(
      'Id of the registry at Confluent Cloud, such as lsrc-abc123, sent as the header target-sr-cluster. Left out: the header is not sent.',
    ),
    identityPoolId: headerValue(
      'Id of the identity pool at Confluent Cloud, such as pool-abc1, sent as the header Confluent-Identity-Pool-Id. Left out: the header is not sent.',
    ),
  },
  { ...closed, description: 'Where the bearer token for the registry comes from. Left out: for another login.' },
);

const tls = Type.Object(
  tlsProperties(
    "registry's",
    "Name that the registry's certificate has to hold, and that is asked for (SNI), in place of the URL's host. Left out: the host.",
  ),
  {
    ...closed,
    description:
      'Certificates for TLS to the registry; the files are read anew at each connection. Left out: the authorities of Node.js, and no client certificate.',
  },
);

/** The registry that has the schemas of topics in the format `registry`. */
export const schemaRegistry = Type.Object(
  {
    url: Type.Union([url, Type.Array(url, { minItems: 1, uniqueItems: true })], {
      [ALLOWED]: `${URL_ALLOWED}, or a list of them`,
      description:
        'Where the registry is: one URL, or several of the same registry, of which the next is asked when one does not answer. With Apicurio the path is /apis/ccompat/v7.',
    }),
    username: Type.Optional(
      Type.String({
        // HTTP Basic ends the user at the first colon (RFC 7617, section 2).
        pattern: '^[^:]+$',
        [ALLOWED]: 'a text without colons that is not empty',
        description: "User at the registry, for HTTP Basic; at Confluent Cloud the registry's API key. Left out: none.",
      }),
    ),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "The user's password. Left out: without a user.", [SECRET]: true }),
    ),
    token: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._~+/-]+=*$',
        [ALLOWED]: 'a bearer token (RFC 6750, section 2.1)',
        description: 'Bearer token for the registry. Left out: none.',
        [SECRET]: true,
      }),
    ),
    oauth: Type.Optional(oauth),
    credentialsFrom: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Where the credentials and certificates come from, named where the registry refuses them; the manifests write the Secret and its keys. Left out: nothing is named.',
      }),
    ),
    context: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$',
        [ALLOWED]: "a context's name without the dot before it: letters, digits, dots, underscores and dashes",
        description: "Confluent's context in which schema ids count. Left out: the registry's default context.",
      }),
    ),
    timeout: duration('5s', 'Time to wait for an answer of the registry before the next URL is asked.'),
    tls: Type.Optional(tls),
  },
  {
    ...closed,
    description: 'The schema registry of topics whose format is registry. Left out: no topic has this format.',
  },
);

/** The section, as it is checked. */
export type SchemaRegistrySettings = Static<typeof schemaRegistry>;

/** The section in the settings. */
export interface SchemaRegistryPart {
  readonly schemaRegistry?: SchemaRegistrySettings;
}

/** The URLs in the order in which they are asked, at least one. */
export const registryUrls = ({ url }: Pick<SchemaRegistrySettings, 'url'>): readonly string[] =>
  typeof url === 'string' ? [url] : url;

const PATH = 'schemaRegistry';

/** @returns `undefined` where the URL is right */
function urlMistake(given: string): Pick<Problem, 'message' | 'allowed'> | undefined {
  if (!URL.canParse(given)) {
    return { message: 'is not a URL', allowed: URL_ALLOWED };
  }
  const { username, password, search, hash } = new URL(given);
  if (username !== '' || password !== '') {
    return {
      message: 'holds a user or password',
      allowed: `a URL without them; ${PATH}.username and ${PATH}.password hold the login`,
    };
  }
  return search !== '' || hash !== '' || /[?#]/.test(given)
    ? { message: 'has a query or a fragment', allowed: URL_ALLOWED }
    : undefined;
}

const urls: Rule<SchemaRegistryPart> = {
  reads: [`${PATH}.url`],
  find: ({ schemaRegistry }) =>
    schemaRegistry === undefined
      ? []
      : registryUrls(schemaRegistry).flatMap((given, index) => {
          const mistake = urlMistake(given);
          const path = typeof schemaRegistry.url === 'string' ? `${PATH}.url` : `${PATH}.url[${index}]`;
          return mistake === undefined ? [] : [{ path, given, ...mistake }];
        }),
};

/** The logins that the section has, by the setting that begins each; a checked one has at most one. */
export const registryLogins = (section: Partial<SchemaRegistrySettings>): readonly string[] =>
  [
    section.username === undefined && section.password === undefined ? [] : ['username'],
    section.token === undefined ? [] : ['token'],
    section.oauth === undefined ? [] : ['oauth'],
  ].flat();

const oneLogin: Rule<SchemaRegistryPart> = {
  reads: ['username', 'password', 'token', 'oauth'].map((key) => `${PATH}.${key}`),
  find: ({ schemaRegistry }) => {
    const [first, ...others] = registryLogins(schemaRegistry ?? {});
    return others.map((key) => ({
      path: `${PATH}.${key}`,
      message: `is a second login beside ${PATH}.${first}`,
      allowed: 'username with password, or token, or oauth, or none of them',
    }));
  },
};

const userHasPassword: Rule<SchemaRegistryPart> = {
  reads: [`${PATH}.username`, `${PATH}.password`],
  find: ({ schemaRegistry: { username, password } = {} }) => [
    ...problemIf(username !== undefined && password === undefined, {
      ...missing(`${PATH}.password`, `${PATH}.username`, 'a text that is not empty'),
    }),
    ...problemIf(username === undefined && password !== undefined, {
      ...missing(`${PATH}.username`, `${PATH}.password`, 'a text that is not empty'),
    }),
  ],
};

const oauthIsComplete: Rule<SchemaRegistryPart> = {
  reads: [`${PATH}.oauth`],
  find: ({ schemaRegistry: { oauth } = {} }) =>
    oauth === undefined ? [] : oauthProblems(`${PATH}.oauth`, oauth, 'a login by OAuth'),
};

const isHttp = (given: string): boolean => given.startsWith('http:');

const tlsIsUsed: Rule<SchemaRegistryPart> = {
  reads: [`${PATH}.url`, `${PATH}.tls`],
  find: ({ schemaRegistry }) => {
    const isUnused = schemaRegistry?.tls !== undefined && registryUrls(schemaRegistry).every(isHttp);
    return problemIf(isUnused, {
      path: `${PATH}.tls`,
      message: `is set, but no URL of ${PATH}.url begins with https:`,
      allowed: 'only beside an https URL',
    });
  },
};

/** Whether what goes to the URL can be read on its way. */
const isInTheClear = (given: string): boolean => isHttp(given) && !LOOPBACK.test(new URL(given).hostname);

/** What the settings allow and a person may not have meant, for the log and for --check. */
export function registryWarnings({ schemaRegistry }: SchemaRegistryPart): readonly string[] {
  if (schemaRegistry === undefined || !registryUrls(schemaRegistry).some(isInTheClear)) {
    return [];
  }
  return registryLogins(schemaRegistry).map(
    (login) =>
      `${PATH}.url has a URL that begins with http: and ${PATH}.${login} is set: the credentials cross the network in ` +
      'clear text; use an https URL',
  );
}

/** What the schema cannot say of the registry. */
export const SCHEMA_REGISTRY_RULES: readonly Rule<SchemaRegistryPart>[] = [
  urls,
  oneLogin,
  userHasPassword,
  oauthIsComplete,
  tlsIsUsed,
  certificateHasKey(`${PATH}.tls`, ({ schemaRegistry }) => schemaRegistry?.tls),
  durationBetween(`${PATH}.timeout`, ({ schemaRegistry }) => schemaRegistry?.timeout ?? '5s', '1ms', LONGEST),
];
