import { describe, expect, test } from '@jest/globals';
import { DeadLetterLimit } from '../../../app/stream/dead-letter.ts';
import type { WriteRequest } from '../../../app/stream/record-sink.ts';
import { FatalError } from '../../../app/stream/stream-errors.ts';
import { aRecord, PARTITION } from './records.ts';

const aRequest = (records: number): WriteRequest => ({
  ...PARTITION,
  expectedOffset: 7n,
  nextOffset: 7n + BigInt(records),
  records: Array.from({ length: records }, (_, index) => aRecord(7n + BigInt(index))),
});

const invalid = (count: number) => new Map(count > 0 ? [['invalid_json' as const, count]] : []);

const commit = (limit: DeadLetterLimit, records: number, deadLetters: number): void =>
  limit.committed(aRequest(records), invalid(deadLetters));

function isStopped(limit: DeadLetterLimit, records: number, deadLetters: number): boolean {
  try {
    limit.check(aRequest(records), invalid(deadLetters));
    return false;
  } catch (error) {
    return error instanceof FatalError && error.code === 'TOO_MANY_DEAD_LETTERS';
  }
}

describe('a share of dead letters', () => {
  test('that the limit names is accepted, and one letter more is not', () => {
    const limit = new DeadLetterLimit(0.1);
    expect(isStopped(limit, 1_000, 100)).toBe(false);
    expect(isStopped(limit, 1_000, 101)).toBe(true);
  });

  test('counts the transaction in hand together with those before it', () => {
    const limit = new DeadLetterLimit(0.1);
    commit(limit, 500, 50);
    expect(isStopped(limit, 500, 50)).toBe(false);
    expect(isStopped(limit, 500, 51)).toBe(true);
  });

  test('is not diluted by records that are longer ago than the last thousand', () => {
    const limit = new DeadLetterLimit(0.1);
    for (let transaction = 0; transaction < 100; transaction += 1) {
      commit(limit, 100, 0);
    }
    expect(isStopped(limit, 100, 100)).toBe(false);
    commit(limit, 100, 100);
    expect(isStopped(limit, 100, 1)).toBe(true);
  });

  test('forgets dead letters that are longer ago than that', () => {
    const limit = new DeadLetterLimit(0.1);
    commit(limit, 1_000, 100);
    commit(limit, 999, 0);
    expect(isStopped(limit, 1, 1)).toBe(false);
  });

  test('is taken of the whole transaction where that alone is longer than the window', () => {
    const limit = new DeadLetterLimit(0.1);
    commit(limit, 1_000, 100);
    expect(isStopped(limit, 5_000, 500)).toBe(false);
    expect(isStopped(limit, 5_000, 501)).toBe(true);
  });

  test('among fewer than a hundred records is taken as if there were a hundred', () => {
    const limit = new DeadLetterLimit(0.1);
    expect(isStopped(limit, 10, 10)).toBe(false);
    expect(isStopped(limit, 11, 11)).toBe(true);
  });
});

test('a limit of 0 accepts no dead letter at all', () => {
  const limit = new DeadLetterLimit(0);
  expect(isStopped(limit, 5_000, 0)).toBe(false);
  expect(isStopped(limit, 5_000, 1)).toBe(true);
});

test('without a limit everything may be a dead letter', () => {
  const limit = new DeadLetterLimit();
  commit(limit, 5_000, 5_000);
  expect(isStopped(limit, 5_000, 5_000)).toBe(false);
});

test('a transaction that did not commit does not count', () => {
  const limit = new DeadLetterLimit(0.1);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    expect(isStopped(limit, 1_000, 100)).toBe(false);
  }
});

test('transactions without records change nothing', () => {
  const limit = new DeadLetterLimit(0.1);
  commit(limit, 100, 10);
  commit(limit, 0, 0);
  expect(isStopped(limit, 1, 1)).toBe(true);
});

test('the error names place, share, limit and reasons, and says what to do', () => {
  const limit = new DeadLetterLimit(0.075);
  expect(() =>
    limit.check(
      aRequest(200),
      new Map([
        ['invalid_json', 20],
        ['key_not_text', 3],
      ]),
    ),
  ).toThrow(
    /^23 of the last 200 records .* \(7\.5 % .*orders\/0 from offset 7, which has 20 invalid_json, 3 key_not_text\. .*raise deadLetters\.maxRatio/,
  );
});
