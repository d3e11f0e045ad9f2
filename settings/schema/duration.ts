import { Type } from 'typebox';
import type { Rule } from './check.ts';
import { ALLOWED } from './schema.ts';

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number and its unit, as Spring writes simple durations: `500ms`, `30s`, `5m`, `1h`, `90d`. */
const DURATION_PATTERN = '^[0-9]+(ms|s|m|h|d)$';

/**
 * Milliseconds of a duration such as `30s`.
 *
 * @throws RangeError when the text does not match {@link DURATION_PATTERN}; a checked setting always does.
 */
export function milliseconds(duration: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(duration);
  if (match?.[1] === undefined) {
    throw new RangeError(`"${duration}" is not a duration: a whole number and one of ms, s, m, h, d is`);
  }
  return Number(match[1]) * MILLISECONDS[match[2] as keyof typeof MILLISECONDS];
}

const DURATION_ALLOWED = 'a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m';

/** Schema of a setting that is a time span. */
export const duration = (value: string, description: string) =>
  Type.String({
    pattern: DURATION_PATTERN,
    default: value,
    description,
    [ALLOWED]: DURATION_ALLOWED,
  });

/** The same of a time span that is left out unless somebody sets it. */
export const optionalDuration = (description: string) =>
  Type.Optional(Type.String({ pattern: DURATION_PATTERN, description, [ALLOWED]: DURATION_ALLOWED }));

/** The longest that Node's timers and PostgreSQL's time-outs can hold: 2^31 - 1 milliseconds. */
export const LONGEST = '2147483647ms';

/**
 * Rule that a duration lies in a range.
 *
 * @param path dotted path of the setting
 * @param read the setting's value; `undefined` where it is left out, which is right
 * @param least the shortest duration that is allowed
 * @param most the longest one
 */
export function durationBetween<T>(
  path: string,
  read: (settings: T) => string | undefined,
  least: string,
  most: string,
): Rule<T> {
  return {
    reads: [path],
    find: (settings) => {
      const given = read(settings);
      if (given === undefined) {
        return [];
      }
      const length = milliseconds(given);
      return length < milliseconds(least) || length > milliseconds(most)
        ? [{ path, message: 'is out of range', given, allowed: `a duration from ${least} to ${most}` }]
        : [];
    },
  };
}
