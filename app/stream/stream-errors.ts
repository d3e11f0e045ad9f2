/** Why the consumer ends by itself with exit code 1. The codes are stable: alerts and runbooks may match them. */
export type FatalCode =
  | 'RECORD_ALREADY_WRITTEN'
  | 'OFFSETS_GONE'
  | 'STORED_OFFSET_AHEAD'
  | 'STORED_OFFSET_MISSING'
  | 'DATABASE_REFUSED'
  | 'DATABASE_ENCODING'
  | 'DATABASE_NOT_MIGRATED'
  | 'KAFKA_CLIENT_STOPPED'
  | 'LISTEN_FAILED'
  | 'TOO_MANY_DEAD_LETTERS'
  | 'DEAD_LETTER_TOPIC_REFUSED'
  | 'UNEXPECTED';

/** An error that no retry can mend; its message says what happened and what to do next. */
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
