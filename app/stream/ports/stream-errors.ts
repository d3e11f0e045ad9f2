import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { FATAL_CODES, type FatalCode } from '../../../contract/fatal-codes.ts';
import type { ErrorReason } from '../../../contract/metrics/definition.ts';

/** What is known of an outage; what is left out has a default. */
interface OutageOptions {
  readonly attempts?: number;
  readonly reason?: ErrorReason;
  readonly isLockWait?: boolean;
  readonly retryAfterMs?: number;
  readonly table?: string;
  readonly isBrief?: boolean;
}

/**
 * PostgreSQL, Kafka or the schema registry is away or busy and will come back. The outcome of the attempt is unknown: a
 * transaction may have been committed, so the stored position has to be read again before the next write.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
  /** Attempts in a row that may end like this before the consumer stops. */
  readonly attempts: number;
  /** Label of the metric that counts outages. */
  readonly reason: ErrorReason;
  /** Whether another transaction held what was waited for, until the wait was given up. */
  readonly isLockWait: boolean;
  /** An attempt that begins in less than so many milliseconds ends like this one. */
  readonly retryAfterMs: number;
  /** The table that takes no rows for now, with its schema; `undefined`: it is not about one table. */
  readonly table: string | undefined;
  /** Whether it ends by itself within seconds, and the session with the sink goes on: no topic waits for it. */
  readonly isBrief: boolean;

  /**
   * @param attempts `Infinity` for an outage that is known to be one
   * @param reason @default database_unknown
   * @param isLockWait @default false
   * @param retryAfterMs @default 0
   * @param table @default it is not about one table
   * @param isBrief @default false
   */
  constructor(
    message: string,
    {
      attempts = Number.POSITIVE_INFINITY,
      reason = 'database_unknown',
      isLockWait = false,
      retryAfterMs = 0,
      table,
      isBrief = false,
      ...options
    }: ErrorOptions & OutageOptions = {},
  ) {
    super(message, options);
    this.attempts = attempts;
    this.reason = reason;
    this.isLockWait = isLockWait;
    this.retryAfterMs = retryAfterMs;
    this.table = table;
    this.isBrief = isBrief;
  }
}

/**
 * Returns an outage as a value, so that no second try block is needed to recognize it; everything else stays an error.
 */
export function outageOnly(error: unknown): OutageError {
  if (error instanceof OutageError) {
    return error;
  }
  throw error;
}

/** Codes that the start of another Pod with the same settings would meet again. */
export const OF_CONFIGURATION: ReadonlySet<FatalCode> = new Set(
  (Object.keys(FATAL_CODES) as FatalCode[]).filter((code) => FATAL_CODES[code].exitCode === EXIT_CODE.configuration),
);

/** The advice of messages for what comes after the mending, as a process that has ended needs it. */
const START_AGAIN = /(?:[,.;]? (?:and|[Tt]hen)) start again/g;

/** What is known of a fatal error; what is left out has a default. */
interface FatalOptions extends ErrorOptions {
  readonly topic?: string | null;
  readonly isIgnored?: boolean;
}

/** An error that no retry can mend; its message contains the cause and the remedy. */
export class FatalError extends Error {
  override readonly name = 'FatalError';
  readonly code: FatalCode;
  /** The topic that it is about; `null`: it is about the process, whatever the code; `undefined`: that in hand. */
  readonly topic: string | null | undefined;
  /** Whether nobody wants the topic for now, by the settings. */
  readonly isIgnored: boolean;

  /**
   * @param topic @default the topic whose records are in hand
   * @param isIgnored @default false
   */
  constructor(code: FatalCode, message: string, { topic, isIgnored = false, ...options }: FatalOptions = {}) {
    super(message, options);
    this.code = code;
    this.topic = topic;
    this.isIgnored = isIgnored;
  }

  /** Whether it concerns the records of one topic alone. */
  get isOfTopic(): boolean {
    return FATAL_CODES[this.code].isOfTopic && this.topic !== null;
  }

  /** The message for where nothing has to start again: a topic that waits goes on by itself, and a command ends. */
  get messageWithoutStart(): string {
    return this.message.replaceAll(START_AGAIN, '');
  }

  /** The error itself when it is fatal already, else one of code `UNEXPECTED` that wraps it. */
  static from(error: unknown): FatalError {
    if (error instanceof FatalError) {
      return error;
    }
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return new FatalError('UNEXPECTED', message, { cause: error });
  }
}
