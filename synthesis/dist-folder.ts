import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** Where the CLI has the manifests rendered, by cdk8s.yaml, relative to the folder that synth runs in. */
export const SCRATCH_FOLDER = 'build/synth';

/** Where the manifests belong in the end. */
export const DIST_FOLDER = 'dist';

/** Folder of an environment in dist/ with the files of a plain Prometheus, which are no manifests. */
export const PROMETHEUS_FOLDER = 'prometheus';

/** Folder of an environment in dist/ with the dashboards as Grafana imports them. */
export const GRAFANA_FOLDER = 'grafana';

/** Folders in dist/ that hold no environment and no manifests. */
export const FILE_FOLDERS: readonly string[] = [PROMETHEUS_FOLDER, GRAFANA_FOLDER];

/** Where this run renders to, and what then becomes of it. */
interface OutputFolder {
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

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });

/** Puts back the folder that a killed run had moved away, and removes what else it left behind. */
function recover(target: string, incoming: string, outgoing: string): void {
  if (!existsSync(target) && existsSync(outgoing)) {
    renameSync(outgoing, target);
  }
  remove(incoming);
  remove(outgoing);
}

/** The whole new folder: the rendered one, or the old one with some of its folders replaced. */
function complete(rendered: string, target: string, incoming: string, only: readonly string[] | undefined): void {
  if (only === undefined || !existsSync(target)) {
    cpSync(rendered, incoming, { recursive: true });
    return;
  }
  cpSync(target, incoming, { recursive: true });
  for (const folder of only) {
    remove(join(incoming, folder));
    cpSync(join(rendered, folder), join(incoming, folder), { recursive: true });
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const endBySignal = (_signal: NodeJS.Signals, number: number): never => process.exit(128 + number);

function release(): void {
  for (const signal of SIGNALS) {
    process.off(signal, endBySignal);
  }
}

/**
 * Puts a signal off until the folder is in place: what runs in between is synchronous, so a listener is called after
 * it. Only SIGKILL can come between the two renames, and then the next run puts the old folder back.
 */
function undisturbed(work: () => void): void {
  for (const signal of SIGNALS) {
    process.off(signal, endBySignal).on(signal, endBySignal);
  }
  try {
    work();
  } finally {
    // Signals that came meanwhile reach their listeners between the two.
    setImmediate(() => setImmediate(release));
  }
}

/**
 * Replaces a folder by a copy of another. The copy is complete before two renames put it in place, so the folder is
 * never half old and half new; files that are no longer made are gone with the old one.
 *
 * @param only folders in it that are replaced, while all else stays. @default everything
 */
export function publish(rendered: string, target: string, only?: readonly string[]): void {
  const incoming = `${target}.new`;
  const outgoing = `${target}.old`;
  recover(target, incoming, outgoing);
  complete(rendered, target, incoming, only);
  undisturbed(() => {
    if (existsSync(target)) {
      renameSync(target, outgoing);
    }
    renameSync(incoming, target);
    remove(outgoing);
  });
}
