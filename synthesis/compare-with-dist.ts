import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checked } from '../settings/check.ts';
import type { Problem } from '../settings/problem.ts';
import type { Difference } from './diff.ts';
import { objectChanges } from './dist-changes.ts';
import { fileChanges, PLAIN_FOLDER } from './file-changes.ts';
import { DIST_FOLDER } from './output-folder.ts';
import { type Render, renderEnvironments } from './render-environments.ts';
import { upgradeProblems } from './upgrade-problems.ts';

/** What to compare. */
export interface Comparison {
  /** Where consumer.yaml and dist/ are. */
  readonly folder: string;
  /** Names of the environments to compare. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[] | undefined;
  readonly render: Render;
}

/** What a synth would change in dist/. */
export interface Compared {
  /** The folders in which something would change. */
  readonly differences: readonly Difference[];
  /** What of it a cluster would refuse, and synth with it. */
  readonly problems: readonly Problem[];
}

/** Folders of dist/ that hold an environment; empty for dist/ itself. */
function publishedFolders(dist: string): string[] {
  const entries = existsSync(dist) ? readdirSync(dist, { withFileTypes: true }) : [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.filter((name) => name !== PLAIN_FOLDER);
}

/**
 * Renders to a temporary folder and compares it with dist/, which stays as it is.
 *
 * @returns what differs, or all problems of the input.
 */
export function compareWithDist({ folder, only, render }: Comparison): Checked<Compared> {
  const dist = join(folder, DIST_FOLDER);
  const outdir = mkdtempSync(join(tmpdir(), 'stream-consumer-diff-'));
  try {
    const rendered = renderEnvironments({ folder, outdir, isScratch: true, only, render });
    if (!rendered.ok) {
      return rendered;
    }
    const names = rendered.value.map((environment) => environment.folder);
    const all = [...new Set([...names, ...(only === undefined ? publishedFolders(dist) : [])])];
    const differences = all.map((name) => ({
      folder: join(DIST_FOLDER, name),
      objects: objectChanges(join(dist, name), join(outdir, name)),
      files: fileChanges(join(dist, name), join(outdir, name)),
    }));
    const found = differences.filter(({ objects, files }) => objects.length + files.length > 0);
    return {
      ok: true,
      value: { differences: found, problems: found.flatMap(({ objects }) => upgradeProblems(objects)) },
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
