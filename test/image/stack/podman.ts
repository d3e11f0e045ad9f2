import { spawn } from 'node:child_process';

/** Label of the containers that tests start, by which the next run finds those of a killed one. */
export const TEST_LABEL = 'stream-consumer.test=image';

/** Exit code and output of a podman command. */
interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In the place of the exit code of a podman that was killed. */
const KILLED = -1;
/** How long a removal may take; a removal usually ends within a second. */
const REMOVAL_LIMIT_MS = 12_000;
const REMOVAL_ATTEMPTS = 2;

/** Runs podman to its end, or kills it after so many milliseconds; any exit code is a result. */
export function runPodman(args: readonly string[], limit?: number): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn('podman', args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: limit, killSignal: 'SIGKILL' });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? KILLED, ...output }));
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

/**
 * Removes with podman, whether or not there is anything to remove. A removal may wait for ever where the clean-up of a
 * container that has just ended holds the other's lock (podman issues 14929, 23613). The kernel frees the locks of a
 * killed podman, so the second attempt ends.
 *
 * @throws Error naming the command when no attempt ends in time
 */
export async function removeWithPodman(args: readonly string[]): Promise<void> {
  for (let attempt = 1; attempt <= REMOVAL_ATTEMPTS; attempt += 1) {
    const { code } = await runPodman(args, REMOVAL_LIMIT_MS);
    if (code !== KILLED) {
      return;
    }
  }
  throw new Error(`podman ${args.join(' ')} was killed ${REMOVAL_ATTEMPTS} times after ${REMOVAL_LIMIT_MS} ms`);
}

/** Asks podman for JSON. */
export const podmanJson = async <T>(args: readonly string[]): Promise<T> => JSON.parse(await podman(args)) as T;
