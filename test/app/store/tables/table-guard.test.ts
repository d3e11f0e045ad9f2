import { expect, test } from '@jest/globals';
import { withoutRepeatedSettings } from '../../../../app/store/tables/table-guard.ts';

test('what one table of a transaction sets is not set again for the next one, and every other step stays', () => {
  const set = (value: string) => ({ sql: `SET LOCAL TimeZone = '${value}'`, tag: 'SET' });
  const asked = { sql: 'SELECT', tag: 'SELECT 1' };
  expect(withoutRepeatedSettings([[set('UTC'), asked], [set('UTC'), asked], [], [set('Zulu'), set('Zulu')]])).toEqual([
    [set('UTC'), asked],
    [asked],
    [],
    [set('Zulu')],
  ]);
});
