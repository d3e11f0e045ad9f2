import { expect, test } from '@jest/globals';
import { sqlstateMeaning } from '../../../../app/store/connection/sqlstate-meaning.ts';

test.each([
  ['that of its condition', 'P0001', 'raised by a trigger or function'],
  ['that of its class where the condition has none', '22ZZZ', 'data exception'],
  ['null where no row raises it', 'ZZ000', null],
])('the meaning of a SQLSTATE is %s', (_, sqlstate, meaning) => {
  expect(sqlstateMeaning(sqlstate)).toBe(meaning);
});
