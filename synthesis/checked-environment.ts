import { type CheckedConsumer, checkConsumerFile, withShownPath } from '../deployment/check-consumer.ts';
import { springPath, withSettingNames } from '../deployment/sections/application.ts';
import type { Checked } from '../settings/schema/check.ts';
import { isSection, type SettingPath } from '../settings/schema/document.ts';
import { describeProblem, type Problem } from '../settings/schema/problem.ts';
import { conflictProblems } from './conflicts.ts';
import { consumerList } from './consumer-list.ts';
import { type Environment, OVERLAY_FOLDER, readEnvironments } from './environment-files.ts';
import { type Layer, locateIn, overlay } from './overlay.ts';

/** An environment that can be rendered. */
export interface CheckedEnvironment {
  /** Folder below dist/; empty for consumer.yaml itself. */
  readonly folder: string;
  /** Whether its consumers are in a list, so that there may be more of them later. */
  readonly isList: boolean;
  readonly consumers: readonly CheckedConsumer[];
}

/** A problem of one environment or consumer; one that all of them have is reported once and without their names. */
interface Finding {
  readonly problem: Problem;
  readonly environment: string;
  readonly consumer: string | undefined;
}

/** The reverse of how problems write paths: `kafka.brokers[0]`. */
const parsePath = (path: string): SettingPath =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) => (index === undefined ? part : Number(index)));

/**
 * An overlay may write a setting in camelCase that the file below it has as Spring Boot does, or the other way round.
 */
function withOneName({ value, locate, file }: Layer): Layer {
  const { application, problems } = withSettingNames(isSection(value) ? value['application'] : undefined);
  const isNamed = isSection(value) && application !== undefined && problems.length === 0;
  return {
    value: isNamed ? { ...value, application } : value,
    locate: (path) => locate(path) ?? locate(springPath(path)),
    file,
  };
}

function located(problem: Problem, layers: readonly Layer[]): Problem {
  const source = problem.source ?? locateIn(layers, parsePath(problem.path));
  const shown = withShownPath(problem);
  return source === undefined ? shown : { ...shown, source };
}

interface Examined {
  readonly environment: CheckedEnvironment;
  readonly findings: readonly Finding[];
  /** Names of its consumers where they are in a list. */
  readonly names: readonly string[];
}

function examine({ folder, sources }: Environment): Examined {
  const { consumers: listed, problems } = consumerList(sources);
  const findings: Finding[] = problems.map((problem) => ({ problem, environment: folder, consumer: undefined }));
  const consumers: CheckedConsumer[] = [];
  for (const each of listed) {
    const layers = each.layers.map(withOneName);
    const checked = checkConsumerFile(layers.map(({ value }) => value).reduce(overlay, undefined));
    const wrong = checked.ok ? conflictProblems(checked.value, consumers) : checked.problems;
    consumers.push(...(checked.ok ? [checked.value] : []));
    findings.push(
      ...wrong.map((problem) => ({ problem: located(problem, layers), environment: folder, consumer: each.name })),
    );
  }
  const names = listed.flatMap(({ name }) => name ?? []);
  return { environment: { folder, isList: names.length > 0, consumers }, findings, names };
}

function isInOverlay(source: string | undefined): boolean {
  return source?.startsWith(`${OVERLAY_FOLDER}/`) ?? false;
}

/** The environments and consumers that have a problem, unless all have it or its place in an overlay says so. */
function affected(findings: readonly Finding[], consumers: number): string {
  const environments = [...new Set(findings.map(({ environment }) => environment))];
  const isPlain = environments.includes('') || findings.some(({ problem }) => isInOverlay(problem.source));
  const names = [...new Set(findings.flatMap(({ consumer }) => consumer ?? []))];
  return [
    isPlain ? '' : `, in ${environments.join(', ')}`,
    names.length === 0 || names.length === consumers ? '' : `, for ${names.join(', ')}`,
  ].join('');
}

/** A mistake in consumer.yaml is one in every environment and of every consumer: it is reported once. */
function distinct(findings: readonly Finding[], consumers: number): Problem[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = describeProblem(finding.problem);
    const group = groups.get(key) ?? [];
    group.push(finding);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const source = `${first?.problem.source ?? ''}${affected(group, consumers)}`;
    return first === undefined ? [] : [{ ...first.problem, source }];
  });
}

/**
 * Reads and checks consumer.yaml and its environments.
 *
 * @param only names of the environments to check. @default consumer.yaml by itself and all of them
 * @returns what can be rendered, or all problems of all files, each with file, line and column.
 */
export function checkedEnvironments(folder: string, only?: readonly string[]): Checked<readonly CheckedEnvironment[]> {
  const { environments, problems } = readEnvironments(folder, only);
  if (problems.length > 0) {
    return { ok: false, problems };
  }
  const examined = environments.map(examine);
  const findings = examined.flatMap((each) => each.findings);
  const consumers = new Set(examined.flatMap(({ names }) => names)).size;
  return findings.length > 0
    ? { ok: false, problems: distinct(findings, consumers) }
    : { ok: true, value: examined.map(({ environment }) => environment) };
}
