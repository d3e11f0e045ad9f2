import { count, type Finding } from '../verdict/finding.ts';

/** Of more details than this the first ones are shown. */
const EXAMPLES = 10;

/** A finding that is well when the two numbers are the same. */
export function findingOfNumbers(check: string, expected: number, found: number, details: readonly string[]): Finding {
  const shown = details.length > EXAMPLES ? [...details.slice(0, EXAMPLES), '...'] : details;
  return { check, expected: count(expected), found: count(found), isWell: expected === found, details: shown };
}
