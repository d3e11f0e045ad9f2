import { Signer } from '@aws-sdk/rds-signer';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { generateAuthTokenFromCredentialsProvider } from 'aws-msk-iam-sasl-signer-js';
import { type AwsKeys, mskToken, rdsToken } from '../../../app/credentials/signature-v4.ts';

const NOW = Date.UTC(2026, 1, 3, 4, 5, 6);

beforeEach(() => void jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const lasting: AwsKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  expiresAt: Number.POSITIVE_INFINITY,
};
const temporary: AwsKeys = { ...lasting, sessionToken: 'IQoJb3Jp/Z2lu+X2Vj==', expiresAt: NOW + 3_600_000 };
const ending: AwsKeys = { ...temporary, expiresAt: NOW + 421_000 };
const KINDS = { lasting, temporary, ending };

/** The keys as AWS's own packages take them. */
const identity = ({ accessKeyId, secretAccessKey, sessionToken, expiresAt }: AwsKeys) => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken === undefined ? {} : { sessionToken }),
  ...(Number.isFinite(expiresAt) ? { expiration: new Date(expiresAt) } : {}),
});

/** What the reference names as the client, so that the bytes can be the same. */
const userAgentOf = (token: string): string =>
  new URL(Buffer.from(token, 'base64url').toString()).searchParams.get('User-Agent') ?? '';

describe.each(Object.entries(KINDS))('with %s keys', (_, keys) => {
  test.each(['eu-central-1', 'us-gov-west-1', 'cn-north-1'])(
    "the token for MSK in %s is that of AWS's own signer, byte for byte",
    async (region) => {
      const reference = await generateAuthTokenFromCredentialsProvider({
        region,
        awsCredentialsProvider: async () => identity(keys),
      });
      const token = mskToken({ keys, region }, userAgentOf(reference.token));
      expect(token).toEqual({ value: reference.token, expiresAt: reference.expiryTime });
    },
  );

  test.each(['consumer', "jane doe's (*) ü/=&+", 'a-b_c.d~e!'])(
    "the token for RDS of the user %p is that of AWS's own signer, byte for byte",
    async (user) => {
      const [host, region] = ['orders.c1.eu-west-1.rds.amazonaws.com', 'eu-west-1'];
      const signer = new Signer({ hostname: host, port: 5_433, username: user, region, credentials: identity(keys) });
      const token = rdsToken({ keys, region }, { host, port: 5_433, user });
      expect(token.value).toBe(await signer.getAuthToken());
      expect(token.expiresAt).toBe(Math.min(NOW + 900_000, keys.expiresAt));
    },
  );
});

test('a token for MSK ends with keys that end sooner than 15 minutes from now', () => {
  expect(mskToken({ keys: ending, region: 'eu-central-1' }, 'x').expiresAt).toBe(ending.expiresAt);
});
