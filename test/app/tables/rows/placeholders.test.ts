import { expect, test } from '@jest/globals';
import { valueAt } from '../../../../app/tables/json/json-slice.ts';
import { Placeholders } from '../../../../app/tables/rows/kept-columns.ts';

const isKept = (json: string): boolean => new Placeholders('not/there').includes(valueAt(Buffer.from(json), 0));

test.each([
  ['"not/there"'],
  ['"not\\/there"'],
  ['"\\u006eot/there"'],
  ['"not/ther\\u0065"'],
  ['"{\\"not/there\\":\\"not/there\\"}"'],
  ['"{\\"not\\/there\\":\\"not\\u002fthere\\"}"'],
  ['{"not/there":"not/there"}'],
  ['["not/there"]'],
])('%s is the placeholder', (json) => {
  expect(isKept(json)).toBe(true);
});

test.each([
  ['"not/there\\n"'],
  ['"not/ther\\u0066"'],
  ['"\\"not/there"'],
  ['"not\\/"'],
  ['"{\\"not/there\\":\\"not/there\\"} "'],
  ['"{\\"not/there\\":\\""'],
  ['"[{\\"sku\\":1}]"'],
])('%s is none', (json) => {
  expect(isKept(json)).toBe(false);
});
