import { expect, test } from '@jest/globals';
import { FatalError, OutageError, outageOnly } from '../../../../app/stream/ports/stream-errors.ts';

test('of an outage without more about it no attempt is the last one, and none waits for longer', () => {
  const cause = new Error('reset');
  expect(new OutageError('away', { cause })).toMatchObject({
    ...{ message: 'away', attempts: Number.POSITIVE_INFINITY, reason: 'database_unknown', isLockWait: false },
    ...{ retryAfterMs: 0, table: undefined, isBrief: false, cause },
  });
});

test('an outage is a value, and any other error stays one', () => {
  const [outage, mistake] = [new OutageError('away'), new TypeError('a mistake')];
  expect(outageOnly(outage)).toBe(outage);
  expect(() => outageOnly(mistake)).toThrow(mistake);
});

test('a fatal error is wanted by the settings, and about the topic in hand, unless it has another one or none', () => {
  const error = (options?: { topic: string | null }) => new FatalError('TABLE_REFUSES_ROWS', 'no', options);
  expect(error()).toMatchObject({ isIgnored: false, topic: undefined, isOfTopic: true });
  expect([error({ topic: 'orders' }).isOfTopic, error({ topic: null }).isOfTopic]).toEqual([true, false]);
  expect(new FatalError('UNEXPECTED', 'no').isOfTopic).toBe(false);
});

test.each([
  ['Mend the table, then start again', 'Mend the table'],
  ['Mend the table. Then start again', 'Mend the table'],
  ['Mend the table and start again, or leave it', 'Mend the table, or leave it'],
  ['Start again with more memory', 'Start again with more memory'],
])('the advice to start again is left out where nothing has ended: %s', (message, without) => {
  expect(new FatalError('TABLE_REFUSES_ROWS', message).messageWithoutStart).toBe(without);
});

test.each([
  [new TypeError('a mistake'), 'TypeError: a mistake'],
  ['thrown', 'thrown'],
])('what is no fatal error becomes an unexpected one, with its cause', (cause, message) => {
  expect(FatalError.from(cause)).toMatchObject({ code: 'UNEXPECTED', message, cause });
});

test('a fatal error stays the same one', () => {
  const error = new FatalError('TABLE_REFUSES_ROWS', 'no');
  expect(FatalError.from(error)).toBe(error);
});
