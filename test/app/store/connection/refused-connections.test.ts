import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { asStreamError, ofTable, RefusedConnections } from '../../../../app/store/connection/refused-connections.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';

const REFUSAL = new FatalError('DATABASE_REFUSED', 'PostgreSQL refused');

const OLD = { password: 'old' };

test('a server is not asked between two attempts, until settings that have changed are worth one', () => {
  const refusals = new RefusedConnections(() => [1_000, 60_000]);
  refusals.requireTurn(0, OLD);
  expect(refusals.refused(REFUSAL, 0, 10)).toBeInstanceOf(OutageError);
  expect(() => refusals.requireTurn(1_009, { ...OLD })).toThrow('attempt 1 of 3');
  refusals.requireTurn(1_010, OLD);
  expect(refusals.refused(REFUSAL, 1_010, 1_020)).toBeInstanceOf(OutageError);
  expect(() => refusals.requireTurn(2_000, OLD)).toThrow('attempt 2 of 3');
  refusals.requireTurn(2_000, { password: 'new' });
  expect(refusals.refused(REFUSAL, 2_000, 2_010)).toBe(REFUSAL);
});

test('those that were begun together count once, and a connection that came about ends the row', () => {
  const refusals = new RefusedConnections(() => [1_000]);
  for (const beganAt of [0, 1, 2]) {
    refusals.requireTurn(beganAt, OLD);
  }
  for (const beganAt of [0, 1, 2]) {
    expect(refusals.refused(REFUSAL, beganAt, 10)).toBeInstanceOf(OutageError);
  }
  refusals.ended();
  refusals.requireTurn(20, OLD);
  expect(refusals.refused(REFUSAL, 20, 30)).toBeInstanceOf(OutageError);
});

test('the time that a refusal may take is that of the moment: longer once a login has succeeded', () => {
  let pauses: readonly number[] = [];
  const refusals = new RefusedConnections(() => pauses);
  expect(refusals.refused(REFUSAL, 0, 1)).toBe(REFUSAL);
  pauses = [1_000];
  refusals.ended();
  expect(refusals.refused(REFUSAL, 2, 3)).toBeInstanceOf(OutageError);
});

function databaseError(code: string): DatabaseError {
  const error = new DatabaseError('no', 0, 'error');
  error.code = code;
  return error;
}

describe('an error of pg', () => {
  test.each([
    ['53300', undefined, { reason: 'database_busy', isLockWait: false, table: undefined }, 'PostgreSQL cannot do it'],
    ['57P01', undefined, { reason: 'database_away', isLockWait: false, table: undefined }, 'PostgreSQL cannot do it'],
    ['55P03', undefined, { reason: 'database_busy', isLockWait: true, table: undefined }, 'PostgreSQL cannot do it'],
    ['55P03', 't', { reason: 'database_busy', isLockWait: true, table: 't' }, 'the table t takes no rows for now'],
    ['57P01', 't', { reason: 'database_busy', isLockWait: false, table: 't' }, 'the table t takes no rows for now'],
  ] as const)('%s that passes, of the table %s, is an outage for as long as it lasts', (code, table, facts, words) => {
    const cause = databaseError(code);
    const error = asStreamError(cause, table === undefined ? {} : { table });
    expect(error).toMatchObject({ name: 'OutageError', attempts: Number.POSITIVE_INFINITY, cause, ...facts });
    expect(error.message).toMatch(new RegExp(`^${words}.*: SQLSTATE ${code}: no$`));
  });

  test.each([
    [undefined, 'PostgreSQL failed: SQLSTATE XX000: no'],
    ['t', 'the table t took no rows: SQLSTATE XX000: no'],
  ])('of a kind that is not known, of the table %s, is an outage for some attempts', (table, message) => {
    const error = asStreamError(databaseError('XX000'), table === undefined ? {} : { table });
    expect(error).toMatchObject({ name: 'OutageError', message, table });
    expect(Number.isFinite((error as OutageError).attempts)).toBe(true);
  });

  test('that somebody has to mend names where the credentials come from', () => {
    const cause = databaseError('28P01');
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
    expect(ofTable(databaseError(code), 't')).toMatchObject({ ...facts, cause: { code } });
  });

  test.each([
    ['the fault of a row', databaseError('22P02')],
    ['the end of the session', databaseError('57P01')],
    ['a connection that is lost', Object.assign(new Error('lost'), { code: 'ECONNRESET' })],
  ])('%s is returned as it is', (_, error) => {
    expect(ofTable(error, 't')).toBe(error);
  });
});

describe('the advice on a refused connection', () => {
  const pooler = Object.assign(new DatabaseError('unsupported startup parameter: lock_timeout', 0, 'error'), {
    code: '08P01',
  });

  test('of a pooler names the parameter that it does not take', () => {
    expect(asStreamError(pooler).message).toContain('leave "lock_timeout" out of database.url');
  });

  test('of several hosts is that of each, once', () => {
    const { message } = asStreamError(
      new AggregateError([databaseError('28P01'), databaseError('28P01'), pooler], 'one: no; two: no; three: no'),
    );
    expect(message.split('check user, password and client certificate').length).toBe(2);
    expect(message).toContain("the lines of the server's pg_hba.conf; a connection pooler is in the way");
  });
});
