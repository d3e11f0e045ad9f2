import { spawn } from 'node:child_process';

/** Label of the containers that tests start, by which the next run finds those of a killed one. */
export const TEST_LABEL = 'stream-consumer.test=image';

/** Exit code and output of a podman command. */
interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs podman to its end; any exit code is a result. */
export function runPodman(args: readonly string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn('podman', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, ...output }));
  });
}

/**
 * Runs podman to its end.
 *
 * @returns what it printed, trimmed
 * @throws Error with podman's message when it fails
 */
export async function podman(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runPodman(args);
  if (code !== 0) {
    throw new Error(`podman ${args.join(' ')} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
  }
  return stdout.trim();
}

/** Asks podman for JSON. */
export const podmanJson = async <T>(args: readonly string[]): Promise<T> => JSON.parse(await podman(args)) as T;
