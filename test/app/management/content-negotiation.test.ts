import { expect, test } from '@jest/globals';
import { parseAccept } from '../../../app/management/accept-header.ts';
import { negotiate, producible } from '../../../app/management/content-negotiation.ts';

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
