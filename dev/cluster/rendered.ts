import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { runCommand } from './command.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..');
const inRepository = (path: string): string => pathToFileURL(join(REPOSITORY, path)).href;

/**
 * Renders a consumer.yaml as `npm run synth` does.
 *
 * @param document the content of consumer.yaml
 * @returns the folder that `kubectl apply -f` takes
 * @throws ExplainedError with what synth says when the document is wrong
 */
export async function rendered(run: RunFolder, document: object): Promise<string> {
  const folder = await mkdtemp(join(run.path, 'manifests-'));
  // JSON is YAML, too.
  await writeFile(join(folder, 'consumer.yaml'), JSON.stringify(document));
  await mkdir(join(folder, 'environments'));
  const imports = ['--import', inRepository('synthesis/preload.mjs'), '--import', import.meta.resolve('tsx')];
  const { code, stderr } = await runCommand(process.execPath, [...imports, join(REPOSITORY, 'main.ts')], {
    cwd: folder,
  });
  if (code !== 0) {
    throw new ExplainedError(`the manifests were not rendered:\n${stderr}`);
  }
  return join(folder, 'dist');
}
