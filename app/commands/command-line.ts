import { parseArgs } from 'node:util';
import { nearestKey, type Problem } from '../../settings/schema/problem.ts';
import { shownText } from '../../settings/schema/shown-value.ts';
import { CONFIG_FILE_PLACES } from '../configuration/load-settings.ts';
import {
  type Command,
  type CommandRequest,
  EVERYWHERE,
  type GivenOptions,
  type Option,
  type Options,
} from './command/command.ts';
import { COMMANDS } from './commands.ts';

/** The options of a command line that starts the consumer. */
const OF_CONSUMER: Options = { ...EVERYWHERE, check: { type: 'boolean' } };

const ALL_OPTIONS: Options = Object.assign(
  {},
  OF_CONSUMER,
  ...COMMANDS.flatMap(({ options, actions }) => [options, ...actions.map((action) => action.options)]),
);

/** The command line's options and command. */
export interface CommandLine {
  readonly config: string | undefined;
  readonly configTree: string | undefined;
  readonly check: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** The command that the first word names, even if the rest of the line is wrong; `undefined` starts the consumer. */
  readonly command: Command | undefined;
  /** The request of a right command; else `undefined`. */
  readonly request?: CommandRequest | undefined;
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

const fullNames = ({ name, actions }: Command): readonly string[] =>
  actions.map(({ word }) => `${name} ${word}`.trimEnd());

function wrongWord(word: string): Problem {
  const commands = COMMANDS.flatMap(fullNames);
  const names = COMMANDS.map(({ name }) => name);
  const nearest = nearestKey(word, names);
  const given = shownText(word, [...commands, ...names, ...CONFIG_FILE_PLACES]);
  const problem = { path: 'the command line', message: 'has a word that is no command', given };
  const allowed = `options, or one of the commands ${commands.join(', ')}`;
  const command = commands.find((name) => nearest !== undefined && name.startsWith(nearest));
  return { ...problem, allowed, ...(command !== undefined && { nearest: command }) };
}

function wrongAction(command: Command, given: string | undefined): Problem {
  const words = command.actions.map(({ word }) => word);
  const problem = { path: `the command ${command.name}`, allowed: fullNames(command).join(', ') };
  return given === undefined
    ? { ...problem, message: 'needs a further word' }
    : { ...problem, message: 'cannot do this', given: shownText(given, words) };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/**
 * @param argv the words themselves: parseArgs makes each letter after one dash an option, and their names one by one
 * would show a password that was written behind a dash
 */
function optionProblems(tokens: readonly Token[], options: Options, argv: readonly string[]): readonly Problem[] {
  const reported = new Set<number>();
  return tokens.flatMap((token) => {
    if (token.kind !== 'option' || reported.has(token.index)) {
      return [];
    }
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option !== undefined) {
      return wrongUse(token.name, option, token.value) ?? [];
    }
    reported.add(token.index);
    const written = token.rawName.startsWith('--') ? token.rawName : (argv[token.index] ?? token.rawName);
    return unknownOption(written, options);
  });
}

const valueProblems = (given: GivenOptions, options: Options): readonly Problem[] =>
  Object.entries(options).flatMap(([name, { check }]) => check?.(given.get(name) ?? []) ?? []);

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
function wordsOfLine(tokens: readonly Token[]): readonly string[] {
  const isUnknown = (token: Token) => token.kind === 'option' && !Object.hasOwn(ALL_OPTIONS, token.name);
  const values = new Set(tokens.filter(isUnknown).map(({ index }) => index + 1));
  return tokens.flatMap((token) => (token.kind === 'positional' && !values.has(token.index) ? [token.value] : []));
}

/** A command with the options that its line may have, and what its words ask for. */
interface ReadCommand {
  readonly options: Options;
  readonly request?: CommandRequest | undefined;
  readonly problems: readonly Problem[];
}

/** @param words those behind the command's name */
function readCommand(command: Command, [word, ...others]: readonly string[], given: GivenOptions): ReadCommand {
  const options = { ...EVERYWHERE, ...command.options };
  const alone = command.actions.find((action) => action.word === '');
  if (alone !== undefined) {
    const surplus = word === undefined ? [] : [word, ...others];
    return { options, ...alone.read([], given), problems: surplus.map(wrongWord) };
  }
  const action = command.actions.find((each) => each.word === word);
  return action === undefined
    ? { options, problems: [wrongAction(command, word)] }
    : { options: { ...options, ...action.options }, ...action.read(others, given) };
}

/** Reads the command line's words and options; it never throws. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const { tokens } = parseArgs({ args: [...argv], options: ALL_OPTIONS, strict: false, tokens: true });
  const words = wordsOfLine(tokens);
  const given = givenOptions(tokens);
  const command = COMMANDS.find(({ name }) => name === words[0]);
  const { options, request, problems }: ReadCommand =
    command === undefined
      ? { options: OF_CONSUMER, problems: words.map(wrongWord) }
      : readCommand(command, words.slice(1), given);
  return {
    config: given.get('config')?.at(-1),
    configTree: given.get('config-tree')?.at(-1),
    check: given.has('check'),
    help: given.has('help'),
    version: given.has('version'),
    command,
    request,
    problems: [...optionProblems(tokens, options, argv), ...problems, ...valueProblems(given, options)],
  };
}
