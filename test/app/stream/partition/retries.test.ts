import { expect, test } from '@jest/globals';
import { backoffMs, Retries } from '../../../../app/stream/partition/retries.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';

test.each([
  [1, 50, 100],
  [2, 100, 200],
  [4, 400, 800],
  [7, 2_500, 5_000],
  [1_000, 2_500, 5_000],
])('attempt %i waits between %i and %i ms', (attempt, least, most) => {
  expect(backoffMs(attempt, () => 0)).toBe(least);
  expect(backoffMs(attempt, () => 1)).toBe(most);
});

const known = () => new OutageError('PostgreSQL is away');
const unknown = () => new OutageError('what is this', { attempts: 3 });
const never = new AbortController().signal;

/** Attempts that fail with these errors, one after the other, and then answer. */
function attempts(...errors: readonly Error[]) {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error) {
      throw error;
    }
    return 'answer';
  };
}

/** A clock that ends each wait at once, and the lengths of the waits. */
function countingClock() {
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
  };
  return { now: () => new Date(0), steady: () => new Date(0), wait, waits };
}

test('the first attempt waits for nothing, each one after a failure longer, and a success in between not at all', async () => {
  const clock = countingClock();
  const retries = new Retries(clock);
  const told: string[] = [];
  const listener = { onOutage: ({ message }: OutageError) => told.push(message), onRetry: () => told.push('retry') };
  expect(await retries.until(attempts(known(), known()), never, listener)).toBe('answer');
  expect(told).toEqual(['PostgreSQL is away', 'retry', 'PostgreSQL is away', 'retry']);
  await retries.until(attempts(), never);
  retries.succeeded();
  await retries.until(attempts(), never);
  const [first = 0, second = 0, third = 0, ...more] = clock.waits;
  expect([first <= 100, second > 99 && second <= 200, third > 99 && third <= 200, more]).toEqual([
    true,
    true,
    true,
    [],
  ]);
});

test('unknown outages are the end when there are too many in a row; a known one and a success end the row', async () => {
  const retries = new Retries(countingClock());
  await retries.until(attempts(unknown(), unknown(), known(), unknown(), unknown()), never);
  retries.succeeded();
  await retries.until(attempts(unknown(), unknown()), never);
  retries.failed();
  const last = unknown();
  const message = 'what is this; it failed 3 times in a row';
  expect(() => retries.failed(last)).toThrow(
    expect.objectContaining({ code: 'DATABASE_REFUSED', message, cause: last }),
  );
});

test('unknown outages of one table are the end for its topic alone', () => {
  const retries = new Retries(countingClock());
  const ofTable = new OutageError('the table t took no rows', { attempts: 2, table: 't' });
  retries.failed(ofTable);
  const message = expect.stringMatching(/^the table t took no rows; it failed 2 times in a row\. Mend the table/);
  const ending = expect.objectContaining({ code: 'TABLE_REFUSES_ROWS', isOfTopic: true, message, cause: ofTable });
  expect(() => retries.failed(ofTable)).toThrow(ending);
});

test('what is no outage ends the attempts', async () => {
  const mistake = new TypeError('a mistake');
  await expect(new Retries(countingClock()).until(attempts(mistake), never)).rejects.toBe(mistake);
});

test('an end that comes while an attempt waits makes no further one; the answer of one under way is given', async () => {
  const ending = new AbortController();
  const clock = { ...countingClock(), wait: async () => ending.abort() };
  const told: string[] = [];
  const listener = { onRetry: () => told.push('retry') };
  expect(await new Retries(clock).until(attempts(known()), ending.signal, listener)).toBeUndefined();
  expect(told).toEqual([]);
  const late = new AbortController();
  const answering = new Retries(clock).until(async () => {
    late.abort();
    return 'answer';
  }, late.signal);
  expect(await answering).toBe('answer');
});
