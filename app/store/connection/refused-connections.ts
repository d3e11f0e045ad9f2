import { isDeepStrictEqual } from 'node:util';
import { DatabaseError } from 'pg';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { describeDatabaseError, isHeldUp, isLockTimeout, refusedParameter, troubleOf, verdictOn } from './sqlstate.ts';
import { tlsAdvice } from './tls-errors.ts';

/** An error of verdict `unknown` may pass or not: after so many in a row it does not. */
const UNKNOWN_ATTEMPTS = 10;

/**
 * Pauses of a consumer between connections that are refused, in milliseconds: five attempts in 15 s. Passwords and
 * certificates rotate, and each attempt reads them anew; more attempts might lock the role.
 */
export const REFUSAL_PAUSES_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000];

/**
 * The same for a consumer that has been let in before: eleven attempts in three minutes. The server may know a new
 * password long before the files have it: the kubelet takes up to two minutes to update those of a Secret.
 */
export const ROTATION_PAUSES_MS: readonly number[] = [
  ...REFUSAL_PAUSES_MS,
  ...[15_000, 30_000, 30_000, 30_000, 30_000, 30_000],
];

/** A mistake in the program; waiting for PostgreSQL would not mend it. */
const isProgramError = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/** What a person has to check. */
function adviceOn(error: unknown): string {
  if (error instanceof AggregateError) {
    return [...new Set(error.errors.map(adviceOn))].join('; ');
  }
  const parameter = refusedParameter(error);
  if (parameter !== null) {
    return (
      `a connection pooler is in the way: leave "${parameter}" out of database.url, or name it in PgBouncer's ` +
      'ignore_startup_parameters (docs/pgbouncer.md)'
    );
  }
  const isLogin =
    error instanceof DatabaseError ? error.code?.startsWith('28') : String(error).startsWith('Error: SASL');
  const login = "check user, password and client certificate, and the lines of the server's pg_hba.conf";
  return tlsAdvice(error) ?? (isLogin ? login : 'check database.url, the role and its rights on the schema');
}

/** What an error of pg is about. */
interface ErrorPlace {
  /** `database.credentialsFrom`, named by a refusal of the connection itself. @default it is not named */
  readonly credentialsFrom?: string | undefined;
  /** The table whose statement failed. @default not known */
  readonly table?: string;
}

/** An error of pg as one of the stream's. */
export function asStreamError(error: unknown, { credentialsFrom, table }: ErrorPlace = {}): OutageError | FatalError {
  if (error instanceof OutageError || error instanceof FatalError) {
    return error;
  }
  if (isProgramError(error)) {
    return FatalError.from(error);
  }
  const description = describeDatabaseError(error);
  const ofThe = table === undefined ? {} : { table };
  const verdict = verdictOn(error);
  if (verdict === 'retry') {
    const what = table === undefined ? 'PostgreSQL cannot do it for now' : `the table ${table} takes no rows for now`;
    return new OutageError(`${what}: ${description}`, {
      cause: error,
      reason: table === undefined ? troubleOf(error) : 'database_busy',
      isLockWait: isLockTimeout(error),
      ...ofThe,
    });
  }
  if (verdict === 'unknown') {
    const what = table === undefined ? 'PostgreSQL failed' : `the table ${table} took no rows`;
    return new OutageError(`${what}: ${description}`, { cause: error, attempts: UNKNOWN_ATTEMPTS, ...ofThe });
  }
  const origin = credentialsFrom === undefined ? '' : `. The credentials are those of ${credentialsFrom}`;
  const message = `PostgreSQL refused: ${description}; ${adviceOn(error)}, then start again${origin}`;
  return new FatalError('DATABASE_REFUSED', message, { cause: error });
}

/**
 * The error of a table's statement, where it is about the table: an outage where it takes no rows for now, or for a
 * reason that is not known, and `TABLE_REFUSES_ROWS` where somebody has to mend it, such as what its trigger uses. An
 * error that is about the connection, the transaction or a row is returned as it is.
 */
export function ofTable(error: unknown, table: string): unknown {
  const verdict = error instanceof DatabaseError ? verdictOn(error) : undefined;
  if (verdict === 'unknown' || isHeldUp(error)) {
    return asStreamError(error, { table });
  }
  if (verdict !== 'stop') {
    return error;
  }
  return new FatalError(
    'TABLE_REFUSES_ROWS',
    `the table ${table} refuses rows: ${describeDatabaseError(error)}. Nothing was written, and the records stay ahead ` +
      'of the stored offset. Mend the table, the trigger or function that raised this, or the rights of the role, then ' +
      'start again',
    { cause: error },
  );
}

/**
 * Connections that are refused one after the other. Until as many attempts were refused as there are pauses and one
 * more, a refusal is an outage: what was to be written stays ahead of the stored offset. Between two attempts the
 * server is not asked, however many partitions want to write, unless the settings have changed meanwhile.
 */
export class RefusedConnections {
  readonly #pausesMs: () => readonly number[];
  #count = 0;
  #askAgainAt = 0;
  #last: OutageError | null = null;
  #refused: unknown;

  constructor(pausesMs: () => readonly number[]) {
    this.#pausesMs = pausesMs;
  }

  /**
   * @param settings those that the connection would be made with
   * @throws OutageError the last refusal, where it is too early to ask again with the same settings
   */
  requireTurn(now: number, settings: unknown): void {
    if (this.#last !== null && now < this.#askAgainAt) {
      if (isDeepStrictEqual(settings, this.#refused)) {
        throw this.#last;
      }
      this.#askAgainAt = now;
    }
    this.#refused = settings;
  }

  /** A connection was made, or failed for another reason. */
  ended(): void {
    this.#count = 0;
    this.#last = null;
  }

  /**
   * A connection was refused that was begun then; those that were begun together count once.
   *
   * @returns the refusal itself after the last attempt, else an outage
   */
  refused(refusal: FatalError, beganAt: number, now: number): FatalError | OutageError {
    if (this.#last === null || beganAt >= this.#askAgainAt) {
      const pauses = this.#pausesMs();
      const pause = pauses[this.#count];
      this.#count += 1;
      if (pause === undefined) {
        return refusal;
      }
      this.#askAgainAt = now + pause;
      const tried = `${refusal.message} (attempt ${this.#count} of ${pauses.length + 1})`;
      this.#last = new OutageError(tried, { cause: refusal.cause, reason: 'database_away' });
    }
    return this.#last;
  }
}
