import { describe, expect, test } from '@jest/globals';
import { checkSettings } from '../../../settings/settings.ts';

/** `path message` of each problem that a login has. */
function problems(sasl: object, ssl = true): readonly string[] {
  const kafka = { brokers: ['k:9092'], topics: ['t'], groupId: 'g', ssl, sasl };
  const checked = checkSettings({ kafka, database: { url: 'postgresql://h/d' } });
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

const CLIENT = { tokenEndpoint: 'https://id.example.com/token', clientId: 'orders', clientSecret: 's' };

describe('a login that is complete has no problem', () => {
  test.each([
    ['plain', { username: 'u', password: 'p' }],
    ['scram-sha-256', { username: 'u', password: 'p' }],
    ['scram-sha-512', { username: 'u', password: 'p' }],
    ['oauthbearer', { oauth: CLIENT }],
    [
      'oauthbearer',
      { oauth: { ...CLIENT, scope: 'a b', extensions: { logicalCluster: 'lkc-1', identityPoolId: 'p' } } },
    ],
    ['oauthbearer', { oauth: { tokenFile: '/token', extensions: { logicalCluster: 'lkc-1' } } }],
    ['aws-msk-iam', {}],
    ['aws-msk-iam', { aws: { region: 'us-gov-west-1' } }],
  ])('%s %j', (mechanism, login) => {
    expect(problems({ mechanism, ...login })).toEqual([]);
  });
});

describe('all that a login lacks, and all that it does not read, is told at once', () => {
  test.each<[string, object, readonly string[]]>([
    ['plain', {}, ['username is missing, and plain needs it', 'password is missing, and plain needs it']],
    [
      'scram-sha-512',
      { username: 'u', oauth: CLIENT, aws: {} },
      [
        'password is missing, and scram-sha-512 needs it',
        'oauth is not read by scram-sha-512',
        'aws is not read by scram-sha-512',
      ],
    ],
    [
      'oauthbearer',
      { username: 'u', password: 'p', aws: {} },
      [
        'oauth.tokenEndpoint is missing, and oauthbearer needs it',
        'oauth.clientId is missing, and the token endpoint needs it',
        'oauth.clientSecret is missing, and the token endpoint needs it',
        'username is not read by oauthbearer',
        'password is not read by oauthbearer',
        'aws is not read by oauthbearer',
      ],
    ],
    [
      'oauthbearer',
      { oauth: { ...CLIENT, scope: 's', tokenFile: '/token' } },
      ['tokenEndpoint', 'clientId', 'clientSecret', 'scope'].map(
        (key) => `oauth.${key} is not read by a login with a tokenFile`,
      ),
    ],
    [
      'aws-msk-iam',
      { username: 'u', oauth: CLIENT },
      ['username is not read by aws-msk-iam', 'oauth is not read by aws-msk-iam'],
    ],
  ])('%s %j', (mechanism, login, expected) => {
    expect(problems({ mechanism, ...login })).toEqual(expected.map((text) => `kafka.sasl.${text}`));
  });

  test('aws-msk-iam without TLS, which MSK does not offer', () => {
    expect(problems({ mechanism: 'aws-msk-iam' }, false)).toEqual([
      'kafka.ssl is off, and MSK takes aws-msk-iam over TLS alone',
    ]);
  });
});

describe('a token endpoint', () => {
  const endpoint = (tokenEndpoint: string) =>
    problems({ mechanism: 'oauthbearer', oauth: { ...CLIENT, tokenEndpoint } });

  test.each(['http://localhost:8080/t', 'http://127.0.0.1/t', 'http://[::1]:9/t', 'https://id/t?tenant=a'])(
    'may be %s',
    (url) => expect(endpoint(url)).toEqual([]),
  );

  test.each(['http://id.example.com/t', 'http://localhost.example.com/t', 'http://127.0.0.1.example.com/t'])(
    'may not be %s, over which the secret would go in the clear',
    (url) =>
      expect(endpoint(url)).toEqual(["kafka.sasl.oauth.tokenEndpoint would send the client's secret in the clear"]),
  );

  test.each(['https://user:secret@id/t', 'ftp://id/t', 'id/t', 'https://id/t#a'])('may not be %s', (url) => {
    expect(endpoint(url)).toHaveLength(1);
  });
});

test.each([
  { auth: 'x' },
  { 'logical-cluster': 'x' },
  { logicalCluster: 'a\u0001auth=Bearer x' },
  { logicalCluster: '' },
])('an extension that RFC 7628 does not allow is refused: %j', (extensions) => {
  expect(problems({ mechanism: 'oauthbearer', oauth: { ...CLIENT, extensions } })).toHaveLength(1);
});
