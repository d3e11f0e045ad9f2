import { join, relative, resolve } from 'node:path';

/** Where cdk8s.yaml tells the CLI to have the manifests rendered, relative to the folder that synth runs in. */
export const SCRATCH_FOLDER = 'build/synth';

/** Where the manifests belong in the end. */
export const DIST_FOLDER = 'dist';

/** Where this run renders to, and what then becomes of it. */
export interface OutputFolder {
  readonly path: string;
  /** Whether dist/ is to be replaced; not when the user asked for another folder or for stdout (`-o`, `-p`). */
  readonly isPublished: boolean;
}

/**
 * The CLI passes its output folder in `CDK8S_OUTDIR`.
 *
 * @param given value of that variable; left out: the run is without the CLI and means the configured folder.
 */
export function outputFolder(folder: string, given: string | undefined): OutputFolder {
  const configured = join(folder, SCRATCH_FOLDER);
  const path = given === undefined || given === '' ? configured : resolve(folder, given);
  return { path, isPublished: relative(configured, path) === '' };
}
