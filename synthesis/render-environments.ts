import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Checked } from '../settings/check.ts';
import { type CheckedEnvironment, checkedEnvironments } from './checked-environment.ts';
import { duplicateProblems } from './duplicate-problems.ts';
import { readManifests } from './manifest.ts';

/** Writes the files of one environment into a folder, which it makes. */
export type Render = (outdir: string, environment: CheckedEnvironment) => void;

/** What to render, and where to. */
export interface Rendering {
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
  for (const environment of checked.value) {
    render(join(outdir, environment.folder), environment);
  }
  const problems = checked.value.flatMap((each) => duplicateProblems(readManifests(join(outdir, each.folder))));
  return problems.length === 0 ? checked : { ok: false, problems };
}
