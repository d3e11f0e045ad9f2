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

/**
 * Why the consumer ends by itself, with exit code 1, or with 78 for `GROUP_WRITES_ELSEWHERE`, `GROUP_MEETS_ANOTHER`,
 * `TABLES_DO_NOT_FIT` and `REGISTRY_REFUSED`. The codes are stable: alerts and runbooks may match them.
 */
export type FatalCode =
  | 'RECORD_ALREADY_WRITTEN'
  | 'OFFSETS_GONE'
  | 'STORED_OFFSET_AHEAD'
  | 'STORED_OFFSET_MISSING'
  | 'TOPIC_GONE'
  | 'TOPIC_RECREATED'
  | 'TOPIC_FORBIDDEN'
  | 'GROUP_FORBIDDEN'
  | 'LOG_TRUNCATED'
  | 'GROUP_WRITES_ELSEWHERE'
  | 'GROUP_MEETS_ANOTHER'
  | 'GROUP_INSTANCE_REPLACED'
  | 'DATABASE_REFUSED'
  | 'DATABASE_TOO_OLD'
  | 'DATABASE_ENCODING'
  | 'DATABASE_NOT_MIGRATED'
  | 'TABLE_MISMATCH'
  | 'TABLES_DO_NOT_FIT'
  | 'REGISTRY_REFUSED'
  | 'ROWS_DROPPED'
  | 'TABLE_REFUSES_ROWS'
  | 'KAFKA_CLIENT_STOPPED'
  | 'KAFKA_LOGIN_REFUSED'
  | 'KAFKA_CERTIFICATE_REFUSED'
  | 'KAFKA_TLS_MISMATCH'
  | 'LISTEN_FAILED'
  | 'TOO_MANY_DEAD_LETTERS'
  | 'DEAD_LETTER_TOPIC_REFUSED'
  | 'UNEXPECTED';

/** Codes that the start of another Pod with the same settings would meet again. */
export const OF_CONFIGURATION: ReadonlySet<FatalCode> = new Set([
  'GROUP_WRITES_ELSEWHERE',
  'GROUP_MEETS_ANOTHER',
  'TABLES_DO_NOT_FIT',
  'REGISTRY_REFUSED',
]);

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
