import { afterEach, expect, test } from '@jest/globals';
import type { Mechanism } from 'kafkajs';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { TokenLogin } from '../../../../app/kafka/logins/token-login.ts';
import type { SaslSettings } from '../../../../settings/sections/kafka-sasl.ts';
import { type Answer, type StubServer, startStubServer } from '../../../integration/stack/stub-server.ts';

const kafkajs = loadKafkajs();

const servers: StubServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A token endpoint that answers in turn, and what it was asked. */
async function endpoint(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const server = await startStubServer(({ headers }, body) => {
    asked.push(`${headers.authorization} ${body}`);
    return answers[asked.length - 1] ?? answers.at(-1) ?? { body: '' };
  });
  servers.push(server);
  return { asked, url: `${server.url}/token` };
}

const token = (value: string, seconds = 300): Answer => ({
  body: JSON.stringify({ access_token: value, expires_in: seconds }),
});

/** A token that ends so many seconds from now. */
const jwt = (seconds: number): string =>
  ['{}', JSON.stringify({ exp: Math.floor(Date.now() / 1_000) + seconds }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const withEndpoint = (tokenEndpoint: string, clientSecret = 's', extensions = {}): SaslSettings => ({
  mechanism: 'oauthbearer',
  oauth: { tokenEndpoint, clientId: 'id', clientSecret, extensions },
});

/** What kafkajs would send to a broker that answers this to the login. */
async function logIn({ mechanism }: TokenLogin, challenge = ''): Promise<string> {
  const sent: string[] = [];
  const { authenticationProvider } = mechanism as Mechanism;
  const saslAuthenticate: Parameters<typeof authenticationProvider>[0]['saslAuthenticate'] = async (exchange) => {
    sent.push((await exchange.request.encode()).toString('latin1'));
    return exchange.response?.parse(Buffer.concat([Buffer.alloc(4), Buffer.from(challenge)]));
  };
  const args = { host: 'kafka', port: 9092, logger: undefined as never, saslAuthenticate };
  await authenticationProvider(args).authenticate();
  return sent.join();
}

test('the message is that of RFC 7628, with its length in front', async () => {
  const { url } = await endpoint(token('abc.def'));
  const login = new TokenLogin(
    () => withEndpoint(url, 's', { logicalCluster: 'lkc-1', identityPoolId: 'pool-2' }),
    kafkajs,
  );
  const text = 'n,,\u0001auth=Bearer abc.def\u0001logicalCluster=lkc-1\u0001identityPoolId=pool-2\u0001\u0001';
  expect(await logIn(login)).toBe(`\0\0\0${String.fromCharCode(text.length)}${text}`);
});

test('a mechanism that proves a password is left to kafkajs', () => {
  expect(
    new TokenLogin(() => ({ mechanism: 'plain', username: 'u', password: 'p' }), kafkajs).mechanism,
  ).toBeUndefined();
  expect(new TokenLogin(() => undefined, kafkajs).mechanism).toBeUndefined();
});

test('connections that log in at the same time share one request, and later ones the token', async () => {
  const { asked, url } = await endpoint(token('one'), token('two'));
  const login = new TokenLogin(() => withEndpoint(url), kafkajs);
  const sent = await Promise.all([logIn(login), logIn(login), logIn(login)]);
  expect([...sent, await logIn(login)].every((text) => text.includes('Bearer one\u0001'))).toBe(true);
  expect(asked).toEqual([`Basic ${Buffer.from('id:s').toString('base64')} grant_type=client_credentials`]);
});

test('a token that a broker refused is not shown again', async () => {
  const { url } = await endpoint(token('one'), token('two'));
  const login = new TokenLogin(() => withEndpoint(url), kafkajs);
  await expect(logIn(login, '{"status":"invalid_token"}')).rejects.toMatchObject({
    name: 'KafkaJSSASLAuthenticationError',
    retriable: false,
    message: 'the broker refuses the token of oauthbearer: {"status":"invalid_token"}',
  });
  expect(await logIn(login)).toContain('Bearer two\u0001');
});

test('a token that brokers took, and take no longer, is an outage; a new one that they refuse is a refusal', async () => {
  const { url } = await endpoint(token('one'), token('two'));
  const login = new TokenLogin(() => withEndpoint(url), kafkajs);
  await logIn(login);
  const name = (error: Error) => error.name;
  const refused = () => logIn(login, '{"status":"invalid_token"}').catch(name);
  expect([await refused(), await refused()]).toEqual(['KafkaJSConnectionError', 'KafkaJSSASLAuthenticationError']);
});

test.each([
  ['expires_in', { expires_in: 1_000 }, 1],
  ['its own exp, where that is sooner', { expires_in: 1_000, access_token: jwt(-1) }, 2],
  ['its own exp alone', { access_token: jwt(600) }, 1],
  ['nothing, so that it serves one login', {}, 2],
])('a token ends as %s says', async (_, answer, requests) => {
  const { asked, url } = await endpoint({ body: JSON.stringify({ access_token: 'opaque', ...answer }) });
  const login = new TokenLogin(() => withEndpoint(url), kafkajs);
  await logIn(login);
  await logIn(login);
  expect(asked).toHaveLength(requests);
});

test('a changed client secret is taken at the next login', async () => {
  const { asked, url } = await endpoint(token('one'), token('two'));
  let secret = 'old';
  const login = new TokenLogin(() => withEndpoint(url, secret), kafkajs);
  await logIn(login);
  secret = 'new';
  expect(await logIn(login)).toContain('Bearer two\u0001');
  expect(asked.map((text) => Buffer.from(text.split(' ')[1] ?? '', 'base64').toString())).toEqual(['id:old', 'id:new']);
});

test.each<[string, Answer, object]>([
  ['500', { status: 500, body: 'oops' }, { name: 'KafkaJSConnectionError', retriable: true }],
  ['429', { status: 429, body: 'slowly' }, { name: 'KafkaJSConnectionError', retriable: true }],
  ['a page', { body: '<html>' }, { name: 'KafkaJSConnectionError', retriable: true }],
  [
    'invalid_client',
    { status: 401, body: '{"error":"invalid_client","error_description":"no such secret: s3cr3t"}' },
    {
      name: 'KafkaJSSASLAuthenticationError',
      retriable: false,
      message: expect.stringMatching(
        /^the token endpoint http.*\/token answered 401: invalid_client: no such secret: \*+$/,
      ),
    },
  ],
  ['a redirection', { status: 302, body: '' }, { name: 'KafkaJSSASLAuthenticationError', retriable: false }],
])('a token endpoint that answers %s', async (_, answer, expected) => {
  const { url } = await endpoint(answer);
  await expect(logIn(new TokenLogin(() => withEndpoint(url, 's3cr3t'), kafkajs))).rejects.toMatchObject(expected);
});

test("MSK's token is a presigned URL of the identity at AWS, in base64url", async () => {
  const before = { ...process.env };
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's' });
  try {
    const login = new TokenLogin(() => ({ mechanism: 'aws-msk-iam', aws: { region: 'eu-central-1' } }), kafkajs);
    const value = /Bearer ([\w-]+)/.exec(await logIn(login))?.[1] ?? '';
    const url = new URL(Buffer.from(value, 'base64url').toString());
    expect(url.host).toBe('kafka.eu-central-1.amazonaws.com');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: 'kafka-cluster:Connect',
      'User-Agent': 'stream-consumer',
      'X-Amz-Expires': '900',
    });
  } finally {
    process.env = before;
  }
});
