import { readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { InvalidConsumerError } from '../deployment/invalid-consumer-error.ts';
import type { Checked } from '../settings/schema/check.ts';
import type { Problem } from '../settings/schema/problem.ts';
import { type CheckedEnvironment, checkedEnvironments } from './checked-environment.ts';
import { duplicateProblems, idlePods, sharedObjects } from './conflicts.ts';
import { type ObjectChange, objectChanges } from './dist-changes.ts';
import { DIST_FOLDER, outputFolder, publish } from './dist-folder.ts';
import { abandonedWorkloads, handedOverWorkloads, upgradeProblems } from './immutable-fields.ts';
import { readManifests } from './manifest.ts';

/** Writes the files of one environment into a folder, which it makes. */
export type Render = (outdir: string, environment: CheckedEnvironment) => void;

/** What to render, and where to. */
interface Rendering {
  /** Where consumer.yaml is. */
  readonly folder: string;
  /** Folder to render to; consumer.yaml itself goes there, an environment into the folder of its name. */
  readonly outdir: string;
  /** Whether what is in that folder already goes away first. */
  readonly isScratch: boolean;
  /** Names of the environments to render. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[] | undefined;
  /** Called only when everything is valid. */
  readonly render: Render;
}

/** Patches meet the objects only when these are rendered. @returns what they could not do */
function refusedPatches(render: () => void, { folder }: CheckedEnvironment): readonly Problem[] {
  try {
    render();
    return [];
  } catch (error) {
    if (error instanceof InvalidConsumerError) {
      return error.problems.map((problem) => (folder === '' ? problem : { ...problem, source: `in ${folder}` }));
    }
    throw error;
  }
}

/**
 * Checks consumer.yaml and its environments, and renders them.
 *
 * @returns what was rendered, or all problems; with problems of the input nothing was rendered
 */
export function renderEnvironments({
  folder,
  outdir,
  isScratch,
  only,
  render,
}: Rendering): Checked<readonly CheckedEnvironment[]> {
  const checked = checkedEnvironments(folder, only);
  if (!checked.ok) {
    return checked;
  }
  if (isScratch) {
    rmSync(outdir, { recursive: true, force: true });
  }
  const refused = checked.value.flatMap((each) => refusedPatches(() => render(join(outdir, each.folder), each), each));
  if (refused.length > 0) {
    return { ok: false, problems: refused };
  }
  const problems = checked.value.flatMap((each) => duplicateProblems(readManifests(join(outdir, each.folder))));
  return problems.length === 0 ? checked : { ok: false, problems };
}

/** All files below a folder, relative to another one, in the order of their names. */
function writtenFiles(folder: string, relativeTo: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(relativeTo, join(entry.parentPath, entry.name)))
    .sort();
}

/** What one run is about. */
interface Synthesis {
  /** Where consumer.yaml is, and dist/ will be. */
  readonly folder: string;
  /** Folder to render to. @default the configured scratch folder, from which dist/ is then replaced */
  readonly outdir?: string | undefined;
  /** Names of the environments to render; all else in dist/ stays. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[] | undefined;
  /**
   * Whether objects may change in a way that a cluster refuses, because they will be deleted there first. @default
   * false
   */
  readonly allowRecreate?: boolean;
  readonly render: Render;
}

/** What a run has done. */
interface Synthesized {
  /** The files that were written, relative to the folder. */
  readonly files: readonly string[];
  /** What is no mistake, but may not be meant: one sentence each. */
  readonly notes: readonly string[];
}

/** @param folders of the environments below both */
const changesOf = (dist: string, rendered: string, folders: ReadonlySet<string>): ObjectChange[] =>
  [...folders].flatMap((folder) => objectChanges(join(dist, folder), join(rendered, folder)));

/**
 * Checks consumer.yaml and its environments, renders them, and replaces dist/ when the configured folder was rendered
 * to. Whatever fails, dist/ stays as it was.
 *
 * @returns what was written, or all problems.
 */
export function synthesize({ folder, outdir, only, allowRecreate = false, render }: Synthesis): Checked<Synthesized> {
  const output = outputFolder(folder, outdir);
  const rendered = renderEnvironments({ folder, outdir: output.path, isScratch: output.isPublished, only, render });
  if (!rendered.ok) {
    return rendered;
  }
  const notes = [...sharedObjects(output.path, rendered.value), ...idlePods(rendered.value)];
  if (!output.isPublished) {
    return { ok: true, value: { files: writtenFiles(output.path, folder), notes } };
  }
  const dist = join(folder, DIST_FOLDER);
  // What consumer.yaml rendered to by itself is gone where it has become a template.
  const itself = only === undefined ? [''] : [];
  const folders = new Set([...itself, ...rendered.value.map((environment) => environment.folder)]);
  const changes = changesOf(dist, output.path, folders);
  const problems = allowRecreate ? [] : upgradeProblems(changes);
  if (problems.length > 0) {
    return { ok: false, problems };
  }
  publish(output.path, dist, only);
  const names = only?.map((name) => join(dist, name)) ?? [dist];
  return {
    ok: true,
    value: {
      files: names.flatMap((name) => writtenFiles(name, folder)),
      notes: [...notes, ...abandonedWorkloads(changes), ...handedOverWorkloads(changes)],
    },
  };
}
