import { isDeepStrictEqual } from 'node:util';
import type { AuthenticationProviderArgs, Mechanism } from 'kafkajs';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { provesPassword, type SaslSettings } from '../../../settings/sections/kafka-sasl.ts';
import type { OauthSettings } from '../../../settings/sections/oauth.ts';
import { AwsIdentity } from '../../credentials/aws-identity.ts';
import {
  CredentialsRefused,
  CredentialsUnavailable,
  Renewed,
  requestCredentials,
  toldBy,
} from '../../credentials/credentials.ts';
import { readText } from '../../credentials/named-file.ts';
import { mskToken } from '../../credentials/signature-v4.ts';

/** kafkajs's `saslAuthenticate`, with the broker's answer as text. */
type Exchange = AuthenticationProviderArgs['saslAuthenticate'];

/** kafkajs's errors of a login. */
interface LoginErrors {
  readonly KafkaJSConnectionError: new (message: string, of: { readonly broker: string }) => Error;
  readonly KafkaJSSASLAuthenticationError: new (message: string) => Error;
}

/** Separates the parts of the mechanism's messages (RFC 7628, section 3.1). */
const SEPARATOR = '\u0001';

/**
 * The client's message: no user beside the token's, the token, the extensions; four bytes of length first, as kafkajs's
 * own have.
 */
function message({ value }: BearerToken, extensions: Readonly<Record<string, string>>): Buffer {
  const pairs = Object.entries({ auth: `Bearer ${value}`, ...extensions }).map(([name, text]) => `${name}=${text}`);
  const bytes = Buffer.from(['n,,', ...pairs, '', ''].join(SEPARATOR));
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * OAUTHBEARER with a token of the moment, for all connections of all clients. kafkajs's own takes a refused token for a
 * success: the broker answers without an error, and says in the answer's content that it refuses (RFC 7628, section
 * 3.2.2).
 *
 * Nothing is read over a connection without a login, so all records are still ahead of the stored offsets, whether the
 * token server is away or refuses.
 */
export class TokenLogin {
  readonly #current: () => SaslSettings | undefined;
  readonly #errors: LoginErrors;
  /** Tokens that a broker took. One of them that is refused has ended, or its key has; only a new one is a refusal. */
  readonly #accepted = new WeakSet<BearerToken>();
  #made: { readonly of: SaslSettings; readonly source: TokenSource } | undefined;

  /**
   * @param current the settings of the moment: a changed client secret is taken at the next login
   * @param errors those of the kafkajs whose clients log in
   */
  constructor(current: () => SaslSettings | undefined, errors: LoginErrors) {
    this.#current = current;
    this.#errors = errors;
  }

  /** For kafkajs's client; `undefined` for a mechanism that proves a password, and for none. */
  get mechanism(): Mechanism | undefined {
    const sasl = this.#current();
    return sasl === undefined || provesPassword(sasl.mechanism)
      ? undefined
      : { mechanism: 'oauthbearer', authenticationProvider: this.#authenticator };
  }

  readonly #authenticator: Mechanism['authenticationProvider'] = ({ host, port, saslAuthenticate }) => ({
    authenticate: async () => {
      const sasl = this.#current();
      if (sasl !== undefined) {
        await this.#logIn(sasl, saslAuthenticate, `${host}:${port}`);
      }
    },
  });

  async #logIn(sasl: SaslSettings, exchange: Exchange, broker: string): Promise<void> {
    // kafkajs tries again after the first, and gives up after the second.
    const { KafkaJSConnectionError, KafkaJSSASLAuthenticationError } = this.#errors;
    const source = this.#source(sasl);
    const token = await source.token().catch((error: Error) => {
      throw error instanceof CredentialsUnavailable
        ? new KafkaJSConnectionError(error.message, { broker })
        : new KafkaJSSASLAuthenticationError(error.message);
    });
    const refusal = await tokenRefusal(message(token, sasl.oauth?.extensions ?? {}), exchange);
    if (refusal === undefined) {
      this.#accepted.add(token);
      return;
    }
    source.drop?.(token);
    const given = `the token of ${sasl.mechanism}: ${toldBy(refusal, [token.value])}${claimsOf(token)}`;
    throw this.#accepted.has(token)
      ? new KafkaJSConnectionError(`the broker takes no longer ${given}; a new one is asked for`, { broker })
      : new KafkaJSSASLAuthenticationError(`the broker refuses ${given}`);
  }

  /** Made anew when the settings change, so that no token of the old ones is left. */
  #source(sasl: SaslSettings): TokenSource {
    if (this.#made === undefined || !isDeepStrictEqual(this.#made.of, sasl)) {
      this.#made = { of: sasl, source: sourceOf(sasl) };
    }
    return this.#made.source;
  }
}

function sourceOf({ mechanism, oauth = {}, aws }: SaslSettings): TokenSource {
  if (mechanism === 'aws-msk-iam') {
    const identity = new AwsIdentity(aws?.region);
    return {
      token: async () => mskToken({ keys: await identity.keys(), region: identity.region }, PRODUCT_NAME),
    };
  }
  return oauth.tokenFile === undefined ? new TokenEndpoint(oauth) : new TokenFile(oauth.tokenFile);
}

/**
 * What a broker says that takes the message for no login; `undefined` where it takes it, which it does without a word.
 */
async function tokenRefusal(bytes: Buffer, exchange: Exchange): Promise<string | undefined> {
  try {
    const answer = await exchange({
      request: { encode: () => bytes },
      response: {
        decode: (answered: Buffer) => answered,
        parse: (answered: Buffer) => answered.subarray(4).toString(),
      },
    });
    return answer ? answer : undefined;
  } catch (error) {
    const { type, message: words } = error as Error & { readonly type?: unknown };
    if (type === 'SASL_AUTHENTICATION_FAILED') {
      return words;
    }
    throw error;
  }
}

/** A bearer token, and when it ends, in milliseconds since 1970. */
interface BearerToken {
  readonly value: string;
  readonly expiresAt: number;
}

/** Where tokens come from. */
interface TokenSource {
  /**
   * The token of this moment.
   *
   * @throws {CredentialsRefused} when it is not given
   * @throws {CredentialsUnavailable} when what gives it is away
   */
  token(): Promise<BearerToken>;
  /** Lets go of a token that a broker refused, where tokens are held. */
  drop?(token: BearerToken): void;
}

/** What a bearer token may consist of (RFC 6750, section 2.1). */
const BEARER = /^[\w.~+/-]+=*$/;

/** A token in a file, which is read at each login: kubelet and sidecars replace it before it ends. */
class TokenFile implements TokenSource {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async token(): Promise<BearerToken> {
    const value = this.#text().trim();
    if (!BEARER.test(value)) {
      throw new CredentialsRefused(
        'the file of kafka.sasl.oauth.tokenFile holds no bearer token (RFC 6750, section 2.1)',
      );
    }
    return { value, expiresAt: endOf(value) };
  }

  #text(): string {
    try {
      return readText(this.#file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CredentialsUnavailable(`the file of kafka.sasl.oauth.tokenFile cannot be read: ${code ?? message}`);
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

/** What brokers look at in a token that is a JWT, for the end of a sentence: nothing of it is secret. */
function claimsOf({ value }: BearerToken): string {
  const { iss, aud, exp, scope } = jwtOf(value);
  const ends = typeof exp === 'number' ? new Date(exp * 1_000).toISOString() : undefined;
  const claims = Object.entries({ iss, aud, scope, exp: ends }).filter(([, claim]) => claim !== undefined);
  const text = claims.map(([name, claim]) => `${name} ${toldBy(String(claim), [value])}`).join(', ');
  return text === '' ? '' : `; it has ${text}`;
}
