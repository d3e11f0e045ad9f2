import { expect, test } from '@jest/globals';
import { queryParameters } from '../../../app/management/query-parameters.ts';

test.each<[string, object]>([
  ['', {}],
  ['a=b&c=d', { a: 'b', c: 'd' }],
  ['a=b&a=c&a=b', { a: ['b', 'c', 'b'] }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=b', { '': 'b' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=%20b+c&%61=d', { a: [' b c', 'd'] }],
  ['a=%zz&b=1', { b: '1' }],
  ['%zz=1&b=1', { b: '1' }],
  ['a=%c3%28&&b=1', { b: '1' }],
])('the query %j has the parameters %j', (query, parameters) => {
  expect({ ...queryParameters(query) }).toEqual(parameters);
});

test('a name that every object has is one like any other', () => {
  expect(Object.entries(queryParameters('__proto__=a&constructor=b'))).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});
