import { describe, expect, test } from '@jest/globals';
import { maskSecrets, maskText, maskUrl } from '../../../settings/schema/mask-secrets.ts';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { growth, NOT_QUADRATIC } from '../../app/growth.ts';

describe('a URL', () => {
  test.each([
    ['postgresql://h/d', 'postgresql://h/d'],
    ['postgresql://user@h:5432/d?sslmode=require', 'postgresql://user@h:5432/d?sslmode=require'],
    ['postgresql://user:hunter2@h:5432/d', 'postgresql://user:******@h:5432/d'],
    ['postgresql://user:a%40b@h/d', 'postgresql://user:******@h/d'],
    ['postgresql://h/d?user=u&password=hunter2', 'postgresql://h/d?user=u&password=******'],
    ['postgresql://h/d?sslpassword=hunter2', 'postgresql://h/d?sslpassword=******'],
    ['postgresql://h/d?options=hunter2&sslmode=require', 'postgresql://h/d?sslmode=require&options=******'],
    ['postgresql://h/d?hunter2', 'postgresql://h/d?******=******'],
    ['postgresql://h/d#hunter2', 'postgresql://h/d#******'],
    ['postgresql://hunter2hunter2@h/d', 'postgresql://******@h/d'],
    ['postgresql://h/d?sslmode=requiresslpassword=hunter2', 'postgresql://h/d?sslmode=******'],
    ['postgresql://h/dsslmode=require&sslpassword=hunter2', '******'],
    ['postgres:/hunter2', '******'],
    ['postgresql://h/d password:hunter2', '******'],
    ['not a url', '******'],
    ['user:hunter2@host', '******'],
    ['postgresql://u:12/hunter2@h/d', '******'],
    ['postgresql://u:12#hunter2@h/d', '******'],
    ['postgresql://u:12?hunter2@h/d', '******'],
    ['postgresql://u:hunter2@x@h/d', 'postgresql://u:******@h/d'],
    ['postgresql:///d?host=/run/postgresql&password=hunter2', '******'],
    ['host=h password=hunter2', '******'],
    ['postgresql://a:5432,b:5433/d?sslmode=require', 'postgresql://a:5432,b:5433/d?sslmode=require'],
    ['postgresql://u:hunter2@a.example,[::1]/d', 'postgresql://u:******@a.example,[::1]/d'],
    ['postgresql://u:hunt,er2@a:1,b:2/d?password=hunter2', 'postgresql://u:******@a:1,b:2/d?password=******'],
    ['postgresql://u:hunter2,x@a/d', 'postgresql://u:******@a/d'],
    ['postgresql://hunter2hunter2@host,b/d', 'postgresql://******@host,b/d'],
    ['postgresql://u:12,hunter2/d', '******'],
    ['postgresql://u:,hunter2/d', '******'],
    ['postgresql://u:hunter2,a:5432/d', '******'],
    ['postgresql://u:1,a/hunter2@a,b/d', '******'],
    ['postgresql://a,b/hunter2@a,b/d', '******'],
    ['postgresql://a,b/dsslmode=require&sslpassword=hunter2', '******'],
  ])('%s is shown as %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
  });
});

describe('a value', () => {
  const schema: SchemaNode = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      password: { type: 'string', 'x-secret': true },
      urls: { type: 'array', items: { type: 'string', 'x-secret': 'url' } },
      inner: { type: 'object', properties: { token: { type: 'string', 'x-secret': true } } },
    },
  };

  test('keeps what is no secret', () => {
    expect(maskSecrets(schema, { name: 'n', inner: {} })).toEqual({ name: 'n', inner: {} });
  });

  test('is masked where the schema says so, in lists and sections too', () => {
    const value = { password: 'p', urls: ['a://u:p@h'], inner: { token: 't' } };
    expect(maskSecrets(schema, value)).toEqual({
      password: '******',
      urls: ['a://u:******@h'],
      inner: { token: '******' },
    });
  });

  test('is masked at a key that the schema does not know, and in place of a section with a secret', () => {
    expect(maskSecrets(schema, { pasword: 'p', inner: 'token' })).toEqual({ pasword: '******', inner: '******' });
    expect(maskSecrets(schema, { constructor: 'p' })).toEqual({ constructor: '******' });
    expect(maskSecrets(schema, ['p'])).toBe('******');
  });

  test('with a free name is masked where the name, mistyped or not, says that it is a secret', () => {
    const free: SchemaNode = { type: 'object', patternProperties: { '^.+$': { type: 'string' } } };
    const value = { password: 'p', pasword: 'p', team: 'a', 'x password:hunter2': 'k' };
    expect(maskSecrets(free, value)).toEqual({
      password: '******',
      pasword: '******',
      team: 'a',
      '******': '******',
    });
    expect(maskSecrets({}, { app: { apiKey: 'k', name: 'orders', urls: ['http://u:hunter2@h'] } })).toEqual({
      app: { apiKey: '******', name: 'orders', urls: ['http://u:******@h'] },
    });
  });

  test.each([
    ['orders-v2.example', 'orders-v2.example'],
    ['Writes the orders of all countries, once.', 'Writes the orders of all countries, once.'],
    ['orders password:hunter2', '******'],
    ['orders Xq7zw', '******'],
  ])('of several words is shown as prose only: %s is %s', (text, shown) => {
    expect(maskSecrets({ type: 'string' }, text)).toBe(shown);
  });

  test('that stands for a secret is masked whatever its type', () => {
    expect(maskSecrets(schema, { password: { a: 1 }, urls: [5] })).toEqual({ password: '******', urls: ['******'] });
  });
});

describe('a text', () => {
  test.each([
    ['host=db password=s3cr3t user=orders', 'host=db password=****** user=orders'],
    ['postgres://db/orders?sslpassword=s3cr3t&a=b', 'postgres://db/orders?sslpassword=******&a=b'],
    ["password='with blank' host=db", 'password=****** host=db'],
    ['database: { password: s3cr3t }', 'database: { password: ****** }'],
    ['{"sslpassword":"s3cr3t","a":1}', '{"sslpassword":******,"a":1}'],
    ['https://h/x?access_token=s3cr3t&a=b', 'https://h/x?access_token=******&a=b'],
    ['api-key: s3cr3t', 'api-key: ******'],
    ['passphrase=s3cr3t', 'passphrase=******'],
    ['Authorization: Basic czNjcjN0', 'Authorization: ******'],
    ['sent Bearer s3cr3ts3cr3t', 'sent Bearer ******'],
    ['no broker orders:s3cr3t@kafka:9092 today', 'no broker orders:******@kafka:9092 today'],
    ['postgres://orders:s3cr3tdb/orders', 'postgres://orders:******'],
    [`postgres://orders:${'s3cr3t'.repeat(200)}@db/orders`, 'postgres://orders:******@db/orders'],
    ['key -----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----\n.', 'key ******\n.'],
    ['key -----BEGIN PRIVATE KEY-----\ns3cr3t', 'key ******'],
  ])('a password as a parameter is masked: %s', (text, masked) => {
    expect(maskText(text)).toBe(masked);
  });

  test.each([
    'password authentication failed for user "orders" at http://db:5432/orders, see a@b',
    'connect ECONNREFUSED 127.0.0.1:5432 and ::1:5432, https://[::1]:8080/x, https://h:8443',
    'listening at http://0.0.0.0:8080.',
    'https://host:8080: refused',
    'at run (file:///srv/node_modules/@scope/x.js:10:5) and node:internal/y:1:2',
  ])('text without a secret stays as it is: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });

  test.each(['a', 'x://a:', 'password = ', '://:', '@:', 'x:@ ', '-----BEGIN ', 'token:', 'bearer '])(
    'the work for a text of many %j grows with its length, not with the square of it',
    (part) => {
      expect(growth(1_000, (length) => maskText(part.repeat(length)))).toBeLessThan(NOT_QUADRATIC);
    },
  );
});
