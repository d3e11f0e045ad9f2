import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { FATAL_CODES, type FatalCode } from '../../../contract/fatal-codes.ts';
import type { ErrorReason } from '../../../contract/metrics/definition.ts';

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

  /**
   * @param attempts `Infinity` for an outage that is known to be one
   * @param reason @default database_unknown
   * @param isLockWait @default false
   * @param retryAfterMs @default 0
   */
  constructor(
    message: string,
    {
      attempts = Number.POSITIVE_INFINITY,
      reason = 'database_unknown',
      isLockWait = false,
      retryAfterMs = 0,
      ...options
    }: ErrorOptions & { attempts?: number; reason?: ErrorReason; isLockWait?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.attempts = attempts;
    this.reason = reason;
    this.isLockWait = isLockWait;
    this.retryAfterMs = retryAfterMs;
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

/** An error that no retry can mend; its message contains the cause and the remedy. */
export class FatalError extends Error {
  override readonly name = 'FatalError';
  readonly code: FatalCode;

  constructor(code: FatalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
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
