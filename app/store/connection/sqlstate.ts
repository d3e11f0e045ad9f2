import { isNativeError } from 'node:util/types';
import { DatabaseError } from 'pg';
import { CredentialsRefused, CredentialsUnavailable } from '../../credentials/credentials.ts';
import { InvalidAnswerError } from '../../network/invalid-answer.ts';
import { openSslReason, tlsAdvice } from './tls-errors.ts';

/** SQLSTATE of what a privilege is missing for. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * What an error of PostgreSQL means for the records in hand.
 *
 * - `retry`: an outage or a conflict that passes; nothing is said about the records
 * - `isolate`: one of the records cannot be stored; it is found and becomes a dead letter
 * - `stop`: a person has to change something first
 * - `unknown`: not in this table; tried again a few times, then the consumer stops
 */
type SqlstateVerdict = 'retry' | 'isolate' | 'stop' | 'unknown';

/** By class, the first two characters (PostgreSQL documentation, appendix A), with the reason for each. */
const BY_CLASS: Readonly<Record<string, SqlstateVerdict>> = {
  // Connection exception: the server or the network is away.
  '08': 'retry',
  // Data exception: a value does not fit its type.
  '22': 'isolate',
  // Integrity constraint violation: a row of ours is refused; a duplicate of our primary key is distinguished.
  '23': 'isolate',
  // Invalid authorization: the password, role or client certificate is wrong.
  '28': 'stop',
  // Invalid catalog or schema name: the wrong database, or ours was dropped.
  '3D': 'stop',
  '3F': 'stop',
  // Transaction rollback: serialization failure, deadlock.
  '40': 'retry',
  // Syntax error or access rule violation: a table or a privilege is missing.
  '42': 'stop',
  // WITH CHECK OPTION violation: a row is refused by a view.
  '44': 'isolate',
  // Insufficient resources: disk full, out of memory, too many connections.
  '53': 'retry',
  // Program limit exceeded, raised by a row: nesting too deep, value too large; limits of the server are distinguished
  // before.
  '54': 'isolate',
  // Object not in prerequisite state: lock not available.
  '55': 'retry',
  // Operator intervention: shutdown, restart, cancelled by a time-out.
  '57': 'retry',
  // System error: I/O.
  '58': 'retry',
  // PL/pgSQL: a trigger raised an error for a row.
  P0: 'isolate',
};

/** SQLSTATE of a write to a server that takes none. */
export const READ_ONLY_SQL_TRANSACTION = '25006';

const VERDICT_BY_CODE: Readonly<Record<string, SqlstateVerdict>> = {
  // Protocol violation: a column has another type than the one that rows are encoded for; a connection pooler's errors
  // are distinguished before.
  '08P01': 'unknown',
  // Invalid binary representation, bad COPY format: our encoding does not fit the table, which is no record's fault.
  '22P03': 'stop',
  '22P04': 'stop',
  // Read-only transaction: a failover is under way, or we talk to a standby. The connections to it are ended.
  [READ_ONLY_SQL_TRANSACTION]: 'retry',
  // Idle-in-transaction time-out: we were stopped for too long; the transaction is gone.
  '25P03': 'retry',
  // Transaction time-out of PostgreSQL 17 and later: the transaction took too long; the connection is gone with it.
  '25P04': 'retry',
};

const PROGRAM_LIMIT_EXCEEDED = '54000';

const PROTOCOL_VIOLATION = '08P01';

/**
 * PgBouncer gives all errors that it raises this code. PostgreSQL names the function of the server; PgBouncer has none.
 */
const isOfPooler = ({ code, routine }: DatabaseError): boolean => code === PROTOCOL_VIOLATION && routine === undefined;

/**
 * PgBouncer's words for what a person has to change; all others are of a server that is away, or of too many clients.
 */
const REFUSED_BY_POOLER = /^unsupported startup parameter|authentication failed|does not exist$|^no such /;

const UNSUPPORTED_PARAMETER = /^unsupported startup parameter: (\S+)/;

/** The parameter of a session's start that a connection pooler does not take; `null` for any other error. */
export function refusedParameter(error: unknown): string | null {
  if (error instanceof AggregateError) {
    return error.errors.map(refusedParameter).find((name) => name !== null) ?? null;
  }
  const isRefusal = error instanceof DatabaseError && isOfPooler(error);
  return (isRefusal && UNSUPPORTED_PARAMETER.exec(error.message)?.[1]) || null;
}

/** An administrator's partitioned table has no partition for a row: the others of its kind would follow it. */
const isWithoutPartition = ({ code, routine }: DatabaseError): boolean =>
  code === '23514' && routine === 'ExecFindPartition';

/**
 * The server's functions that raise this code whatever the row is: ids of transactions or MultiXacts have run out,
 * until a VACUUM. The message is translated, the name of a function is not.
 */
const LIMITS_OF_THE_SERVER: ReadonlySet<string | undefined> = new Set(['GetNewTransactionId', 'GetNewMultiXactId']);

/** The same where a table is as large as one can be; the second one in PostgreSQL 15 and before. */
const LIMITS_OF_A_TABLE: ReadonlySet<string | undefined> = new Set(['ExtendBufferedRelShared', 'ReadBuffer_common']);

const isLimit = ({ code, routine }: DatabaseError, functions: ReadonlySet<string | undefined>): boolean =>
  code === PROGRAM_LIMIT_EXCEEDED && functions.has(routine);

/** How pg begins the errors that it makes itself when a connection is gone or does not come about. */
const LOST_CONNECTION = [
  'Connection terminated',
  'Client has encountered a connection error',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
];

/** Codes of the operating system (`ECONNRESET`, `ENOTFOUND`, ...) and of a stream that ended in the middle. */
const NETWORK_CODE = /^(E(?!RR_)[A-Z_]+|ERR_STREAM_PREMATURE_CLOSE)$/;

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const hasCode = 'code' in error && typeof error.code === 'string' && NETWORK_CODE.test(error.code);
  const isOther = error instanceof InvalidAnswerError;
  return isOther || hasCode || LOST_CONNECTION.some((beginning) => error.message.startsWith(beginning));
}

function verdictOfServer(error: DatabaseError, sqlstate: string): SqlstateVerdict {
  if (isLimit(error, LIMITS_OF_THE_SERVER) || isLimit(error, LIMITS_OF_A_TABLE) || isWithoutPartition(error)) {
    return 'retry';
  }
  if (isOfPooler(error)) {
    return REFUSED_BY_POOLER.test(error.message) ? 'stop' : 'retry';
  }
  return VERDICT_BY_CODE[sqlstate] ?? BY_CLASS[sqlstate.slice(0, 2)] ?? 'unknown';
}

/** The verdict on an error that a statement or a connection ended with. */
export function verdictOn(error: unknown): SqlstateVerdict {
  if (error instanceof DatabaseError && error.code !== undefined) {
    return verdictOfServer(error, error.code);
  }
  if (error instanceof AggregateError && error.errors.length > 0) {
    return commonVerdict(error.errors.map(verdictOn));
  }
  if (tlsAdvice(error) !== undefined || error instanceof CredentialsRefused) {
    return 'stop';
  }
  if (error instanceof CredentialsUnavailable) {
    return 'retry';
  }
  if (isNetworkError(error)) {
    return 'retry';
  }
  // pg cannot log in with the credentials given, such as no password at all; no server was asked, so there is no
  // SQLSTATE.
  return error instanceof Error && error.message.startsWith('SASL') ? 'stop' : 'unknown';
}

/** Of several hosts, or addresses of one: the one that is away may be the one that would do it. */
function commonVerdict(verdicts: readonly SqlstateVerdict[]): SqlstateVerdict {
  const [first = 'unknown'] = verdicts;
  if (verdicts.includes('retry')) {
    return 'retry';
  }
  return verdicts.every((verdict) => verdict === first) ? first : 'unknown';
}

/** Whether the server takes no writes, on this connection and all others to it. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === READ_ONLY_SQL_TRANSACTION;

/** Whether an error that passes is about reaching PostgreSQL, or about the statement. */
export function troubleOf(error: unknown): 'database_away' | 'database_busy' {
  if (error instanceof AggregateError) {
    return error.errors.some((each) => troubleOf(each) === 'database_away') ? 'database_away' : 'database_busy';
  }
  const sqlstate = error instanceof DatabaseError ? error.code : undefined;
  const isAway = sqlstate === undefined ? isNetworkError(error) : /^08|^57P0[1-3]$/.test(sqlstate);
  return isAway ? 'database_away' : 'database_busy';
}

/** `SQLSTATE 22P02: ...`, for logs and messages: never the detail or context, which may quote a record. */
export function describeDatabaseError(error: unknown): string {
  if (error instanceof DatabaseError) {
    return `SQLSTATE ${error.code ?? 'unknown'}: ${error.message}`;
  }
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeDatabaseError).join('; ');
  }
  return isNativeError(error) ? openSslReason(error) : String(error);
}

/** `lock_not_available`: PostgreSQL gave up the wait for a lock. */
export const isLockTimeout = (error: unknown): boolean => error instanceof DatabaseError && error.code === '55P03';

/** `query_canceled`: a statement took longer than it may, or somebody ended it. */
export const isCancelled = (error: unknown): boolean => error instanceof DatabaseError && error.code === '57014';

/**
 * The disk is full, or the table is not in the state that it has to be in: locked, or without a replica identity. Or a
 * function of the server, such as a trigger's, has no connection to another one, or writes to one that takes no writes.
 */
const OF_THE_TABLE_FOR_NOW = /^(?:53100|55|08|25006)/;

/**
 * Whether the table of a statement took no rows for a reason that passes and is no record's. The statement comes behind
 * one that has written, on the same connection, so this connection and this server are well.
 */
export const isHeldUp = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  ((OF_THE_TABLE_FOR_NOW.test(error.code ?? '') && !isOfPooler(error)) ||
    isCancelled(error) ||
    isWithoutPartition(error) ||
    isLimit(error, LIMITS_OF_A_TABLE));

/** Whether PostgreSQL ended a transaction of two that waited for each other. */
export const isDeadlock = (error: unknown): boolean => error instanceof DatabaseError && error.code === '40P01';
