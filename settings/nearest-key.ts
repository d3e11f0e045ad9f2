import { closest, distance } from 'fastest-levenshtein';

/** Letters and digits alone: what is left when a person mixes up the ways of writing a name. */
export const plainName = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** Longer than any known name; what is compared takes time with the product of the lengths. */
const LONGEST = 256;

/**
 * The known name that an unknown one was most likely meant to be.
 *
 * @returns `undefined` when none is near: more than half of the letters differ, and neither begins with the other.
 */
export function nearestKey(unknown: string, known: readonly string[]): string | undefined {
  const wanted = plainName(unknown.slice(0, LONGEST));
  if (known.length === 0 || wanted === '') {
    return undefined;
  }
  const names = known.map(plainName);
  const nearest = closest(wanted, names);
  const isNear = distance(wanted, nearest) <= Math.floor(Math.max(wanted.length, nearest.length) * 0.4);
  const found = isNear ? nearest : names.find((name) => name.startsWith(wanted) || wanted.startsWith(name));
  return found === undefined ? undefined : known[names.indexOf(found)];
}
