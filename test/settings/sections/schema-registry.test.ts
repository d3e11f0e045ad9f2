import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { registryUrls } from '../../../settings/sections/schema-registry.ts';
import { checkSettings, settingsWarnings } from '../../../settings/settings.ts';

const HTTPS = 'https://registry.example.com';

const check = (schemaRegistry: object) =>
  checkSettings({
    kafka: { brokers: ['k:9092'], topics: ['payments'], groupId: 'g' },
    database: { url: 'postgresql://h/d' },
    formats: { payments: 'registry' },
    schemaRegistry,
  });

/** `path message` of each problem that a registry has. */
function problems(schemaRegistry: object): readonly string[] {
  const checked = check(schemaRegistry);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

function warnings(schemaRegistry: object): readonly string[] {
  const checked = check(schemaRegistry);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return settingsWarnings(checked.value);
}

const CLIENT = { tokenEndpoint: 'https://id.example.com/token', clientId: 'orders', clientSecret: 's' };
const HEADERS = { logicalCluster: 'lsrc-abc123', identityPoolId: 'pool-abc1' };

describe('a registry that is complete has no problem and no warning', () => {
  test.each([
    {},
    { url: [HTTPS, 'http://b.example.com:8081/apis/ccompat/v7'] },
    { username: 'u', password: 'p' },
    { token: 'abc.def-ghi==' },
    { oauth: { ...CLIENT, ...HEADERS } },
    { oauth: { tokenFile: '/token', ...HEADERS } },
    { context: 'payments', timeout: '1m', credentialsFrom: 'Secret registry' },
    { tls: { ca: '/ca.crt', certificate: '/tls.crt', privateKey: '/tls.key', serverName: 'registry' } },
  ])('%j', (section) => {
    expect(problems({ url: HTTPS, ...section })).toEqual([]);
    expect(warnings({ url: HTTPS, ...section })).toEqual([]);
  });

  test('and waits five seconds for an answer unless it says otherwise', () => {
    const checked = check({ url: HTTPS });
    expect(checked.ok && checked.value.schemaRegistry).toEqual({ url: HTTPS, timeout: '5s' });
  });

  test('and its URLs are a list, one or several', () => {
    expect(registryUrls({ url: HTTPS })).toEqual([HTTPS]);
    expect(registryUrls({ url: [HTTPS, 'https://b'] })).toEqual([HTTPS, 'https://b']);
  });
});

describe('all that is wrong with a registry is reported at once', () => {
  test.each<[object, readonly string[]]>([
    [{ url: undefined }, ['url is missing']],
    [{ url: [] }, ['url is not allowed']],
    [{ url: 'registry.example.com' }, ['url is not allowed']],
    [{ url: 'https://' }, ['url is not a URL']],
    [{ url: 'https://u:p@registry.example.com' }, ['url holds a user or password']],
    [
      { url: [HTTPS, 'https://u@b', 'https://b?x=1'] },
      ['url[1] holds a user or password', 'url[2] has a query or a fragment'],
    ],
    [{ url: 'https://b/#' }, ['url has a query or a fragment']],
    [{ username: 'u' }, ['password is missing, and schemaRegistry.username needs it']],
    [{ password: 'p' }, ['username is missing, and schemaRegistry.password needs it']],
    [{ username: 'a:b', password: 'p' }, ['username is not well-formed']],
    [{ token: 'two words' }, ['token is not well-formed']],
    [
      { username: 'u', password: 'p', token: 't', oauth: CLIENT },
      [
        'token is a second login beside schemaRegistry.username',
        'oauth is a second login beside schemaRegistry.username',
      ],
    ],
    [{ token: 't', oauth: CLIENT }, ['oauth is a second login beside schemaRegistry.token']],
    [
      { oauth: {} },
      [
        'oauth.tokenEndpoint is missing, and a login by OAuth needs it',
        'oauth.clientId is missing, and the token endpoint needs it',
        'oauth.clientSecret is missing, and the token endpoint needs it',
      ],
    ],
    [
      { oauth: { ...CLIENT, tokenEndpoint: 'http://id.example.com/t' } },
      ["oauth.tokenEndpoint would send the client's secret in the clear"],
    ],
    [{ oauth: { tokenFile: '/token', clientId: 'orders', extensions: {} } }, ['oauth.extensions is not a known key']],
    [
      { oauth: { tokenFile: '/token', clientId: 'orders' } },
      ['oauth.clientId is not read by a login with a tokenFile'],
    ],
    [{ oauth: { ...CLIENT, logicalCluster: 'a\r\nb: c' } }, ['oauth.logicalCluster is not well-formed']],
    [{ context: '.payments' }, ['context is not well-formed']],
    [{ context: ':.payments:' }, ['context is not well-formed']],
    [{ timeout: '0s' }, ['timeout is out of range']],
    [{ url: 'http://b', tls: { ca: '/ca.crt' } }, ['tls is set, but no URL of schemaRegistry.url begins with https:']],
    [{ tls: { certificate: '/tls.crt' } }, ['tls.privateKey is missing']],
    [{ tls: { privateKey: '/tls.key' } }, ['tls.certificate is missing']],
    [{ tls: { verifyHostName: false } }, ['tls.verifyHostName is not a known key']],
  ])('%j', (section, expected) => {
    expect(problems({ url: HTTPS, ...section })).toEqual(expected.map((text) => `schemaRegistry.${text}`));
  });

  test('in words that say what to write, and without the password', () => {
    const checked = check({ url: 'https://app:hunter2@registry.example.com' });
    expect(checked.ok ? '' : checked.problems.map(describeProblem).join('\n')).toBe(
      'schemaRegistry.url holds a user or password: "******"\n' +
        '  allowed: a URL without them; schemaRegistry.username and schemaRegistry.password hold the login',
    );
  });
});

describe('a login that crosses the network in clear text is a warning', () => {
  const clear = (key: string): readonly string[] => [
    `schemaRegistry.url has a URL that begins with http: and schemaRegistry.${key} is set: the credentials cross the network in clear text; use an https URL`,
  ];

  test.each<[object, readonly string[]]>([
    [{ url: 'http://b', username: 'u', password: 'p' }, clear('username')],
    [{ url: [HTTPS, 'http://b'], token: 't' }, clear('token')],
    [{ url: 'http://b', oauth: CLIENT }, clear('oauth')],
    [{ url: 'http://b' }, []],
    [{ url: 'http://localhost:8081', token: 't' }, []],
  ])('%j', (section, expected) => expect(warnings(section)).toEqual(expected));
});
