import { execFile } from 'node:child_process';

/** How a program ended and what it wrote. */
export interface Finished {
  /** -1 when it could not be started or was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** What it reads from standard input. @default nothing */
  readonly input?: string;
  /** @default this process's */
  readonly cwd?: string;
}

const LARGEST_OUTPUT = 64 * 1_048_576;

/** Runs a program to its end; one that is not there ends like one that failed. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const { input = '', cwd } = options;
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { encoding: 'utf8', maxBuffer: LARGEST_OUTPUT, ...(cwd === undefined ? {} : { cwd }) },
      (error, stdout, stderr) => {
        const code = child.exitCode ?? -1;
        resolve({ code, stdout, stderr: stderr === '' && code !== 0 ? (error?.message ?? '') : stderr });
      },
    );
    // A program that ends before it has read everything is judged by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
