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
])('SQLSTATE %s: %s', (code, verdict) => {
  expect(verdictOn(databaseError(code))).toBe(verdict);
});

test("an error without a SQLSTATE is the network's", () => {
  expect(verdictOn(new Error('read ECONNRESET'))).toBe('retry');
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
