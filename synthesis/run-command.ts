import { describeProblems, type Problem } from '../settings/problem.ts';
import type { CommandLine } from './command-line.ts';
import { compareWithDist } from './compare-with-dist.ts';
import { countChanges, describeDifferences } from './diff.ts';
import { DIST_FOLDER } from './output-folder.ts';
import type { Render } from './render-environments.ts';
import { synthesize } from './synthesize.ts';

/** What a command needs of the process it runs in. */
export interface CommandContext {
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
