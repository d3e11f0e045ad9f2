import { describe, expect, test } from '@jest/globals';
import { verdictTable } from '../../../dev/verdict/finding.ts';

describe('the verdict', () => {
  test('is a table with the numbers below each other, and details below what differs', () => {
    const lines = verdictTable(
      [
        { check: 'records', expected: '1,000', found: '1,000', isWell: true, details: [] },
        { check: 'dead letters', expected: '8', found: '7', isWell: false, details: ['1 missing'] },
      ],
      (text, isWell) => (isWell ? text : `!${text}`),
    );
    expect(lines).toEqual([
      '  check         expected  found',
      '  records          1,000  1,000  ok',
      '  dead letters         8      7  !DIFFERS',
      '      1 missing',
    ]);
  });
});
