import { type Static, Type } from 'typebox';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, SECRET } from '../schema/schema.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const secret = (description: string) => Type.Optional(Type.String({ minLength: 1, description, [SECRET]: true }));

/** What a login by a token has: a token endpoint and a client there, or a file with a token. */
export const OAUTH_PROPERTIES = {
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
  tokenFile: text('File with a token, read at each login, such as one of a projected volume. Left out: tokenEndpoint.'),
};

/** Where the token of a login comes from. */
export type OauthSettings = {
  readonly [Key in keyof typeof OAUTH_PROPERTIES]?: Static<(typeof OAUTH_PROPERTIES)[Key]>;
};

/** The problem of a setting that another one needs. */
export const missing = (path: string, why: string, allowed: string): Problem => ({
  path,
  message: `is missing, and ${why} needs it`,
  allowed,
});

/** A setting that nothing reads would be taken for one that does something. */
export const unread = (section: object | undefined, path: string, keys: readonly string[], why: string): Problem[] =>
  keys.flatMap((key) =>
    section !== undefined && key in section
      ? [{ path: `${path}.${key}`, message: `is not read by ${why}`, allowed: 'nothing here' }]
      : [],
  );

/** The problems of keys that a section lacks. */
export const needed = (section: object | undefined, path: string, keys: readonly string[], why: string): Problem[] =>
  keys.flatMap((key) =>
    section !== undefined && key in section ? [] : [missing(`${path}.${key}`, why, 'a text that is not empty')],
  );

/** Hosts of this machine, or of the Pod. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** RFC 6749, section 3.2, demands TLS: the request holds the client's secret. */
function ofEndpoint(path: string, given: string): readonly Problem[] {
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

/**
 * What a login by a token lacks, and what it does not read.
 *
 * @param path where the section is
 * @param login what needs the section, in words
 */
export function oauthProblems(path: string, oauth: OauthSettings, login: string): readonly Problem[] {
  const { tokenEndpoint, tokenFile } = oauth;
  if (tokenFile === undefined) {
    return [
      ...problemIf(tokenEndpoint === undefined, {
        ...missing(`${path}.tokenEndpoint`, login, `an https URL, or ${path}.tokenFile in its place`),
      }),
      ...needed(oauth, path, ['clientId', 'clientSecret'], 'the token endpoint'),
      ...(tokenEndpoint === undefined ? [] : ofEndpoint(`${path}.tokenEndpoint`, tokenEndpoint)),
    ];
  }
  return unread(oauth, path, ['tokenEndpoint', 'clientId', 'clientSecret', 'scope'], 'a login with a tokenFile');
}
