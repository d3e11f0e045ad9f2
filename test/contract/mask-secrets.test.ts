import { describe, expect, test } from '@jest/globals';
import { maskSecrets, maskUrl } from '../../contract/mask-secrets.ts';
import type { SchemaNode } from '../../contract/schema-node.ts';

describe('a URL', () => {
  test.each([
    ['postgresql://h/d', 'postgresql://h/d'],
    ['postgresql://user@h:5432/d?sslmode=require', 'postgresql://user@h:5432/d?sslmode=require'],
    ['postgresql://user:hunter2@h:5432/d', 'postgresql://user:******@h:5432/d'],
    ['postgresql://user:a%40b@h/d', 'postgresql://user:******@h/d'],
    ['postgresql://h/d?user=u&password=hunter2', 'postgresql://h/d?user=u&password=******'],
    ['postgresql://h/d?sslpassword=hunter2', 'postgresql://h/d?sslpassword=******'],
    ['postgres:/nowhere', 'postgres:/nowhere'],
    ['not a url', 'not a url'],
    ['user:hunter2@host', '******'],
    ['postgresql://u:12/hunter2@h/d', '******'],
    ['postgresql://u:12#hunter2@h/d', '******'],
    ['postgresql://u:12?hunter2@h/d', '******'],
    ['postgresql://u:hunter2@x@h/d', 'postgresql://u:******@h/d'],
    ['postgresql:///d?host=/run/postgresql&password=hunter2', '******'],
    ['host=h password=hunter2', '******'],
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

  test('that stands for a secret is masked whatever its type', () => {
    expect(maskSecrets(schema, { password: { a: 1 }, urls: [5] })).toEqual({ password: '******', urls: ['******'] });
  });
});
