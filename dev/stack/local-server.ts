import { closeSync, mkdtempSync, openSync, renameSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import { type Command, describeExit, type ExitStatus, type OwnedProcess } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';

const TAIL_LINES = 15;

export interface ServerCommand extends Command {
  /** What people call it: `Kafka`. */
  readonly name: string;
  /** The log line by which the server says that it takes connections. */
  readonly ready: RegExp;
  /** Milliseconds to wait for that line. */
  readonly startTimeout: number;
}

/** A server that said it is ready. */
export interface LocalServer {
  readonly pid: number;
  readonly exited: Promise<ExitStatus>;
  kill(signal: NodeJS.Signals): void;
  /** Sends the signal, and SIGKILL when the process still lives after `timeout` milliseconds. */
  stop(signal: NodeJS.Signals, timeout: number): Promise<ExitStatus>;
}

/** A server that did not become ready; `output` are the last lines of its log. */
export class ServerStartError extends ExplainedError {
  readonly output: readonly string[];

  constructor(message: string, output: readonly string[]) {
    super(message);
    this.output = output;
  }
}

/**
 * Starts a server, with its log in `<run folder>/<name>.log`, and waits until it is ready.
 *
 * @throws ServerStartError with the end of the log, and where the whole of it is kept, when it ends or stays silent.
 */
export async function startServer(run: RunFolder, command: ServerCommand): Promise<LocalServer> {
  const logFile = join(run.path, `${command.name.toLowerCase()}.log`);
  const log = openSync(logFile, 'a', 0o600);
  const tail: string[] = [];
  let onReady = (): void => undefined;
  const ready = new Promise<'ready'>((resolve) => {
    onReady = () => resolve('ready');
  });
  const owned = await run.spawn({
    ...command,
    onLine: (line) => {
      writeSync(log, `${line}\n`);
      tail.push(line);
      tail.splice(0, tail.length - TAIL_LINES);
      if (command.ready.test(line)) {
        onReady();
      }
    },
  });
  void owned.exited.then(() => closeSync(log));
  const outcome = await Promise.race([ready, owned.exited, silence(command.startTimeout)]);
  if (outcome !== 'ready') {
    await terminate(owned, 'SIGKILL', 0);
    const message = run.isClosed
      ? `${command.name} was stopped while it started`
      : failureText(command, outcome, keep(logFile), tail);
    throw new ServerStartError(message, [...tail]);
  }
  return {
    pid: owned.pid,
    exited: owned.exited,
    kill: owned.kill,
    stop: (signal, timeout) => terminate(owned, signal, timeout),
  };
}

/** Ends a process by a signal, and by SIGKILL when that did not help within `timeout` milliseconds. */
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

function silence(timeout: number): Promise<'silent'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('silent'), timeout).unref();
  });
}

/** The run folder goes away with the run; the log of a failed start has to outlive it. */
function keep(logFile: string): string {
  const kept = join(mkdtempSync(join(tmpdir(), 'stream-consumer-log-')), 'server.log');
  renameSync(logFile, kept);
  return kept;
}

function failureText(
  { name, startTimeout }: ServerCommand,
  outcome: ExitStatus | 'silent',
  log: string,
  tail: readonly string[],
): string {
  const what =
    outcome === 'silent'
      ? `was not ready after ${startTimeout / 1_000} s`
      : `ended with ${describeExit(outcome)} while it started`;
  return [`${name} ${what}. The end of its log (all of it: ${log}):`, ...tail.map((line) => `    ${line}`)].join('\n');
}
