import { generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { randomName } from './random-name.ts';
import { type Answer, type StubServer, startStubServer } from './stub-server.ts';
import { testRun } from './test-run.ts';

/** Claims of a token that a test may choose. */
interface Claims {
  /** @default that of the brokers of the test */
  readonly aud?: string;
  /** Seconds from now. @default 300 */
  readonly lives?: number;
}

/** A request for a token. */
interface Asked {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

/** A server of tokens, in the way of RFC 6749, section 4.4. */
export interface TokenServer {
  /** Who signs the tokens. */
  readonly issuer: string;
  /** Where brokers find the key, which stays there while the endpoint is away. */
  readonly jwks: string;
  /** Where tokens are asked for. */
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What it was asked so far. */
  readonly asked: readonly Asked[];
  /** What every token that was made has in it. */
  readonly made: readonly string[];
  /** What tokens have from now on. */
  claims: Claims;
  /** Makes a token without being asked by HTTP. */
  token(claims?: Claims): string;
  /** The endpoint takes no connections any more. */
  leave(): Promise<void>;
  /** It is back at its port. */
  comeBack(): Promise<void>;
}

/** What the brokers of the test want in `aud`. */
export const AUDIENCE = 'kafka';

const KEY = 'test-key';
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts a token server; it ends with the test file. Secret and tokens hold the word canary. */
export async function startTokenServer(): Promise<TokenServer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY, alg: 'RS256', use: 'sig' }] };
  const directory = await startStubServer(() => ({ body: JSON.stringify(keys) }));
  const client = { clientId: 'orders consumer', clientSecret: `${randomName('canary')}:+%&/ü` };
  const asked: Asked[] = [];
  const made: string[] = [];
  const token = ({ aud = AUDIENCE, lives = 300 }: Claims = {}): string => {
    const iat = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: directory.url,
      sub: client.clientId,
      aud,
      scope: 'read',
      iat: Math.min(iat, iat + lives - 1),
    };
    const text = `${part({ alg: 'RS256', typ: 'JWT', kid: KEY })}.${part({ ...claims, exp: iat + lives })}`;
    made.push(`${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`);
    return made.at(-1) ?? '';
  };
  const basic = [client.clientId, client.clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  );
  const right = `Basic ${Buffer.from(basic.join(':')).toString('base64')}`;
  const state = { claims: {} as Claims };
  const answer = ({ headers: { authorization } }: IncomingMessage, body: string): Answer => {
    asked.push({ authorization, form: Object.fromEntries(new URLSearchParams(body)) });
    return authorization === right
      ? {
          body: JSON.stringify({
            access_token: token(state.claims),
            token_type: 'Bearer',
            expires_in: state.claims.lives ?? 300,
          }),
        }
      : {
          status: 401,
          body: JSON.stringify({ error: 'invalid_client', error_description: `not the secret of ${client.clientId}` }),
        };
  };
  let endpoint: StubServer = await startStubServer(answer);
  const { port, url } = endpoint;
  (await testRun()).beforeClose(() => Promise.all([directory.close(), endpoint.close()]).then(() => undefined));
  return Object.assign(state, {
    issuer: directory.url,
    jwks: `${directory.url}/jwks`,
    endpoint: `${url}/token`,
    ...client,
    asked,
    made,
    token,
    leave: () => endpoint.close(),
    comeBack: async () => {
      endpoint = await startStubServer(answer, port);
    },
  });
}
