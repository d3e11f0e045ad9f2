import { resolve } from 'node:path';
import { ExplainedError } from './explained-error.ts';
import type { RunFolder } from './run-folder.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..');

/**
 * Compiles the consumer into `build/`, as the image's build does; what is up to date stays as it is.
 *
 * @throws ExplainedError with what the compiler says when it refuses.
 */
export async function compileConsumer(run: RunFolder): Promise<void> {
  const { code, output } = await run.complete({
    program: process.execPath,
    args: [resolve(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', 'app'],
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'] },
  });
  if (code !== 0) {
    throw new ExplainedError(['The consumer does not compile:', ...output.map((line) => `    ${line}`)].join('\n'));
  }
}
