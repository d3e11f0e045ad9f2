import type { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type LoggerOptions, pino } from 'pino';
import { maskText } from '../../settings/schema/mask-secrets.ts';
import { MASK } from '../../settings/schema/shown-value.ts';
import type { Settings } from '../../settings/settings.ts';
import { isError, openFilesAdvice } from './error-text.ts';

/**
 * The part of pino's logger that the process uses. Fields first, then one sentence.
 * Nothing logged at `info` or above may hold a secret or a record's content.
 */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** Takes the log, one JSON line per call. */
export interface LogDestination {
  write(line: string): void;
}

const SECRET_KEYS = ['password', 'authorization', 'secret', 'token'];

/** Pino's number of the level `warn`: from here on a line may call for action. */
const WARN = 40;

/** Causes of causes beyond this depth are left out: an error can be its own cause. */
const DEEPEST_CAUSE = 5;

/**
 * Makes a log of JSON lines with the level's name and the time as ISO 8601.
 *
 * Secrets are masked wherever they can get in: under a key that names one, and in URLs and `password=...` of any text.
 * Only an error's name, message, code, stack and cause are written: drivers attach the record's content to it.
 *
 * @param onLine called with pino's level of each line that is written. @default nothing is
 */
export function createLogger(
  { level }: Settings['logging'],
  destination: LogDestination,
  onLine: (level: number) => void = () => undefined,
): FastifyInstance['log'] {
  const options: LoggerOptions = {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error) => describeError(error, 0) },
    redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: MASK },
    hooks: {
      logMethod(args, method, level) {
        onLine(level);
        const [first, ...rest]: unknown[] = args;
        // pino would take an error's own message as the line's, past every mask.
        const named = isError(first) && rest.length === 0 ? [{ err: first }, first.message] : args;
        const advised = level < WARN ? named : withAdvice(named);
        const masked = advised.map((arg: unknown) => (typeof arg === 'string' ? maskText(arg) : arg));
        method.apply(this, masked as typeof args);
      },
    },
  };
  return pino(options, destination);
}

/** Counts the lines of a log, by pino's level, and those that were lost. */
interface LineCounts {
  count(level: number): void;
  dropped(): void;
}

/** Makes the log of the process, on standard output. */
export const createProcessLog = (logging: Settings['logging'], counts: LineCounts): FastifyInstance['log'] =>
  createLogger(logging, new LogOutput(process.stdout, () => counts.dropped()), (level) => counts.count(level));

/** The texts of a line, without those of nested objects. */
function lineTexts(arg: unknown): string {
  if (typeof arg === 'string') {
    return arg;
  }
  const values: unknown[] = isError(arg) ? [arg] : Object.values(arg ?? {});
  return values.map((value) => (isError(value) ? value.message : typeof value === 'string' ? value : '')).join('\n');
}

/** The parts of a line, with the field `advice` where no more files can be opened. */
function withAdvice(args: readonly unknown[]): readonly unknown[] {
  const advice = openFilesAdvice(args.map(lineTexts).join('\n'));
  if (advice === undefined) {
    return args;
  }
  const [first, ...rest] = args;
  if (typeof first !== 'object') {
    return [{ advice }, ...args];
  }
  // A spread would lose the error's name, message and stack, which are not enumerable.
  return [isError(first) ? { err: first, advice } : { ...first, advice }, ...rest];
}

/** An error as the log has it. */
interface LoggedError {
  [key: string]: unknown;
  type: string;
  message: string;
  stack: string;
}

function describeError(error: unknown, depth: number): LoggedError {
  if (!isError(error)) {
    return { type: 'Error', message: maskText(String(error)), stack: '' };
  }
  const { name, message, stack = '', cause } = error;
  return {
    type: name,
    message: maskText(message),
    stack: maskText(stack),
    ...('code' in error ? { code: error.code } : {}),
    ...(cause === undefined || depth === DEEPEST_CAUSE ? {} : { cause: describeError(cause, depth + 1) }),
  };
}

/** Characters that may wait for a slow reader; a pipe holds some more. */
const MOST_WAITING = 1_048_576;

/**
 * The log on standard output, for which the consumer never waits. Lines that a full disk or a closed pipe refuses are
 * dropped, and so are those beyond {@link MOST_WAITING} while a reader does not read. Each line is tried, so the log
 * goes on as soon as it can.
 */
export class LogOutput implements LogDestination {
  readonly #stream: Writable;
  readonly #onDropped: () => void;

  /**
   * @param stream has to survive its errors, as `process.stdout` does
   * @param onDropped called for each line that was dropped
   */
  constructor(stream: Writable, onDropped: () => void) {
    this.#stream = stream;
    this.#onDropped = onDropped;
    // The callback of each write() gets its failure; without a listener the first one would end the process.
    stream.on('error', () => undefined);
  }

  write(line: string): void {
    if (this.#stream.writableLength + line.length > MOST_WAITING) {
      this.#onDropped();
      return;
    }
    this.#stream.write(line, (error) => {
      if (error) {
        this.#onDropped();
      }
    });
  }
}

const WARNING_PERIOD_MS = 60_000;

/**
 * A warning of events that clients may cause many times a second. The first is logged at once; later ones are counted
 * and logged as one line a minute, and when the server closes. Without events, no timer runs.
 *
 * @param message comes with the fields `count` and `peer`, the remote address of the last event
 * @returns has to be called with the remote address of each event
 */
export function rateLimitedWarning(
  app: Pick<FastifyInstance, 'log' | 'addHook'>,
  message: string,
): (peer: string | undefined) => void {
  let count = 0;
  let last: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const log = () => {
    timer = undefined;
    if (count > 0) {
      app.log.warn({ count, peer: last }, message);
      count = 0;
      timer = setTimeout(log, WARNING_PERIOD_MS).unref();
    }
  };
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    log();
    clearTimeout(timer);
  });
  return (peer) => {
    count += 1;
    last = peer;
    if (timer === undefined) {
      log();
    }
  };
}
