import type { OauthSettings } from '../../settings/sections/oauth.ts';
import { CredentialsRefused, CredentialsUnavailable, Renewed, requestCredentials, toldBy } from './credentials.ts';
import { readText } from './named-file.ts';

/** A bearer token, and when it ends, in milliseconds since 1970. */
export interface BearerToken {
  readonly value: string;
  readonly expiresAt: number;
}

/** Where tokens come from. */
export interface TokenSource {
  /**
   * The token of this moment.
   *
   * @throws {CredentialsRefused} when it is not given
   * @throws {CredentialsUnavailable} when what gives it is away
   */
  token(): Promise<BearerToken>;
  /** Lets go of a token that a server refused, where tokens are held. */
  drop?(token: BearerToken): void;
}

/** What a bearer token may consist of (RFC 6750, section 2.1). */
const BEARER = /^[\w.~+/-]+=*$/;

/** A token in a file, which is read at each login: kubelet and sidecars replace it before it ends. */
class TokenFile implements TokenSource {
  readonly #file: string;
  readonly #setting: string;

  /** @param setting that names the file, for messages */
  constructor(file: string, setting: string) {
    this.#file = file;
    this.#setting = setting;
  }

  async token(): Promise<BearerToken> {
    const value = this.#text().trim();
    if (!BEARER.test(value)) {
      throw new CredentialsRefused(`the file of ${this.#setting} holds no bearer token (RFC 6750, section 2.1)`);
    }
    return { value, expiresAt: endOf(value) };
  }

  #text(): string {
    try {
      return readText(this.#file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CredentialsUnavailable(`the file of ${this.#setting} cannot be read: ${code ?? message}`);
    }
  }
}

/** Tokens by client credentials (RFC 6749, section 4.4), each held until a fifth of its life is left. */
class TokenEndpoint implements TokenSource {
  readonly #settings: OauthSettings;
  readonly #renewed: Renewed<BearerToken>;

  /** @param now the time of day in milliseconds since 1970. @default that of this process */
  constructor(settings: OauthSettings, now: () => number = Date.now) {
    this.#settings = settings;
    this.#renewed = new Renewed(() => this.#ask(now()), now);
  }

  token(): Promise<BearerToken> {
    return this.#renewed.current();
  }

  drop(token: BearerToken): void {
    this.#renewed.drop(token);
  }

  async #ask(now: number): Promise<BearerToken> {
    const { tokenEndpoint = '', clientId = '', clientSecret = '', scope } = this.#settings;
    const user = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    const basic = Buffer.from(user).toString('base64');
    const text = await requestCredentials({
      name: 'the token endpoint',
      url: new URL(tokenEndpoint),
      init: {
        method: 'POST',
        headers: { authorization: `Basic ${basic}`, accept: 'application/json' },
        body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
      },
      secrets: [basic, user, clientSecret],
      reason: endpointError,
    });
    const { access_token: value, expires_in: seconds } = jsonOf(text);
    if (typeof value !== 'string' || !BEARER.test(value)) {
      throw new CredentialsUnavailable(
        'the token endpoint answered 200 without an access_token (RFC 6749, section 5.1)',
      );
    }
    const expiresAt = Math.min(
      endOf(value),
      Number(seconds) > 0 ? now + Number(seconds) * 1_000 : Number.POSITIVE_INFINITY,
    );
    // One that does not say when it ends is held for no login but this one.
    return { value, expiresAt: Number.isFinite(expiresAt) ? expiresAt : now };
  }
}

/** RFC 6749, section 2.3.1: both parts of Basic are encoded as a form is. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** RFC 6749, section 5.2; a proxy's page has neither and is returned as it is. */
function endpointError(body: string): string {
  const { error, error_description: description } = jsonOf(body);
  return typeof error === 'string' ? [error, description].filter((part) => typeof part === 'string').join(': ') : body;
}

/** The claims of a token that is a JWT (RFC 7519); of any other none. */
const jwtOf = (token: string): Readonly<Record<string, unknown>> =>
  jsonOf(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** The time `exp` of a token that is a JWT. */
function endOf(token: string): number {
  const { exp } = jwtOf(token);
  return typeof exp === 'number' ? exp * 1_000 : Number.POSITIVE_INFINITY;
}

/** What servers look at in a token that is a JWT, for the end of a sentence: nothing of it is secret. */
export function claimsOf({ value }: BearerToken): string {
  const { iss, aud, exp, scope } = jwtOf(value);
  const ends = typeof exp === 'number' ? new Date(exp * 1_000).toISOString() : undefined;
  const claims = Object.entries({ iss, aud, scope, exp: ends }).filter(([, claim]) => claim !== undefined);
  const text = claims.map(([name, claim]) => `${name} ${toldBy(String(claim), [value])}`).join(', ');
  return text === '' ? '' : `; it has ${text}`;
}

/**
 * The tokens of a login by OAuth.
 *
 * @param path of the section, for messages
 */
export const tokenSource = (path: string, oauth: OauthSettings): TokenSource =>
  oauth.tokenFile === undefined ? new TokenEndpoint(oauth) : new TokenFile(oauth.tokenFile, `${path}.tokenFile`);
