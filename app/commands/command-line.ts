import { parseArgs } from 'node:util';
import { nearestKey, type Problem } from '../../settings/schema/problem.ts';
import { shownText } from '../../settings/schema/shown-value.ts';
import { CONFIG_FILE_PLACES } from '../configuration/load-settings.ts';
import {
  type DeadLettersRequest,
  type GivenOptions,
  readDeadLettersRequest,
} from './dead-letters/dead-letters-request.ts';
import { type OffsetsRequest, readOffsetsRequest } from './offsets/offsets-request.ts';
import { readTablesRequest, type TablesRequest } from './tables/tables-request.ts';

interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The placeholder of its value in messages. */
  readonly value?: string;
}

type Options = Readonly<Record<string, Option>>;

const EVERYWHERE: Options = {
  config: { type: 'string', value: 'FILE' },
  'config-tree': { type: 'string', value: 'DIR' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
};

const SELECTING: Options = {
  ...EVERYWHERE,
  reason: { type: 'string', value: 'REASON' },
  topic: { type: 'string', value: 'TOPIC' },
  limit: { type: 'string', value: 'N' },
  json: { type: 'boolean' },
};

const CONSUME = '';
const DEAD_LETTERS = 'dead-letters';
const MIGRATE = 'migrate';
const OFFSETS = 'offsets';
const TABLES = 'tables';

const OF_TABLES: Options = { ...EVERYWHERE, json: { type: 'boolean' } };

const OF_TOPIC: Options = { ...EVERYWHERE, 'dry-run': { type: 'boolean' } };

/** The options of each command, by the words that name it. */
const COMMANDS: Readonly<Record<string, Options>> = {
  [CONSUME]: { ...EVERYWHERE, check: { type: 'boolean' } },
  [MIGRATE]: EVERYWHERE,
  [DEAD_LETTERS]: SELECTING,
  [`${DEAD_LETTERS} list`]: { ...SELECTING, 'show-value': { type: 'boolean' } },
  [`${DEAD_LETTERS} replay`]: { ...SELECTING, 'dry-run': { type: 'boolean' }, overwrite: { type: 'boolean' } },
  [OFFSETS]: OF_TOPIC,
  [`${OFFSETS} accept-topic`]: OF_TOPIC,
  [`${OFFSETS} begin-again`]: {
    ...OF_TOPIC,
    'rename-rows': { type: 'boolean' },
    'keep-table-rows': { type: 'boolean' },
  },
  [TABLES]: OF_TABLES,
  [`${TABLES} check`]: OF_TABLES,
};

const ALL_OPTIONS: Options = Object.fromEntries(Object.values(COMMANDS).flatMap((options) => Object.entries(options)));

/** The command line's options and command. */
export interface CommandLine {
  readonly config: string | undefined;
  readonly configTree: string | undefined;
  readonly check: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** The command's first word, even if the rest of the line is wrong; none starts the consumer. */
  readonly command: '' | 'dead-letters' | 'migrate' | 'offsets' | 'tables';
  /** The request of a right `dead-letters` command; else `undefined`. */
  readonly deadLetters?: DeadLettersRequest | undefined;
  /** The request of a right `offsets` command; else `undefined`. */
  readonly offsets?: OffsetsRequest | undefined;
  /** The request of a right `tables` command; else `undefined`. */
  readonly tables?: TablesRequest | undefined;
  /** Words and options that are wrong; the other fields hold the right ones none the less. */
  readonly problems: readonly Problem[];
}

const dashed = (options: Options): readonly string[] => Object.keys(options).map((name) => `--${name}`);

/** @param written the option as it was written, which may be a password that begins with a dash */
function unknownOption(written: string, options: Options): Problem {
  const nearest = nearestKey(written, dashed(options));
  const path = shownText(written, dashed(ALL_OPTIONS));
  const problem = { path, message: 'is not an option', allowed: dashed(options).join(', ') };
  return nearest === undefined ? problem : { ...problem, nearest };
}

function wrongUse(name: string, { value: placeholder }: Option, value: string | undefined): Problem | undefined {
  const hasValue = value !== undefined && value !== '';
  if (placeholder !== undefined && !hasValue) {
    return { path: `--${name}`, message: 'needs a value', allowed: `--${name} ${placeholder}` };
  }
  return placeholder === undefined && value !== undefined
    ? { path: `--${name}`, message: 'takes no value', given: shownText(value), allowed: `--${name}` }
    : undefined;
}

function wrongWord(word: string): Problem {
  const commands = Object.keys(COMMANDS).filter((name) => name === MIGRATE || name.includes(' '));
  const nearest = nearestKey(word, [DEAD_LETTERS, MIGRATE, OFFSETS, TABLES]);
  const given = shownText(word, [...commands, DEAD_LETTERS, OFFSETS, TABLES, ...CONFIG_FILE_PLACES]);
  const problem = { path: 'the command line', message: 'has a word that is no command', given };
  const allowed = `options, or one of the commands ${commands.join(', ')}`;
  const command = commands.find((name) => nearest !== undefined && name.startsWith(nearest));
  return { ...problem, allowed, ...(command !== undefined && { nearest: command }) };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/**
 * @param argv the words themselves: parseArgs makes each letter after one dash an option, and their names one by one
 * would show a password that was written behind a dash
 */
function optionProblems(tokens: readonly Token[], options: Options, argv: readonly string[]): readonly Problem[] {
  const told = new Set<number>();
  return tokens.flatMap((token) => {
    if (token.kind !== 'option' || told.has(token.index)) {
      return [];
    }
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option !== undefined) {
      return wrongUse(token.name, option, token.value) ?? [];
    }
    told.add(token.index);
    const written = token.rawName.startsWith('--') ? token.rawName : (argv[token.index] ?? token.rawName);
    return unknownOption(written, options);
  });
}

function givenOptions(tokens: readonly Token[]): GivenOptions {
  const given = new Map<string, readonly string[]>();
  for (const token of tokens) {
    if (token.kind === 'option') {
      const values = token.value === undefined || token.value === '' ? [] : [token.value];
      given.set(token.name, [...(given.get(token.name) ?? []), ...values]);
    }
  }
  return given;
}

/** The words without those right behind an unknown option: they are its value. */
function wordsOf(tokens: readonly Token[]): readonly string[] {
  const isUnknown = (token: Token) => token.kind === 'option' && !Object.hasOwn(ALL_OPTIONS, token.name);
  const values = new Set(tokens.filter(isUnknown).map(({ index }) => index + 1));
  return tokens.flatMap((token) => (token.kind === 'positional' && !values.has(token.index) ? [token.value] : []));
}

const isCommand = (word: string | undefined): word is Exclude<CommandLine['command'], ''> =>
  word === DEAD_LETTERS || word === MIGRATE || word === OFFSETS || word === TABLES;

/** What the words behind the command's name come to. */
function requested(command: CommandLine['command'], words: readonly string[], given: GivenOptions) {
  if (command === DEAD_LETTERS) {
    const { request, problems } = readDeadLettersRequest(words, given);
    return { deadLetters: request, problems };
  }
  if (command === OFFSETS) {
    const { request, problems } = readOffsetsRequest(words, given);
    return { offsets: request, problems };
  }
  if (command === TABLES) {
    const { request, problems } = readTablesRequest(words, given);
    return { tables: request, problems };
  }
  return { problems: words.map(wrongWord) };
}

/** Reads the command line's words and options; it never throws. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const { tokens } = parseArgs({ args: [...argv], options: ALL_OPTIONS, strict: false, tokens: true });
  const words = wordsOf(tokens);
  const given = givenOptions(tokens);
  const command = isCommand(words[0]) ? words[0] : CONSUME;
  const { problems, ...request } = requested(command, command === CONSUME ? words : words.slice(1), given);
  const options = COMMANDS[`${command} ${words[1]}`] ?? COMMANDS[command] ?? EVERYWHERE;
  return {
    config: given.get('config')?.at(-1),
    configTree: given.get('config-tree')?.at(-1),
    check: given.has('check'),
    help: given.has('help'),
    version: given.has('version'),
    command,
    ...request,
    problems: [...optionProblems(tokens, options, argv), ...problems],
  };
}
