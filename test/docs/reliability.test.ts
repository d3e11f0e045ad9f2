import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { verdictOn } from '../../app/store/connection/sqlstate.ts';

const text = readFileSync(new URL('../../docs/faults.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `([0-9A-Z]{2}(?:[0-9A-Z]{3})?)` \| (\w+) \| ([^|]+) \|$/gm)];
const documented = new Map(rows.map(([, sqlstate = '', verdict = '']) => [sqlstate, verdict]));

const DIGITS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const ALL_CLASSES = DIGITS.flatMap((first) => DIGITS.map((second) => first + second));

/** Of an error of PostgreSQL itself, which names the function that raised it. */
function verdict(sqlstate: string): string {
  const error = new DatabaseError('refused', 0, 'error');
  error.code = sqlstate;
  error.routine = 'aFunction';
  return verdictOn(error);
}

describe('the table of SQLSTATEs in docs/faults.md', () => {
  test.each([...documented])('says of %s what the consumer does: %s', (sqlstate, expected) => {
    expect(verdict(sqlstate.padEnd(5, '0'))).toBe(expected);
  });

  test('has every class that is not unknown', () => {
    const known = ALL_CLASSES.filter((sqlClass) => verdict(`${sqlClass}ZZZ`) !== 'unknown');
    expect(known.length).toBeGreaterThan(10);
    expect(known.filter((sqlClass) => !documented.has(sqlClass))).toEqual([]);
  });

  test('has every code with a verdict of its own', () => {
    const source = readFileSync(new URL('../../app/store/connection/sqlstate.ts', import.meta.url), 'utf8');
    const codes = [...source.matchAll(/^ {2}'?([0-9A-Z]{5})'?: '/gm)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(0);
    expect(codes.filter((code) => !documented.has(code))).toEqual([]);
  });
});
