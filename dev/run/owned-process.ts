import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { ExplainedError } from './explained-error.ts';
import { readLines } from './log-lines.ts';

/** How a process ended: one of the two is null. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** @default the environment of this process */
  readonly env?: NodeJS.ProcessEnv;
  /** @default `/`, which every user may enter */
  readonly cwd?: string;
  /** User and group to run as. @default those of this process */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Gets each line of standard output and standard error. @default they are dropped */
  readonly onLine?: (line: string) => void;
}

/** A child process in its process group. */
export interface OwnedProcess {
  readonly pid: number;
  /** Settles when the process is gone and its output was read to the end. */
  readonly exited: Promise<ExitStatus>;
  /** Sends a signal; does nothing when the process is gone. */
  kill(signal: NodeJS.Signals): void;
  /** Whether its output is read; while it is not, the process meets a full pipe. */
  readOutput(isRead: boolean): void;
}

/**
 * Starts a program in a new process group: Ctrl-C in the terminal then reaches this process alone, which stops
 * its children in the right order.
 *
 * @throws ExplainedError when the program cannot be started.
 */
export async function spawnOwned(command: Command, onSpawned: (process: OwnedProcess) => void): Promise<OwnedProcess> {
  const child = spawn(command.program, command.args, spawnOptions(command));
  const { pid } = child;
  if (pid === undefined) {
    throw await startFailure(command, child);
  }
  if (child.stdout && child.stderr) {
    const onLine = command.onLine ?? (() => undefined);
    readLines(child.stdout, onLine);
    readLines(child.stderr, onLine);
  }
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const owned: OwnedProcess = {
    pid,
    exited,
    kill: (signal) => void child.kill(signal),
    readOutput: (isRead) => {
      for (const stream of [child.stdout, child.stderr]) {
        isRead ? stream?.resume() : stream?.pause();
      }
    },
  };
  onSpawned(owned);
  return owned;
}

function spawnOptions({ env, cwd, user }: Command): SpawnOptions {
  return {
    cwd: cwd ?? '/',
    env: env ?? process.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  };
}

function startFailure(command: Command, child: ChildProcess): Promise<ExplainedError> {
  return new Promise((resolve) => {
    child.once('error', (error) =>
      resolve(new ExplainedError(`${command.program} could not be started: ${error.message}`, { cause: error })),
    );
  });
}

/** Ends a process by a signal, and by SIGKILL when it still lives after `timeout` milliseconds. */
export async function terminate(owned: OwnedProcess, signal: NodeJS.Signals, timeout: number): Promise<ExitStatus> {
  // A stopped process would never see the signal.
  owned.kill('SIGCONT');
  owned.kill(signal);
  const timer = setTimeout(() => owned.kill('SIGKILL'), timeout);
  try {
    return await owned.exited;
  } finally {
    clearTimeout(timer);
  }
}

/** `exit code 3`, `signal SIGKILL`. */
export function describeExit({ code, signal }: ExitStatus): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
