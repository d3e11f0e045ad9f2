import type { Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import type { GivenOptions } from '../dead-letters/dead-letters-request.ts';

/** The command `tables check`. */
export interface TablesRequest {
  readonly action: 'check';
  /** Whether each table is a line of JSON. */
  readonly json: boolean;
}

const CHECK = 'check';

/**
 * Reads the words and options of the command `tables`.
 *
 * @param words the words behind the command's name, without the options
 * @returns the request, or its problems
 */
export function readTablesRequest(
  words: readonly string[],
  options: GivenOptions,
): { readonly request?: TablesRequest; readonly problems: readonly Problem[] } {
  const [action, ...others] = words;
  const allowed = `tables ${CHECK}`;
  if (action !== CHECK) {
    const problem = { path: 'the command tables', allowed };
    return action === undefined
      ? { problems: [{ ...problem, message: 'needs to be told what to do' }] }
      : { problems: [{ ...problem, message: 'cannot do this', given: shownText(action, [CHECK]) }] };
  }
  const path = 'the command tables check';
  const problems = others.map((word) => ({ path, message: 'takes no further word', given: shownText(word), allowed }));
  return { request: { action, json: options.has('json') }, problems };
}
