import { DEAD_LETTER_REASONS, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { nearestKey, type Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';

/** Selects dead letters; an empty condition selects all. */
export interface DeadLetterFilter {
  readonly reasons: readonly DeadLetterReason[];
  readonly topics: readonly string[];
}

/** The options of both commands. */
interface SelectingRequest {
  readonly filter: DeadLetterFilter;
  /** Dead letters to look at, at most; `undefined` is all of them. */
  readonly limit: number | undefined;
  /** Whether the output is one JSON object per line instead of text. */
  readonly json: boolean;
}

/** The command `dead-letters list`. */
export interface ListRequest extends SelectingRequest {
  readonly action: 'list';
  /** Whether keys and values are shown, which may be confidential. */
  readonly showValue: boolean;
}

/** The command `dead-letters replay`. */
export interface ReplayRequest extends SelectingRequest {
  readonly action: 'replay';
  /** Whether everything is tried, and nothing changed. */
  readonly dryRun: boolean;
  /** Whether rows of the letters' keys, which may be of newer records, are replaced and deleted. */
  readonly overwrite: boolean;
}

export type DeadLettersRequest = ListRequest | ReplayRequest;

/** The default of `--limit` for `list`; `replay` takes all dead letters. */
export const LISTED_BY_DEFAULT = 100;

const ACTIONS = ['list', 'replay'] as const;

type Action = (typeof ACTIONS)[number];

const isAction = (word: string | undefined): word is Action => ACTIONS.some((action) => action === word);

const isReason = (word: string): word is DeadLetterReason => DEAD_LETTER_REASONS.some((reason) => reason === word);

/** The given options, each with its values in their order; an option without a value has none. */
export type GivenOptions = ReadonlyMap<string, readonly string[]>;

function wrongReason(written: string): Problem {
  const nearest = nearestKey(written, DEAD_LETTER_REASONS);
  const given = shownText(written, DEAD_LETTER_REASONS);
  const allowed = `one of ${DEAD_LETTER_REASONS.join(', ')}`;
  return { path: '--reason', message: 'is none of the reasons', given, allowed, ...(nearest && { nearest }) };
}

function wrongAction(given: string | undefined): Problem {
  const allowed = ACTIONS.map((action) => `dead-letters ${action}`).join(', ');
  const problem = { path: 'the command dead-letters', allowed };
  return given === undefined
    ? { ...problem, message: 'needs to be told what to do' }
    : { ...problem, message: 'cannot do this', given: shownText(given, ACTIONS) };
}

const isCount = (text: string): boolean => /^[1-9]\d{0,14}$/.test(text);

/**
 * Reads the words and options of the command `dead-letters`.
 *
 * @param words the words behind the command's name, without the options
 * @returns the request, or its problems
 */
export function readDeadLettersRequest(
  words: readonly string[],
  options: GivenOptions,
): { readonly request?: DeadLettersRequest; readonly problems: readonly Problem[] } {
  const [action, ...others] = words;
  const reasons = options.get('reason') ?? [];
  const limit = options.get('limit')?.at(-1);
  const problems: Problem[] = others.map((word) => ({
    path: `the command dead-letters ${isAction(action) ? action : ''}`.trimEnd(),
    message: 'takes options only',
    given: shownText(word),
    allowed: '--help lists them',
  }));
  problems.push(...reasons.filter((reason) => !isReason(reason)).map(wrongReason));
  if (limit !== undefined && !isCount(limit)) {
    problems.push({
      path: '--limit',
      message: 'is no number of letters',
      given: shownText(limit),
      allowed: 'a whole number from 1',
    });
  }
  if (!isAction(action)) {
    return { problems: [...problems, wrongAction(action)] };
  }
  const common = {
    filter: { reasons: reasons.filter(isReason), topics: options.get('topic') ?? [] },
    limit: limit === undefined ? undefined : Number(limit),
    json: options.has('json'),
  };
  const request: DeadLettersRequest =
    action === 'list'
      ? { ...common, action, limit: common.limit ?? LISTED_BY_DEFAULT, showValue: options.has('show-value') }
      : { ...common, action, dryRun: options.has('dry-run'), overwrite: options.has('overwrite') };
  return { request, problems };
}
