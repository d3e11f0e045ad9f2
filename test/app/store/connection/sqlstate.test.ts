import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import pg, { DatabaseError } from 'pg';
import { CredentialsRefused, CredentialsUnavailable } from '../../../../app/credentials/credentials.ts';
import {
  describeDatabaseError,
  refusedParameter,
  troubleOf,
  verdictOn,
} from '../../../../app/store/connection/sqlstate.ts';

function databaseError(code: string): DatabaseError {
  const error = new DatabaseError('it went wrong', 0, 'error');
  error.code = code;
  error.detail = 'Key (id)=(secret content)';
  error.where = 'COPY records, line 1: "secret content"';
  return error;
}

test.each([
  ['08006', 'retry'],
  ['40P01', 'retry'],
  ['53100', 'retry'],
  ['53300', 'retry'],
  ['55P03', 'retry'],
  ['57P01', 'retry'],
  ['57014', 'retry'],
  ['25006', 'retry'],
  ['25P03', 'retry'],
  ['25P04', 'retry'],
  ['22P02', 'isolate'],
  ['23503', 'isolate'],
  ['54001', 'isolate'],
  ['28P01', 'stop'],
  ['42P01', 'stop'],
  ['3D000', 'stop'],
  ['44000', 'isolate'],
  ['P0001', 'isolate'],
  ['XX000', 'unknown'],
  ['22P03', 'stop'],
])('SQLSTATE %s: %s', (code, verdict) => {
  expect(verdictOn(databaseError(code))).toBe(verdict);
});

/** What pg makes of an ErrorResponse as a server sends it; fields by the letters of the protocol. */
function received(fields: Readonly<Record<string, string>>): Promise<DatabaseError> {
  const stream = new PassThrough();
  const connection = new pg.Connection({ stream: stream as never });
  const error = new Promise<DatabaseError>((resolve) => {
    connection.on('errorMessage', resolve);
  });
  (connection as unknown as { attachListeners(from: PassThrough): void }).attachListeners(stream);
  const text = Object.entries(fields).map(([letter, value]) => `${letter}${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeUInt32BE(4 + body.length, 1);
  stream.write(Buffer.concat([head, body]));
  return error;
}

describe('SQLSTATE 08P01', () => {
  const PROTOCOL = { S: 'FATAL', C: '08P01' };

  test('of PostgreSQL, which names the function that raised it: unknown', async () => {
    const error = await received({ ...PROTOCOL, M: 'insufficient data left in message', R: 'pq_copymsgbytes' });
    expect(verdictOn(error)).toBe('unknown');
  });

  test.each([
    ['query_wait_timeout', 'retry'],
    ['server login has been failing, try again later (server_login_retry)', 'retry'],
    ['no more connections allowed (max_client_conn)', 'retry'],
    ['SASL authentication failed', 'stop'],
    ['database "nosuch" does not exist', 'stop'],
    ['unsupported startup parameter: options', 'stop'],
  ])('of PgBouncer, "%s": %s', async (message, verdict) => {
    expect(verdictOn(await received({ ...PROTOCOL, M: message }))).toBe(verdict);
  });

  test('names the parameter that PgBouncer does not take', async () => {
    const message = 'unsupported startup parameter: options';
    expect(refusedParameter(await received({ ...PROTOCOL, M: message }))).toBe('options');
    expect(refusedParameter(await received({ ...PROTOCOL, M: message, R: 'ProcessStartupPacket' }))).toBeNull();
    expect(refusedParameter(await received({ ...PROTOCOL, M: 'query_wait_timeout' }))).toBeNull();
  });
});

describe('SQLSTATE 54000 as a server sends it', () => {
  const LIMIT = { S: 'ERROR', V: 'ERROR', C: '54000' };

  test.each([
    [
      'transaction ids have run out',
      {
        M: 'database is not accepting commands to avoid wraparound data loss in database "orders"',
        H: 'Stop the postmaster and vacuum that database in single-user mode.',
        F: 'varsup.c',
        L: '127',
        R: 'GetNewTransactionId',
      },
    ],
    [
      'they have run out, in the language of lc_messages',
      {
        S: 'FEHLER',
        M: 'Datenbank nimmt keine Befehle an, um Datenverlust wegen Transaktionsnummernüberlauf zu vermeiden',
        R: 'GetNewTransactionId',
      },
    ],
    ['MultiXactIds have run out', { M: 'database is not accepting commands', R: 'GetNewMultiXactId' }],
    ['members of MultiXacts have run out', { M: 'multixact "members" limit exceeded', R: 'GetNewMultiXactId' }],
    ['a table is as large as one can be', { M: 'cannot extend relation', R: 'ExtendBufferedRelShared' }],
    ['a table of PostgreSQL 15 is', { M: 'cannot extend relation', R: 'ReadBuffer_common' }],
  ])('is no fault of a record when %s', async (_, fields) => {
    expect(verdictOn(await received({ ...LIMIT, ...fields }))).toBe('retry');
  });

  test.each([
    ['an object is too large', 'convertJsonbObject'],
    ['an array is too large', 'convertJsonbArray'],
    ['a row is too large', 'RelationGetBufferForTuple'],
    ['a key is too large for its index', '_bt_check_third_page'],
    ['a trigger raises it', 'exec_stmt_raise'],
  ])('is the fault of a record when %s', async (_, R) => {
    expect(verdictOn(await received({ ...LIMIT, M: 'the limit was exceeded', R }))).toBe('isolate');
  });

  test('is the fault of a record when something in between leaves out where it was raised', async () => {
    expect(verdictOn(await received({ ...LIMIT, M: 'the limit was exceeded' }))).toBe('isolate');
  });

  test('counts by where it was raised only with this code', async () => {
    expect(verdictOn(await received({ ...LIMIT, C: '22P02', M: 'invalid', R: 'GetNewTransactionId' }))).toBe('isolate');
  });
});

describe('SQLSTATE 23514 as a server sends it', () => {
  const CHECK = { S: 'ERROR', V: 'ERROR', C: '23514' };

  test('is no fault of a record when the table has no partition for it', async () => {
    const fields = { M: 'no partition of relation "records" found for row', R: 'ExecFindPartition' };
    expect(verdictOn(await received({ ...CHECK, ...fields }))).toBe('retry');
  });

  test('is the fault of a record when a constraint refuses it', async () => {
    const fields = { M: 'new row for relation "records" violates check constraint "rule"', R: 'ExecConstraints' };
    expect(verdictOn(await received({ ...CHECK, ...fields }))).toBe('isolate');
  });
});

const withCode = (code: string) => Object.assign(new Error('it went wrong'), { code });

test.each([
  ['the system refused', withCode('ECONNREFUSED')],
  ['the name was not found', withCode('ENOTFOUND')],
  ['the stream ended in the middle', withCode('ERR_STREAM_PREMATURE_CLOSE')],
  ['pg lost the connection', new Error('Connection terminated unexpectedly')],
  ['pg waited too long', new Error('timeout exceeded when trying to connect')],
  ['both addresses failed', new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')])],
])('without a SQLSTATE it is an outage when %s', (_, error) => {
  expect(verdictOn(error)).toBe('retry');
});

test.each([
  ['an error of the library', withCode('ERR_INVALID_ARG_TYPE')],
  ['an error that says nothing', new Error('what is this')],
  ['no error at all', 'text'],
])('without a SQLSTATE %s is unknown', (_, error) => {
  expect(verdictOn(error)).toBe('unknown');
});

test('a log-in that lacks a password is for a person to mend', () => {
  expect(verdictOn(new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'))).toBe('stop');
});

test('a description has neither detail nor context, which may quote a record', () => {
  expect(describeDatabaseError(databaseError('22P02'))).toBe('SQLSTATE 22P02: it went wrong');
});

test('both addresses of a host that cannot be reached are described', () => {
  const error = new AggregateError([
    new Error('connect ECONNREFUSED ::1'),
    new Error('connect ECONNREFUSED 127.0.0.1'),
  ]);
  expect(describeDatabaseError(error)).toBe('connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1');
});

describe('the errors of several hosts', () => {
  const refused = databaseError('28P01');
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const readOnly = databaseError('25006');

  test.each([
    ['all refuse', [refused, refused], 'stop'],
    ['one is away, which may be the one that would not', [refused, away], 'retry'],
    ['one takes no writes now', [readOnly, refused], 'retry'],
    ['one refuses, and one says what is not known', [refused, new Error('what is this')], 'unknown'],
  ])('%s', (_name, errors, verdict) => {
    expect(verdictOn(new AggregateError(errors))).toBe(verdict);
  });
});

test.each([
  [new CredentialsRefused('AWS gives no keys'), 'stop'],
  [new CredentialsUnavailable('AWS is away'), 'retry'],
  [Object.assign(new Error('self-signed'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }), 'stop'],
  [Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }), 'stop'],
  [new Error('The server does not support SSL connections'), 'stop'],
])('of a login or of TLS, "%s": %s', (error, verdict) => {
  expect(verdictOn(error)).toBe(verdict);
});

test.each([
  ['08006', 'database_away'],
  ['57P01', 'database_away'],
  ['57P03', 'database_away'],
  ['57P04', 'database_busy'],
  ['57014', 'database_busy'],
  ['53300', 'database_busy'],
  ['10800', 'database_busy'],
])('SQLSTATE %s: %s', (code, trouble) => {
  expect(troubleOf(databaseError(code))).toBe(trouble);
});

test('of several hosts, one that is away is enough to be away', () => {
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(troubleOf(new AggregateError([databaseError('53300'), away]))).toBe('database_away');
  expect(troubleOf(new AggregateError([databaseError('53300'), databaseError('57014')]))).toBe('database_busy');
  expect([away, new TypeError('no')].map(troubleOf)).toEqual(['database_away', 'database_busy']);
});

test('the parameter that a pooler does not take is found among the errors of several hosts', () => {
  const refusal = new DatabaseError('unsupported startup parameter: statement_timeout', 0, 'error');
  const byPooler = Object.assign(refusal, { code: '08P01' });
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(refusedParameter(new AggregateError([away, byPooler]))).toBe('statement_timeout');
  expect(refusedParameter(new AggregateError([away]))).toBeNull();
  expect([away, databaseError('28P01')].map(refusedParameter)).toEqual([null, null]);
});
