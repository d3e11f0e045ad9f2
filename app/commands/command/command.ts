import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Rule } from '../../../settings/schema/check.ts';
import type { Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import type { Settings } from '../../../settings/settings.ts';

/** An option of the command line. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The placeholder of its value in messages. */
  readonly value?: string;
  /** Checks all values given to the option, in their order. @default any value is right */
  readonly check?: (values: readonly string[]) => readonly Problem[];
}

/** Options by their names. */
export type Options = Readonly<Record<string, Option>>;

/** The given options, each with its values in their order; an option without a value has none. */
export type GivenOptions = ReadonlyMap<string, readonly string[]>;

/** The options that each command has. */
export const EVERYWHERE: Options = {
  config: { type: 'string', value: 'FILE' },
  'config-tree': { type: 'string', value: 'DIR' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
};

/** The streams of a command: `out` for its answer, `err` for progress and errors. */
export interface OutputStreams {
  readonly out: Writable;
  readonly err: Writable & { readonly isTTY?: boolean };
}

/** The process that runs a command. */
interface CommandProcess extends OutputStreams {
  /**
   * From this call on, SIGTERM, SIGINT or a closed standard output abort the returned signal, with the signal's name as
   * the reason, so that the command ends in order. Without the call a signal ends the process at once.
   */
  interruption(): AbortSignal;
}

/** @returns 128 plus the number of the signal that has interrupted a command; `code` where none has */
export const unlessInterrupted = ({ aborted, reason }: AbortSignal, code: number): number =>
  aborted ? 128 + (constants.signals[reason as NodeJS.Signals] ?? 0) : code;

/** A command line that was read: what it asks for, and how that is done. */
export interface CommandRequest {
  /** The words and options in the command's own terms. */
  readonly asked: unknown;
  /** Runs the command and returns the exit code. It rejects only for a mistake in the program. */
  run(settings: Settings, process: CommandProcess): Promise<number>;
}

/** The request of a right command line, or its problems. */
interface RequestReading<Request> {
  readonly request?: Request;
  readonly problems: readonly Problem[];
}

interface ActionParts<Request> {
  /** The word behind the command's name; empty for the only action of a command that takes no word. */
  readonly word: string;
  /** Options beside those of the command. @default none */
  readonly options?: Options;
  /** @param words those behind `word`, without the options */
  read(words: readonly string[], given: GivenOptions): RequestReading<Request>;
  /** Runs the action. It is here that an action loads its libraries: `--help` works without them. */
  run(settings: Settings, request: Request, process: CommandProcess): Promise<number>;
}

/** What a command does, chosen by the word behind its name. */
export interface Action {
  readonly word: string;
  readonly options: Options;
  read(words: readonly string[], given: GivenOptions): RequestReading<CommandRequest>;
}

/** A command of the command line. */
export interface Command {
  /** The first word of the command line. */
  readonly name: string;
  /** What follows the name in the consumer's `--help`. */
  readonly usage: string;
  /** What `--help` prints. @default the help of the consumer */
  readonly help?: () => string;
  /** Options of all actions, beside those of each command. */
  readonly options: Options;
  /** Conditions on the files that the settings name. */
  readonly fileRules: readonly Rule<Settings>[];
  readonly actions: readonly Action[];
}

/** Makes an action; what it reads is what it runs. */
export function action<Request>({ word, options = {}, read, run }: ActionParts<Request>): Action {
  return {
    word,
    options,
    read: (words, given) => {
      const { request, problems } = read(words, given);
      return request === undefined
        ? { problems }
        : { request: { asked: request, run: (settings, process) => run(settings, request, process) }, problems };
    },
  };
}

/**
 * One problem for each word that is too many.
 *
 * @param command the words of the command
 */
export const surplusWords = (
  command: string,
  words: readonly string[],
  { message, allowed }: Pick<Problem, 'message' | 'allowed'>,
): readonly Problem[] =>
  words.map((word) => ({ path: `the command ${command}`, message, given: shownText(word), allowed }));

/**
 * The lines of `--help` about {@link EVERYWHERE}, and where settings come from.
 *
 * @param configuration what the command needs the configuration for
 */
export const everywhereHelp = (configuration: string): string =>
  `  --config FILE       the consumer's configuration, which ${configuration}
  --config-tree DIR   a folder of secret files
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the same places as the consumer's: see ${PRODUCT_NAME} --help.`;

/** The lines of `--help` about exit codes. */
export const exitCodesHelp = (texts: Readonly<Record<keyof typeof EXIT_CODE, string>>): string =>
  `Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}${texts.ok}
  ${String(EXIT_CODE.failed).padEnd(4)}${texts.failed}
  ${String(EXIT_CODE.configuration).padEnd(4)}${texts.configuration}`;
