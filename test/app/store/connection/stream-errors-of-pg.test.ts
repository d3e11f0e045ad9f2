import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { asStreamError, ofTable } from '../../../../app/store/connection/refused-connections.ts';
import { troubleOf } from '../../../../app/store/connection/sqlstate.ts';
import { openSslReason, tlsAdvice } from '../../../../app/store/connection/tls-errors.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';

function refused(code: string): DatabaseError {
  const error = new DatabaseError('no', 0, 'error');
  error.code = code;
  return error;
}

const failure = (code: string, message = code): Error => Object.assign(new Error(message), { code });

describe('an error of pg', () => {
  test.each([
    ['53300', undefined, { reason: 'database_busy', isLockWait: false, table: undefined }, 'PostgreSQL cannot do it'],
    ['57P01', undefined, { reason: 'database_away', isLockWait: false, table: undefined }, 'PostgreSQL cannot do it'],
    ['55P03', undefined, { reason: 'database_busy', isLockWait: true, table: undefined }, 'PostgreSQL cannot do it'],
    ['55P03', 't', { reason: 'database_busy', isLockWait: true, table: 't' }, 'the table t takes no rows for now'],
    ['57P01', 't', { reason: 'database_busy', isLockWait: false, table: 't' }, 'the table t takes no rows for now'],
  ] as const)('%s that passes, of the table %s, is an outage for as long as it lasts', (code, table, facts, words) => {
    const cause = refused(code);
    const error = asStreamError(cause, table === undefined ? {} : { table });
    expect(error).toMatchObject({ name: 'OutageError', attempts: Number.POSITIVE_INFINITY, cause, ...facts });
    expect(error.message).toMatch(new RegExp(`^${words}.*: SQLSTATE ${code}: no$`));
  });

  test.each([
    [undefined, 'PostgreSQL failed: SQLSTATE XX000: no'],
    ['t', 'the table t took no rows: SQLSTATE XX000: no'],
  ])('of a kind that is not known, of the table %s, is an outage for some attempts', (table, message) => {
    const error = asStreamError(refused('XX000'), table === undefined ? {} : { table });
    expect(error).toMatchObject({ name: 'OutageError', message, table });
    expect(Number.isFinite((error as OutageError).attempts)).toBe(true);
  });

  test('that somebody has to mend names where the credentials come from', () => {
    const cause = refused('28P01');
    expect(asStreamError(cause)).toMatchObject({ code: 'DATABASE_REFUSED', cause });
    expect(asStreamError(cause).message).toMatch(/^PostgreSQL refused: SQLSTATE 28P01: no; .*, then start again$/);
    const { message } = asStreamError(cause, { credentialsFrom: '/run/secrets' });
    expect(message).toMatch(/then start again\. The credentials are those of \/run\/secrets$/);
  });

  test('stays what it is where it is one of the stream already, and is unexpected where the program is wrong', () => {
    for (const error of [new OutageError('away'), new FatalError('UNEXPECTED', 'no')]) {
      expect(asStreamError(error)).toBe(error);
    }
    expect(asStreamError(new TypeError('x is no function'))).toMatchObject({ code: 'UNEXPECTED' });
  });
});

describe("an error of a table's statement", () => {
  test.each([
    ['55P03', { name: 'OutageError', table: 't', isLockWait: true }],
    ['XX000', { name: 'OutageError', table: 't' }],
    ['42501', { name: 'FatalError', code: 'TABLE_REFUSES_ROWS', message: expect.stringContaining('SQLSTATE 42501') }],
  ])('%s is about the table', (code, facts) => {
    expect(ofTable(refused(code), 't')).toMatchObject({ ...facts, cause: { code } });
  });

  test.each([
    ['the fault of a row', refused('22P02')],
    ['the end of the session', refused('57P01')],
    ['a connection that is lost', failure('ECONNRESET')],
  ])('%s is returned as it is', (_, error) => {
    expect(ofTable(error, 't')).toBe(error);
  });
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
  expect(troubleOf(refused(code))).toBe(trouble);
});

test('of several hosts, one that is away is enough to be away', () => {
  expect(troubleOf(new AggregateError([refused('53300'), failure('ECONNREFUSED')]))).toBe('database_away');
  expect(troubleOf(new AggregateError([refused('53300'), refused('57014')]))).toBe('database_busy');
  expect([failure('ECONNREFUSED'), new TypeError('no')].map(troubleOf)).toEqual(['database_away', 'database_busy']);
});

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', /^check that database\.tls\.ca/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^check that the host/],
  ['CERT_HAS_EXPIRED', /renewed/],
  ['ERR_OSSL_X509_KEY_VALUES_MISMATCH', /^check that database\.tls\.privateKey/],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /^check database\.tls\.certificate and/],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', /^check database\.tls\.certificate and/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^check which versions/],
  ['ERR_OSSL_UNSUPPORTED', /^check which versions/],
])('what to check for %s', (code, advice) => {
  expect(tlsAdvice(failure(code))).toMatch(advice);
});

test('what to check where the server has no TLS', () => {
  expect(tlsAdvice(new Error('The server does not support SSL connections'))).toMatch(/^switch TLS on/);
});

test('any other error has nothing to do with TLS', () => {
  const others = [failure('ECONNRESET'), failure('toString'), new Error('no'), refused('28P01'), 'no', undefined];
  expect(others.filter((error) => tlsAdvice(error) !== undefined)).toEqual([]);
});

test("OpenSSL's reason is shown without the line of its source, and any other error by its message", () => {
  const message = '0:error:0A000086:SSL routines:tls_process:certificate verify failed:ssl/statem.c:1';
  const error = Object.assign(new Error(message), { library: 'SSL routines', reason: 'certificate verify failed' });
  expect(openSslReason(error)).toBe('TLS: certificate verify failed');
  expect(openSslReason(Object.assign(new Error('no'), { reason: 'of another kind' }))).toBe('no');
});
