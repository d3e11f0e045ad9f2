import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Checked } from '../contract/check-against.ts';
import type { CheckedConsumer } from '../contract/check-consumer-file.ts';
import { checkedEnvironments } from './checked-environment.ts';
import { DIST_FOLDER, outputFolder } from './output-folder.ts';
import { publish } from './publish.ts';
import { writtenFiles } from './written-files.ts';

/** What one run is about. */
export interface Synthesis {
  /** Where consumer.yaml is, and dist/ will be. */
  readonly folder: string;
  /** Folder to render to. @default the configured scratch folder, from which dist/ is then replaced */
  readonly outdir?: string | undefined;
  /** Writes the files of one consumer; called only when everything is valid. */
  readonly render: (outdir: string, consumer: CheckedConsumer) => void;
}

/**
 * Checks consumer.yaml and its environments, renders them, and replaces dist/ when the configured folder was rendered to.
 * Whatever fails, dist/ stays as it was.
 *
 * @returns the files that were written, relative to the folder, or all problems.
 */
export function synthesize({ folder, outdir, render }: Synthesis): Checked<readonly string[]> {
  const checked = checkedEnvironments(folder);
  if (!checked.ok) {
    return checked;
  }
  const output = outputFolder(folder, outdir);
  if (output.isPublished) {
    rmSync(output.path, { recursive: true, force: true });
  }
  for (const { folder: name, consumer } of checked.value) {
    render(join(output.path, name), consumer);
  }
  if (!output.isPublished) {
    return { ok: true, value: writtenFiles(output.path, folder) };
  }
  const dist = join(folder, DIST_FOLDER);
  publish(output.path, dist);
  return { ok: true, value: writtenFiles(dist, folder) };
}
