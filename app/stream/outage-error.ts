import type { ErrorReason } from '../../contract/metrics/definition.ts';

/**
 * Something outside is away or busy and will come back. Nothing is known about the outcome of what was tried: a
 * transaction may have been committed, so the stored position has to be read again before the next write.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
  /** How often in a row it is tried again before a person is needed after all. */
  readonly attempts: number;
  /** What kind of trouble it is, for those who count. */
  readonly reason: ErrorReason;

  /**
   * @param attempts `Infinity` for an outage that is known to be one
   * @param reason @default database_unknown
   */
  constructor(
    message: string,
    {
      attempts = Number.POSITIVE_INFINITY,
      reason = 'database_unknown',
      ...options
    }: ErrorOptions & { attempts?: number; reason?: ErrorReason } = {},
  ) {
    super(message, options);
    this.attempts = attempts;
    this.reason = reason;
  }
}

/** Lets an outage through as a value, so that it can be told apart without a second try block; everything else stays an error. */
export function outageOnly(error: unknown): OutageError {
  if (error instanceof OutageError) {
    return error;
  }
  throw error;
}
