import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { closest } from 'fastest-levenshtein';
import { GROUP_PROTOCOLS } from '../../settings/sections/kafka.ts';

type GroupProtocol = (typeof GROUP_PROTOCOLS)[number];

/** The options of `npm run chaos`. */
export interface ChaosOptions {
  /** Minutes in which faults are made. */
  readonly minutes: number;
  /** Seed of the faults and the records. */
  readonly seed: number;
  /** `kafka.groupProtocol` of the consumers. */
  readonly groupProtocol: GroupProtocol;
}

export type ReadChaosOptions =
  | { readonly kind: 'options'; readonly options: ChaosOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const HIGHEST_SEED = 4_294_967_295;
const DEFAULT_MINUTES = 2;

const isWithin = (pattern: RegExp, least: number, most: number) => (value: string) =>
  pattern.test(value) && Number(value) >= least && Number(value) <= most;

const VALUES = {
  minutes: { isAllowed: isWithin(/^\d+(\.\d+)?$/, 0.1, 1_440), allowed: 'a number from 0.1 to 1440' },
  seed: { isAllowed: isWithin(/^\d+$/, 0, HIGHEST_SEED), allowed: `a whole number from 0 to ${HIGHEST_SEED}` },
  'group-protocol': {
    isAllowed: (value: string) => (GROUP_PROTOCOLS as readonly string[]).includes(value),
    allowed: GROUP_PROTOCOLS.join(' or '),
  },
} as const;

export const CHAOS_HELP = `Breaks whatever can be broken while consumers work, and proves that each record was written exactly once.

  npm run chaos -- --minutes 20 --seed 7

Starts a new Kafka, a new PostgreSQL and three consumers, produces records with known content, and makes one fault after
the other. It kills consumers, freezes them beyond their session time-out, adds and removes them, several within seconds.
It sets their clocks by hours, and does not read their output. It restarts PostgreSQL and Kafka. It cuts, delays and limits
connections, and slows fetches down by Kafka's quota. It locks and alters tables, and deletes one of three topics and
creates it again. It creates and deletes topics that a template of the settings takes. It cuts the way to a schema registry, which answers wrongly, too. It sends bad records in bursts.
After each fault it waits until records flow again in every partition. At the end it compares each record of the topics
with the tables, and the tables of the topics that have inserts, updates and deletes by key with what a map would be.
Clocks are set by libfaketime (Debian, Ubuntu: sudo apt-get install libfaketime).

Options (behind "npm run chaos --"):
  --minutes N          how long faults are made: 0.1 to 1440 (default: ${DEFAULT_MINUTES}); start, comparison and end take half a minute more
  --seed S             decides the schedule of faults and the records: 0 to ${HIGHEST_SEED} (default: a random one, which is said)
  --group-protocol P   kafka.groupProtocol of the consumers: ${VALUES['group-protocol'].allowed} (default: ${GROUP_PROTOCOLS[0]})
  --help               this text

Exit codes: 0 each record exactly once. 1 something differs, or did not recover, or a consumer ended by itself: it keeps the
logs and prints where. 2 wrong options. 130 (143) Ctrl-C (SIGTERM) came before the verdict.
`;

/**
 * Reads the command line; all problems are found at once.
 *
 * @param randomSeed gives the seed where the options have none. @default a random one
 */
export function readChaosOptions(
  args: readonly string[],
  randomSeed: () => number = () => randomInt(HIGHEST_SEED + 1),
): ReadChaosOptions {
  const text = { type: 'string' } as const;
  const options = { minutes: text, seed: text, 'group-protocol': text, help: { type: 'boolean', short: 'h' } } as const;
  const parsed = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const { values, tokens } = parsed;
  if (values.help === true) {
    return { kind: 'help' };
  }
  const problems = tokens.flatMap((token) => {
    if (token.kind === 'positional') {
      return [`"${token.value}" is not an option: options begin with --`];
    }
    return token.kind === 'option' ? optionProblems(token) : [];
  });
  if (problems.length > 0) {
    return { kind: 'problems', problems };
  }
  const seed = values.seed === undefined ? randomSeed() : Number(values.seed);
  const minutes = Number(values.minutes ?? DEFAULT_MINUTES);
  const groupProtocol = GROUP_PROTOCOLS.find((known) => known === values['group-protocol']) ?? GROUP_PROTOCOLS[0];
  return { kind: 'options', options: { minutes, seed, groupProtocol } };
}

function optionProblems({ name, rawName, value }: { name: string; rawName: string; value?: string | undefined }) {
  if (name !== 'minutes' && name !== 'seed' && name !== 'group-protocol') {
    return [`${rawName} is not an option; the nearest one is --${closest(name, [...Object.keys(VALUES), 'help'])}`];
  }
  const { isAllowed, allowed } = VALUES[name];
  if (value === undefined || value === '') {
    return [`${rawName} needs a value: ${allowed}`];
  }
  return isAllowed(value) ? [] : [`${rawName}: "${value}" is not allowed; allowed is ${allowed}`];
}
