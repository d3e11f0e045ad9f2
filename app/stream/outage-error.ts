import type { ErrorReason } from '../../contract/metric-labels.ts';
import { FatalError } from './fatal-error.ts';

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

/**
 * Counts the outages in a row that are not known to be one: those with a bound of {@link OutageError.attempts}. A known
 * outage and a success end the row.
 */
export class UnknownOutages {
  #inARow = 0;

  /** @throws FatalError `DATABASE_REFUSED` when with this one there are as many as it allows */
  count(outage: OutageError): void {
    this.#inARow = Number.isFinite(outage.attempts) ? this.#inARow + 1 : 0;
    if (this.#inARow >= outage.attempts) {
      const message = `${outage.message}; it failed ${this.#inARow} times in a row`;
      throw new FatalError('DATABASE_REFUSED', message, { cause: outage });
    }
  }

  succeeded(): void {
    this.#inARow = 0;
  }
}

/** Lets an outage through as a value, so that it can be told apart without a second try block; everything else stays an error. */
export function outageOnly(error: unknown): OutageError {
  if (error instanceof OutageError) {
    return error;
  }
  throw error;
}
