import { parseArgs } from 'node:util';
import { nearestKey } from '../../contract/nearest-key.ts';
import type { Problem } from '../../contract/problem.ts';

const OPTIONS = {
  config: { type: 'string' },
  'config-tree': { type: 'string' },
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

type OptionName = keyof typeof OPTIONS;

/** What the command line asks for. */
export interface CommandLine {
  readonly config: string | undefined;
  readonly configTree: string | undefined;
  readonly check: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** Everything on it that is not understood; the rest of this object is right none the less. */
  readonly problems: readonly Problem[];
}

const KNOWN = Object.keys(OPTIONS).map((name) => `--${name}`);

const allowed = KNOWN.join(', ');

const isOption = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name);

function unknownOption(rawName: string): Problem {
  const nearest = nearestKey(rawName, KNOWN);
  return { path: rawName, message: 'is not an option', allowed, ...(nearest === undefined ? {} : { nearest }) };
}

function wrongUse(name: OptionName, value: string | undefined): Problem | undefined {
  const wantsValue = OPTIONS[name].type === 'string';
  const hasValue = value !== undefined && value !== '';
  if (wantsValue && !hasValue) {
    const metavariable = name === 'config' ? 'FILE' : 'DIR';
    return { path: `--${name}`, message: 'needs a value', allowed: `--${name} ${metavariable}` };
  }
  return !wantsValue && value !== undefined
    ? { path: `--${name}`, message: 'takes no value', given: value, allowed: `--${name}` }
    : undefined;
}

/** Reads the command line's options; it never throws. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const { values, tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, tokens: true });
  const problems = tokens.flatMap((token): readonly Problem[] => {
    if (token.kind === 'positional') {
      return [{ path: 'the command line', message: 'takes options only', given: token.value, allowed }];
    }
    if (token.kind !== 'option') {
      return [];
    }
    const problem = isOption(token.name) ? wrongUse(token.name, token.value) : unknownOption(token.rawName);
    return problem === undefined ? [] : [problem];
  });
  const text = (value: string | boolean | undefined): string | undefined =>
    typeof value === 'string' && value !== '' ? value : undefined;
  return {
    config: text(values.config),
    configTree: text(values['config-tree']),
    check: values.check === true,
    help: values.help === true,
    version: values.version === true,
    problems,
  };
}
