import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { AwsIdentity } from '../../../app/credentials/aws-identity.ts';
import { type Answer, type StubServer, startStubServer } from '../../integration/stack/stub-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'aws-identity-'));
const servers: StubServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A server of this test, which ends with it. */
async function serving(answer: (request: IncomingMessage, body: string) => Answer): Promise<StubServer> {
  const server = await startStubServer(answer);
  servers.push(server);
  return server;
}

/** A file of this test with a token. */
function tokenFile(token: string): string {
  const file = join(folder, `token-${servers.length}-${Math.random()}`);
  writeFileSync(file, `${token}\n`);
  return file;
}

const HOUR = 3_600_000;
const START = Date.UTC(2026, 1, 3);
const inAnHour = (): string => new Date(START + HOUR).toISOString();

/** A clock that a test sets, in milliseconds after the start. */
function aClock() {
  const time = { now: START };
  const set = (ms: number): void => {
    time.now = START + ms;
  };
  return { now: () => time.now, set };
}

const assumed = (session: string, expiration = inAnHour()): string => `<AssumeRoleWithWebIdentityResponse>
  <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>${session}</SessionToken>
  <SecretAccessKey>c2VjcmV0</SecretAccessKey><Expiration>${expiration}</Expiration><AccessKeyId>ASIAEXAMPLE</AccessKeyId>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

const refused = (code: string, message: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** The environment that EKS gives a Pod with an annotated ServiceAccount. */
const webIdentity = ({ url }: StubServer, file: string) => ({
  AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/orders',
  AWS_WEB_IDENTITY_TOKEN_FILE: file,
  AWS_ENDPOINT_URL_STS: url,
  AWS_REGION: 'eu-central-1',
});

describe('keys of the environment', () => {
  test('come before everything else, and never end', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' };
    const identity = new AwsIdentity(undefined, {
      ...environment,
      AWS_ROLE_ARN: 'x',
      AWS_WEB_IDENTITY_TOKEN_FILE: 'x',
    });
    expect(await identity.keys()).toEqual({
      accessKeyId: 'AKIA',
      secretAccessKey: 's',
      sessionToken: 't',
      expiresAt: Number.POSITIVE_INFINITY,
    });
  });

  test('that are not there are a refusal, which says what there may be', async () => {
    const problem = new AwsIdentity(undefined, {}).keys();
    await expect(problem).rejects.toThrow(/AWS_ACCESS_KEY_ID.*AWS_WEB_IDENTITY_TOKEN_FILE.*AWS_CONTAINER/);
    await expect(problem).rejects.toMatchObject({ code: 'CREDENTIALS_REFUSED' });
  });
});

test('the region is that of the settings, else AWS_REGION, else AWS_DEFAULT_REGION, else a refusal', () => {
  const environment = { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' };
  expect(new AwsIdentity('eu-central-1', environment).region).toBe('eu-central-1');
  expect(new AwsIdentity(undefined, environment).region).toBe('eu-west-1');
  expect(new AwsIdentity(undefined, { ...environment, AWS_REGION: '' }).region).toBe('us-east-1');
  expect(() => new AwsIdentity(undefined, {}).region).toThrow(/set AWS_REGION, or the region in the settings/);
});

describe('a web identity', () => {
  test('is shown to STS, whose keys are taken', async () => {
    const asked: URLSearchParams[] = [];
    const sts = await serving((_, body) => {
      asked.push(new URLSearchParams(body));
      return { body: assumed('FwoG/+=') };
    });
    const keys = await new AwsIdentity(undefined, webIdentity(sts, tokenFile('jwt-of-the-pod'))).keys();
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::123456789012:role/orders',
      RoleSessionName: 'stream-consumer',
      WebIdentityToken: 'jwt-of-the-pod',
    });
    expect(keys).toMatchObject({ accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'c2VjcmV0', sessionToken: 'FwoG/+=' });
  });

  test('is read and shown again before the keys end, once for all that ask', async () => {
    const shown: (string | null)[] = [];
    const sts = await serving((_, body) => {
      shown.push(new URLSearchParams(body).get('WebIdentityToken'));
      return { body: assumed(`session-${shown.length}`) };
    });
    const file = tokenFile('first');
    const clock = aClock();
    const identity = new AwsIdentity(undefined, webIdentity(sts, file), clock.now);
    await Promise.all([identity.keys(), identity.keys(), identity.keys()]);
    expect((await identity.keys()).sessionToken).toBe('session-1');
    writeFileSync(file, 'second');
    clock.set(HOUR - 290_000);
    expect((await identity.keys()).sessionToken).toBe('session-2');
    expect(shown).toEqual(['first', 'second']);
  });

  test('that STS refuses is a refusal in its words, without the token', async () => {
    const sts = await serving(() => ({
      status: 403,
      body: refused('AccessDenied', 'Not authorized with jwt-canary'),
    }));
    const problem = new AwsIdentity(undefined, webIdentity(sts, tokenFile('jwt-canary'))).keys();
    await expect(problem).rejects.toThrow('answered 403: AccessDenied: Not authorized with ***');
    await expect(problem).rejects.toMatchObject({ code: 'CREDENTIALS_REFUSED' });
  });

  test('whose STS is away is an outage, and keys that still hold go on', async () => {
    let isUp = true;
    const sts = await serving(() => (isUp ? { body: assumed('session') } : { status: 503, body: 'busy' }));
    const clock = aClock();
    const identity = new AwsIdentity(undefined, webIdentity(sts, tokenFile('jwt')), clock.now);
    await identity.keys();
    isUp = false;
    clock.set(HOUR - 60_000);
    expect((await identity.keys()).sessionToken).toBe('session');
    clock.set(HOUR + 1_000);
    await expect(identity.keys()).rejects.toMatchObject({ code: 'CREDENTIALS_UNAVAILABLE' });
    isUp = true;
    expect((await identity.keys()).sessionToken).toBe('session');
  });

  test('whose file is not there is an outage', async () => {
    const sts = await serving(() => ({ body: '' }));
    const problem = new AwsIdentity(undefined, webIdentity(sts, join(folder, 'none'))).keys();
    await expect(problem).rejects.toThrow(/AWS_WEB_IDENTITY_TOKEN_FILE cannot be read: ENOENT/);
    await expect(problem).rejects.toMatchObject({ code: 'CREDENTIALS_UNAVAILABLE' });
  });
});

describe('the endpoint of a container', () => {
  test('is asked with the token of its file, which is read each time', async () => {
    const shown: (string | undefined)[] = [];
    const agent = await serving(({ headers }) => {
      shown.push(headers.authorization);
      const keys = { AccessKeyId: 'ASIA', SecretAccessKey: 's', Token: `t${shown.length}`, Expiration: inAnHour() };
      return { body: JSON.stringify(keys) };
    });
    const file = tokenFile('pod-token');
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    };
    const clock = aClock();
    const identity = new AwsIdentity(undefined, environment, clock.now);
    expect(await identity.keys()).toMatchObject({ accessKeyId: 'ASIA', sessionToken: 't1' });
    writeFileSync(file, 'pod-token-2');
    clock.set(HOUR);
    expect(await identity.keys()).toMatchObject({ sessionToken: 't2' });
    expect(shown).toEqual(['pod-token', 'pod-token-2']);
  });

  test('is not asked in the clear on another host', async () => {
    const identity = new AwsIdentity('x', { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://192.0.2.1/keys' });
    await expect(identity.keys()).rejects.toThrow(/names http:\/\/192.0.2.1; allowed: https/);
  });

  test.each(['', 'null', '{"AccessKeyId":"A"}'])('that answers %p gives no keys', async (body) => {
    const agent = await serving(() => ({ body }));
    const identity = new AwsIdentity('x', { AWS_CONTAINER_CREDENTIALS_FULL_URI: agent.url });
    await expect(identity.keys()).rejects.toThrow(/answered without AccessKeyId/);
  });
});
