import { closest, distance } from 'fastest-levenshtein';

/** One thing that is wrong with what a user configured. A check returns all of them; nothing is started then. */
export interface Problem {
  /** Dotted path of the setting, list positions in brackets (`kafka.brokers[0]`); empty for the whole document. */
  readonly path: string;
  /** What is wrong, as the end of a sentence that begins with the path: `is missing`, `is too large`. */
  readonly message: string;
  /** The value as it was given, secrets masked; left out where there is none or where it could be a secret. */
  readonly given?: unknown;
  /** What would be right, in words. */
  readonly allowed: string;
  /** For an unknown key: the path of the known one that looks most like it; left out when none does. */
  readonly nearest?: string;
  /** Where the value came from: `application.yml:3:9`, `environment variable SERVER_PORT`; left out when unknown. */
  readonly source?: string;
}

/** The problem as a list where it is one, else none. */
export const problemIf = (isWrong: boolean, problem: Problem): readonly Problem[] => (isWrong ? [problem] : []);

const SHOWN_CHARACTERS = 100;

function shown(given: unknown): string {
  const text = JSON.stringify(given) ?? String(given);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

/** A problem for a person: what is wrong, the value given and its source on one line, what is allowed on the next. */
export function describeProblem(problem: Problem): string {
  const subject = problem.path === '' ? 'the document' : problem.path;
  const given = problem.given === undefined ? '' : `: ${shown(problem.given)}`;
  const source = problem.source === undefined ? '' : ` (${problem.source})`;
  const nearest = problem.nearest === undefined ? '' : `; did you mean ${problem.nearest}?`;
  return `${subject} ${problem.message}${given}${source}${nearest}\n  allowed: ${problem.allowed}`;
}

/** A person reads no more of them at once, and the first ones may be the reason for the others. */
export const MOST_SHOWN_PROBLEMS = 10;

/** Problems for a person: the first ten, and how many more there are. */
export function describeProblems(problems: readonly Problem[]): string {
  const shown = problems.slice(0, MOST_SHOWN_PROBLEMS).map(describeProblem);
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [])].join('\n');
}

/** Letters and digits alone: what is left when a person mixes up the ways of writing a name. */
export const plainName = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** Longer than any known name; what is compared takes time with the product of the lengths. */
const LONGEST = 256;

/** A shorter name begins too many others by chance. */
const SHORTEST_BEGINNING = 3;

const begins = (beginning: string, name: string): boolean =>
  beginning.length >= SHORTEST_BEGINNING && name.startsWith(beginning);

/**
 * The known name that an unknown one was most likely meant to be.
 *
 * @param share of the letters that may differ. @default 0.4; then it is enough, too, that one name begins with the
 * other
 * @returns `undefined` when none is near
 */
export function nearestKey(unknown: string, known: readonly string[], share?: number): string | undefined {
  const wanted = plainName(unknown.slice(0, LONGEST));
  if (known.length === 0 || wanted === '') {
    return undefined;
  }
  const names = known.map(plainName);
  const nearest = closest(wanted, names);
  const isNear = distance(wanted, nearest) <= Math.floor(Math.max(wanted.length, nearest.length) * (share ?? 0.4));
  const begun = share === undefined ? names.find((name) => begins(wanted, name) || begins(name, wanted)) : undefined;
  const found = isNear ? nearest : begun;
  return found === undefined ? undefined : known[names.indexOf(found)];
}
