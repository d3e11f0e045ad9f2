import { expect, test } from '@jest/globals';
import { errorText, maskText } from '../../../app/health/error-text.ts';
import { growth, NOT_QUADRATIC } from '../growth.ts';

test('an error is its name and its message on one line', () => {
  expect(errorText(new TypeError('first line\n  second line'))).toBe('TypeError: first line second line');
});

test('an error that stands for several shows the messages of all', () => {
  const refused = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'];
  const error = new AggregateError(refused.map((message) => new Error(message)));
  expect(errorText(error)).toBe(`AggregateError: ${refused.join('; ')}`);
});

test('something that is no error is shown all the same', () => {
  expect(errorText('gone')).toBe('Error: gone');
});

test.each([
  ['postgres://orders:s3cr3t@db:5432/orders', 'postgres://orders:******@db:5432/orders'],
  ['postgres://orders:s3/c@r3t@db:5432/orders', 'postgres://orders:******@db:5432/orders'],
  ['postgres://:s3cr3t@db', 'postgres://:******@db'],
])('a password in a URL is masked: %s', (url, masked) => {
  expect(errorText(new Error(`no route to ${url} today`))).toBe(`Error: no route to ${masked} today`);
});

test.each([
  ['host=db password=s3cr3t user=orders', 'host=db password=****** user=orders'],
  ['postgres://db/orders?sslpassword=s3cr3t&a=b', 'postgres://db/orders?sslpassword=******&a=b'],
  ["password='with blank' host=db", 'password=****** host=db'],
])('a password as a parameter is masked: %s', (text, masked) => {
  expect(maskText(text)).toBe(masked);
});

test('text without a secret stays as it is', () => {
  const text = 'password authentication failed for user "orders" at http://db:5432/orders, see a@b';
  expect(maskText(text)).toBe(text);
});

test.each(['a', 'x://a:', 'password = ', '://:'])(
  'the work for a text of many %j grows with its length, not with the square of it',
  (part) => {
    expect(growth(1_000, (length) => maskText(part.repeat(length)))).toBeLessThan(NOT_QUADRATIC);
  },
);
