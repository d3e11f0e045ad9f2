import type { Checked } from '../contract/check-against.ts';
import { type CheckedConsumer, checkConsumerFile } from '../contract/check-consumer-file.ts';
import { describeProblem, type Problem } from '../contract/problem.ts';
import type { SettingPath } from '../contract/setting-path.ts';
import { type Environment, readEnvironments } from './environment.ts';
import type { SourceFile } from './source-file.ts';

/** An environment that can be rendered. */
export interface CheckedEnvironment {
  /** Folder below dist/; empty for consumer.yaml itself. */
  readonly folder: string;
  readonly consumer: CheckedConsumer;
}

/** The reverse of how problems write paths: `kafka.brokers[0]`. */
const parsePath = (path: string): SettingPath =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) => (index === undefined ? part : Number(index)));

/** Where the value stands, in the uppermost file that has it; failing that its parent's place, so that a person finds the section. */
function place(sources: readonly SourceFile[], path: SettingPath): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const part = path.slice(0, length);
    const found = sources.map(({ locate }) => locate(part)).find((each) => each !== undefined);
    if (found !== undefined) {
      return found;
    }
  }
  return sources[0]?.name;
}

function located(problem: Problem, sources: readonly SourceFile[]): Problem {
  const source = problem.source ?? place(sources, parsePath(problem.path));
  return source === undefined ? problem : { ...problem, source };
}

/** A mistake in consumer.yaml is one in every environment: it is told once. */
function distinct(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [describeProblem(problem), problem])).values()];
}

function problemsOf({ document, sources }: Environment): Problem[] {
  const checked = checkConsumerFile(document);
  return checked.ok ? [] : checked.problems.map((problem) => located(problem, sources));
}

/**
 * Reads and checks consumer.yaml and all environments.
 *
 * @returns all of them, or all problems of all files, each with file, line and column.
 */
export function checkedEnvironments(folder: string): Checked<readonly CheckedEnvironment[]> {
  const { environments, problems } = readEnvironments(folder);
  const all = distinct(problems.length > 0 ? problems : environments.flatMap(problemsOf));
  if (all.length > 0) {
    return { ok: false, problems: all };
  }
  const value = environments.flatMap(({ folder: name, document }) => {
    const checked = checkConsumerFile(document);
    return checked.ok ? [{ folder: name, consumer: checked.value }] : [];
  });
  return { ok: true, value };
}
