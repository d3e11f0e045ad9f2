import { expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { describeDatabaseError, verdictOn } from '../../../app/store/sqlstate.ts';

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
  ['22P02', 'isolate'],
  ['23503', 'isolate'],
  ['54001', 'isolate'],
  ['28P01', 'stop'],
  ['42P01', 'stop'],
  ['3D000', 'stop'],
  ['44000', 'isolate'],
  ['P0001', 'isolate'],
  ['XX000', 'unknown'],
  ['08P01', 'unknown'],
  ['22P03', 'stop'],
])('SQLSTATE %s: %s', (code, verdict) => {
  expect(verdictOn(databaseError(code))).toBe(verdict);
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
