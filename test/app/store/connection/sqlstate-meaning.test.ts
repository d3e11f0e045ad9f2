import { expect, test } from '@jest/globals';
import { sqlstateMeaning } from '../../../../app/store/connection/sqlstate-meaning.ts';

test.each([
  ['a condition of its own words', 'P0001', 'raised by a trigger or function'],
  ['the class of one without', '22ZZZ', 'data exception'],
  ['none that a row raises', 'ZZ000', null],
])('the meaning of a SQLSTATE is %s', (_, sqlstate, meaning) => {
  expect(sqlstateMeaning(sqlstate)).toBe(meaning);
});
