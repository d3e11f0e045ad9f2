import { isDeepStrictEqual } from 'node:util';
import type { AuthenticationProviderArgs, Mechanism } from 'kafkajs';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { provesPassword, type SaslSettings } from '../../../settings/sections/kafka-sasl.ts';
import { AwsIdentity } from '../../credentials/aws-identity.ts';
import { type BearerToken, claimsOf, type TokenSource, tokenSource } from '../../credentials/bearer-token.ts';
import { CredentialsUnavailable, toldBy } from '../../credentials/credentials.ts';
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
  return tokenSource('kafka.sasl.oauth', oauth);
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
