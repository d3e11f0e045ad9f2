import { parseArgs } from 'node:util';
import { describeProblems, type Problem } from '../settings/schema/problem.ts';
import { shownText } from '../settings/schema/shown-value.ts';
import { compareWithDist, countChanges, describeDifferences } from './diff.ts';
import { DIST_FOLDER } from './dist-folder.ts';
import { type Render, synthesize } from './synthesize.ts';

const SYNTH_HELP = `Checks consumer.yaml and environments/, renders them, and replaces dist/ when all of it is valid.

  npm run synth [-- OPTIONS]   or, through the CLI: npx cdk8s synth [-o FOLDER] [-p]

  --env NAME         only environments/NAME.yaml, to dist/NAME/; all else in dist/ stays. May be given several times
  --allow-recreate   also what a cluster refuses to change in place, because you will delete it there first

dist/ holds what consumer.yaml says, dist/NAME/ what environments/NAME.yaml makes of it. Apply it with: kubectl apply --server-side -f dist
Exit code 1: something is wrong, all of it was printed, and dist/ is as it was.`;

const DIFF_HELP = `Shows what npm run synth would change in dist/, object by object, and changes nothing.

  npm run diff [-- OPTIONS]

  --env NAME         only environments/NAME.yaml with dist/NAME/. May be given several times

+ is new, - is gone, ~ is changed. In colour on a terminal, unless NO_COLOR is set.
Exit codes, as those of kubectl diff: 0 nothing would change, 1 something would, 2 something is wrong.`;

/** What the user asked for. */
interface CommandLine {
  readonly command: 'synth' | 'diff';
  /** What to print instead of doing it. */
  readonly help?: string;
  /** Names of environments. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[];
  readonly allowRecreate: boolean;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  env: { type: 'string', multiple: true },
} as const;

/** Whether the arguments ask for a comparison: `diff` is the first of them. */
export const isDiff = ([command]: readonly string[]): boolean => command === 'diff';

/** Words that a message may repeat: those that are right, and likely mistakes. */
const SHOWN_WORDS = ['diff', 'synth', '--env', '--environment', '--allow-recreate', '--help'];

/** Node's own messages quote what is on the command line, and one word of it may be a password. */
function explained<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const [, what, word] = /^(Unknown option|Unexpected argument) '(.*?)'/s.exec((error as Error).message) ?? [];
    throw what === undefined ? error : new TypeError(`${what} '${shownText(word ?? '', SHOWN_WORDS)}'`);
  }
}

/**
 * Reads the arguments: `diff` and its options, or those of synth.
 *
 * @throws TypeError when there are others
 */
export function commandLine(args: readonly string[]): CommandLine {
  const command = isDiff(args) ? 'diff' : 'synth';
  const own = command === 'diff' ? {} : ({ 'allow-recreate': { type: 'boolean' } } as const);
  const options = { ...OPTIONS, ...own };
  const { values } = explained(() => parseArgs({ args: args.slice(isDiff(args) ? 1 : 0), options }));
  return {
    command,
    ...(values.help === true && { help: command === 'diff' ? DIFF_HELP : SYNTH_HELP }),
    ...(values.env !== undefined && { only: [...new Set(values.env)] }),
    allowRecreate: 'allow-recreate' in values && values['allow-recreate'] === true,
  };
}

/** What a command needs of the process it runs in. */
interface CommandContext {
  /** Where consumer.yaml is, and dist/ will be. */
  readonly folder: string;
  /** Folder that the CLI has rendered to. @default the configured scratch folder */
  readonly outdir: string | undefined;
  readonly render: Render;
  /** Prints what was asked for. */
  readonly say: (text: string) => void;
  /** Prints what is wrong, and notes. */
  readonly complain: (text: string) => void;
  readonly hasColours: boolean;
}

const countedProblems = (problems: readonly Problem[]): string =>
  `${problems.length === 1 ? '1 problem' : `${problems.length} problems`}\n\n${describeProblems(problems)}`;

function runSynth({ only, allowRecreate }: CommandLine, context: CommandContext): number {
  const synthesized = synthesize({ ...context, only, allowRecreate });
  if (!synthesized.ok) {
    const count = countedProblems(synthesized.problems);
    context.complain(`Nothing was synthesized, ${DIST_FOLDER}/ is as it was: ${count}`);
    return 1;
  }
  context.say(synthesized.value.files.join('\n'));
  for (const note of synthesized.value.notes) {
    context.complain(`note: ${note}`);
  }
  return 0;
}

function runDiff({ only }: CommandLine, context: CommandContext): number {
  const compared = compareWithDist({ ...context, only });
  if (!compared.ok) {
    context.complain(`Nothing was compared: ${countedProblems(compared.problems)}`);
    return 2;
  }
  const { differences, problems } = compared.value;
  if (differences.length === 0) {
    context.say(`${DIST_FOLDER}/ is up to date: npm run synth would change nothing`);
    return 0;
  }
  context.say(describeDifferences(differences, context.hasColours));
  context.say(`\n${countChanges(differences)}: npm run synth would write that`);
  if (problems.length > 0) {
    context.complain(`\nA cluster would refuse it, and so does npm run synth: ${countedProblems(problems)}`);
  }
  return 1;
}

/**
 * Does what the command line says.
 *
 * @returns the exit code
 * @throws Error when a file can't be read or written
 */
export function runCommand(line: CommandLine, context: CommandContext): number {
  if (line.help !== undefined) {
    context.say(line.help);
    return 0;
  }
  return line.command === 'diff' ? runDiff(line, context) : runSynth(line, context);
}
