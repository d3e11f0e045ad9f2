import { join } from 'node:path';
import type { Checked } from '../settings/check.ts';
import type { CheckedEnvironment } from './checked-environment.ts';
import { objectChanges } from './dist-changes.ts';
import { publish } from './dist-folder.ts';
import { DIST_FOLDER, outputFolder } from './output-folder.ts';
import { type Render, renderEnvironments } from './render-environments.ts';
import { sharedObjects } from './shared-objects.ts';
import { upgradeProblems } from './upgrade-problems.ts';
import { writtenFiles } from './written-files.ts';

/** What one run is about. */
export interface Synthesis {
  /** Where consumer.yaml is, and dist/ will be. */
  readonly folder: string;
  /** Folder to render to. @default the configured scratch folder, from which dist/ is then replaced */
  readonly outdir?: string | undefined;
  /** Names of the environments to render; all else in dist/ stays. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[] | undefined;
  /** Whether objects may change in a way that a cluster refuses, because they will be deleted there first. @default false */
  readonly allowRecreate?: boolean;
  readonly render: Render;
}

/** What a run has done. */
export interface Synthesized {
  /** The files that were written, relative to the folder. */
  readonly files: readonly string[];
  /** What is no mistake, but may not be meant: one sentence each. */
  readonly notes: readonly string[];
}

const changesOf = (dist: string, rendered: string) => (environment: CheckedEnvironment) =>
  upgradeProblems(objectChanges(join(dist, environment.folder), join(rendered, environment.folder)));

/**
 * Checks consumer.yaml and its environments, renders them, and replaces dist/ when the configured folder was rendered to.
 * Whatever fails, dist/ stays as it was.
 *
 * @returns what was written, or all problems.
 */
export function synthesize({ folder, outdir, only, allowRecreate = false, render }: Synthesis): Checked<Synthesized> {
  const output = outputFolder(folder, outdir);
  const rendered = renderEnvironments({ folder, outdir: output.path, isScratch: output.isPublished, only, render });
  if (!rendered.ok) {
    return rendered;
  }
  const notes = sharedObjects(output.path, rendered.value);
  if (!output.isPublished) {
    return { ok: true, value: { files: writtenFiles(output.path, folder), notes } };
  }
  const dist = join(folder, DIST_FOLDER);
  const problems = allowRecreate ? [] : rendered.value.flatMap(changesOf(dist, output.path));
  if (problems.length > 0) {
    return { ok: false, problems };
  }
  publish(output.path, dist, only);
  const names = only?.map((name) => join(dist, name)) ?? [dist];
  return { ok: true, value: { files: names.flatMap((name) => writtenFiles(name, folder)), notes } };
}
