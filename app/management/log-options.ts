import type { FastifyServerOptions } from 'fastify';
import { maskText } from '../../settings/mask-secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import { MASK } from '../../settings/shown-value.ts';
import { isError, openFilesAdvice } from '../health/error-text.ts';

/** Takes the log, one JSON line per call. */
export interface LogDestination {
  write(line: string): void;
}

const SECRET_KEYS = ['password', 'authorization', 'secret', 'token'];

/** Pino's number of the level from which a line may call for action. */
const WARN = 40;

/** Causes of causes beyond this depth are left out: an error can be its own cause. */
const DEEPEST_CAUSE = 5;

/**
 * The process's log: JSON lines with the level's name and the time as ISO 8601.
 *
 * Secrets are masked wherever they can get in: under a key that names one, and in URLs and `password=...` of any text.
 * Of an error only its name, message, code, stack and cause are written, because drivers hang the record's content on it.
 *
 * @param destination @default standard output
 * @param onLine called with pino's level of each line that is written
 */
export function logOptions(
  { level }: Settings['logging'],
  destination?: LogDestination,
  onLine: (level: number) => void = () => undefined,
): Exclude<FastifyServerOptions['logger'], boolean | undefined> {
  return {
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
    ...(destination === undefined ? {} : { stream: destination }),
  };
}

/** What a line says outside of deeper objects. */
function textOf(arg: unknown): string {
  if (typeof arg === 'string') {
    return arg;
  }
  const values: unknown[] = isError(arg) ? [arg] : Object.values(arg ?? {});
  return values.map((value) => (isError(value) ? value.message : typeof value === 'string' ? value : '')).join('\n');
}

/** The parts of a line, with the field `advice` where no more files can be opened. */
function withAdvice(args: readonly unknown[]): readonly unknown[] {
  const advice = openFilesAdvice(args.map(textOf).join('\n'));
  if (advice === undefined) {
    return args;
  }
  const [first, ...rest] = args;
  if (typeof first !== 'object') {
    return [{ advice }, ...args];
  }
  // An error's name, message and stack are none of its own enumerable fields.
  return [isError(first) ? { err: first, advice } : { ...first, advice }, ...rest];
}

/** An error as it stands in the log. */
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
