import { expect, test } from '@jest/globals';
import {
  accepts,
  formatMediaRange,
  negotiate,
  parseAccept,
  parseMediaRange,
  producible,
} from '../../../app/management/content-negotiation.ts';
import { growth, NOT_QUADRATIC } from '../growth.ts';

const order = (header: string | undefined) => parseAccept(header).map(formatMediaRange);

test.each([undefined, '', '  '])('without a wish everything is acceptable (%j)', (header) => {
  expect(order(header)).toEqual(['*/*']);
});

test('what the client likes best comes first, the more specific first among equals', () => {
  expect(order('*/*;q=0.1, text/plain;q=0.5, text/*;q=0.5, text/plain;version=0.0.4;q=0.5, text/html')).toEqual([
    'text/html',
    'text/plain;version=0.0.4',
    'text/plain',
    'text/*',
    '*/*',
  ]);
});

test('a range with q=0 is not acceptable', () => {
  expect(order('text/html;q=0, application/json')).toEqual(['application/json']);
});

test.each(['garbage', 'text', '/', 'text/', '*/json', 'a/b/c', 'text/html;q=2', 'text/html;q=x', 'te xt/html', ','])(
  'a header that is none makes nothing acceptable: %j',
  (header) => {
    expect(order(`application/json, ${header}`)).toEqual([]);
  },
);

test('names are compared whatever their case, and quotes do not count', () => {
  expect(order('Text/HTML;Charset="UTF-8"')).toEqual(['text/html;charset=UTF-8']);
});

test.each([
  ['*/*', 'text/plain', true],
  ['*', 'text/plain', true],
  ['text/*', 'text/plain', true],
  ['text/*', 'application/json', false],
  ['application/*+json', 'application/vnd.x+json', true],
  ['application/*+json', 'application/json', false],
  ['application/vnd.x+json', 'application/*+json', true],
  ['text/plain', 'text/plain;version=0.0.4', true],
  ['text/plain;version=0.0.4', 'text/plain;version=0.0.4', true],
  ['text/plain;version=0.0.2', 'text/plain;version=0.0.4', false],
  ['text/plain;escaping=x', 'text/plain;version=0.0.4', true],
  ['text/plain;charset=UTF-8', 'text/plain;charset=utf-8', true],
])('%s against %s: %s', (range, type, expected) => {
  const [parsedRange, parsedType] = [parseMediaRange(range), parseMediaRange(type)];
  expect(parsedRange && parsedType && accepts(parsedRange, parsedType)).toBe(expected);
});

test.each([
  ['of many ranges', (length: number) => 'a/b;q=0.5,'.repeat(length)],
  ['of many parameters', (length: number) => `a/b${';x=y'.repeat(length)}`],
  ['of one long name', (length: number) => `${'a'.repeat(10 * length)}/b`],
  ['of blanks', (length: number) => `a/b;${' '.repeat(10 * length)}q=1`],
])('the work for a header %s grows with its length, not with the square of it', (_what, header) => {
  expect(growth(2_000, (length) => parseAccept(header(length)))).toBeLessThan(NOT_QUADRATIC);
});

const TYPES = producible('application/vnd.x.v2+json', 'application/json', 'text/*');

test.each([
  ['*/*', 'application/vnd.x.v2+json'],
  ['application/*', 'application/vnd.x.v2+json'],
  ['application/*+json', 'application/vnd.x.v2+json'],
  ['application/json', 'application/json'],
  ['application/json;charset=utf-8', 'application/json;charset=utf-8'],
  ['application/json;q=0.1, */*;q=0.2', 'application/vnd.x.v2+json'],
  ['image/png, application/json;q=0.1', 'application/json'],
  ['text/csv', 'text/csv'],
])('for %s the answer is %s', (accept, type) => {
  expect(negotiate(parseAccept(accept), TYPES)).toBe(type);
});

test.each(['image/png', 'text/*', 'garbage'])('for %s there is none', (accept) => {
  expect(negotiate(parseAccept(accept), TYPES)).toBeUndefined();
});
