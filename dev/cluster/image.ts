import { join } from 'node:path';
import { findContainerEngine } from '../image/container-engine.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { runCommand } from './command.ts';

/**
 * Makes an image of this machine known to the cluster's nodes.
 *
 * @param command what makes it known, given the path of a docker-archive
 * @throws ExplainedError when there is no such image, or a command fails
 */
export async function loadImage(run: RunFolder, reference: string, command: string): Promise<string> {
  const engine = findContainerEngine(process.env['PATH']);
  if (engine === undefined) {
    throw new ExplainedError('neither podman nor docker is installed, and one of them has to give the image');
  }
  const tar = join(run.path, 'image.tar');
  const format = engine === 'podman' ? ['--format', 'docker-archive'] : [];
  const saved = await runCommand(engine, ['save', ...format, '--output', tar, reference]);
  if (saved.code !== 0) {
    throw new ExplainedError(`${engine} could not save ${reference} (npm run image builds it): ${saved.stderr.trim()}`);
  }
  const loaded = await runCommand('sh', ['-c', `${command} "$1"`, 'sh', tar]);
  if (loaded.code !== 0) {
    throw new ExplainedError(`CLUSTER_LOAD_IMAGE ended with ${loaded.code}: ${loaded.stderr.trim()}`);
  }
  return reference;
}
