import { closeSync, mkdtempSync, openSync, renameSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import { freePort } from '../run/free-port.ts';
import { type Command, describeExit, type ExitStatus, terminate } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';

const TAIL_LINES = 15;
/** A line of Java's stack traces that has only a place: each cause has a separate line. */
export const PLACE_IN_TRACE = /^\s+(at \S+\(|\.\.\. \d+ more)/;
const PORT_ATTEMPTS = 3;
/** Kafka's and PostgreSQL's words for a port that another process listens on. */
const PORT_TAKEN = /could not bind|Address already in use/i;

export interface ServerCommand extends Command {
  /** Its name in messages: `Kafka`. */
  readonly name: string;
  /** The log line by which the server says that it takes connections. */
  readonly ready: RegExp;
  /** How many such lines there have to be. @default 1 */
  readonly readyLines?: number;
  /** The log line by which a server that goes on running says that it will never be ready. @default none */
  readonly failed?: RegExp;
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
 * Starts a server, with its log in `<run folder>/<name in small letters, with dashes>.log`, and waits until it is
 * ready.
 *
 * @throws ServerStartError with the end of the log, and where the whole of it is kept, when it ends or stays silent.
 */
export async function startServer(run: RunFolder, command: ServerCommand): Promise<LocalServer> {
  const logFile = join(run.path, `${command.name.toLowerCase().replaceAll(' ', '-')}.log`);
  const log = openSync(logFile, 'a', 0o600);
  const tail: string[] = [];
  const start = awaitedStart(command);
  const owned = await run.spawn({
    ...command,
    onLine: (line) => {
      writeSync(log, `${line}\n`);
      tail.push(...(PLACE_IN_TRACE.test(line) ? [] : [line]));
      tail.splice(0, tail.length - TAIL_LINES);
      start.take(line);
      command.onLine?.(line);
    },
  });
  void owned.exited.then(() => closeSync(log));
  const outcome = await Promise.race([start.outcome, owned.exited, silence(command.startTimeout)]);
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

/** What the lines of a log say of the start of their server. */
function awaitedStart({ ready, readyLines = 1, failed }: ServerCommand) {
  let left = readyLines;
  let settle = (_: 'ready' | 'failed'): void => undefined;
  const outcome = new Promise<'ready' | 'failed'>((resolve) => {
    settle = resolve;
  });
  const take = (line: string): void => {
    left -= ready.test(line) ? 1 : 0;
    if (left <= 0 || failed?.test(line)) {
      settle(left <= 0 ? 'ready' : 'failed');
    }
  };
  return { outcome, take };
}

/**
 * Starts a server on a free port, and on another one where a process took that port before the server listened.
 *
 * @param usual the first port to try where it is free. @default a random one
 */
export async function startOnFreePort<T>(usual: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? usual : undefined);
    try {
      return await start(port);
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !isPortTaken(error)) {
        throw error;
      }
    }
  }
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof ServerStartError && error.output.some((line) => PORT_TAKEN.test(line));

function silence(timeout: number): Promise<'silent'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('silent'), timeout).unref();
  });
}

/** Moves the log of a failed start out of the run folder, which is removed with the run. */
function keep(logFile: string): string {
  const kept = join(mkdtempSync(join(tmpdir(), 'stream-consumer-log-')), 'server.log');
  renameSync(logFile, kept);
  return kept;
}

function failureText(
  { name, startTimeout }: ServerCommand,
  outcome: ExitStatus | 'silent' | 'failed',
  log: string,
  tail: readonly string[],
): string {
  const what =
    outcome === 'silent'
      ? `was not ready after ${startTimeout / 1_000} s`
      : outcome === 'failed'
        ? 'failed to start'
        : `ended with ${describeExit(outcome)} while it started`;
  return [`${name} ${what}. The end of its log (all of it: ${log}):`, ...tail.map((line) => `    ${line}`)].join('\n');
}
