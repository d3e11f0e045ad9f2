import { expect, test } from '@jest/globals';
import { joinedGuards } from '../../../../app/store/tables/table-guard.ts';

test('what one table of a transaction sets is not set again for the next one, and every other step stays', () => {
  const set = (value: string) => ({ sql: `SET LOCAL TimeZone = '${value}'`, tag: 'SET' });
  const asked = { sql: 'SELECT', tag: 'SELECT 1' };
  const steps = [[set('UTC'), asked], [set('UTC'), asked], [], [set('Zulu'), set('Zulu')]];
  expect(joinedGuards(steps.map((each) => ({ steps: each })))).toEqual({
    ofTables: [[set('UTC'), asked], [asked], [], [set('Zulu')]],
    comparisons: [],
  });
});

test('tables that are compared by the same expression are compared by one query, which counts each', () => {
  const known = (expression: string, name: string) => ({
    steps: [],
    fingerprint: { expression, expected: 'as known', name, mayHaveRowTriggers: false },
  });
  const { comparisons } = joinedGuards([known('a', 'one'), known('b', 'two'), known('a', 'three'), { steps: [] }]);
  expect(comparisons.map(({ tag }) => tag)).toEqual(['SELECT 2', 'SELECT 1']);
  expect(comparisons.map(({ sql }) => [...sql.matchAll(/to_regclass\('(\w+)'\)/g)].map(([, name]) => name))).toEqual([
    ['one', 'three'],
    ['two'],
  ]);
});
