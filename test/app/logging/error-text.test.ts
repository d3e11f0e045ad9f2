import { expect, test } from '@jest/globals';
import { errorText } from '../../../app/logging/error-text.ts';

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
