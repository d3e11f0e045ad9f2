import { describe, expect, test } from '@jest/globals';
import type { Logger } from '../../../../app/logging/logger.ts';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import {
  type CommittedBatch,
  committedBatch,
  rowsDropped,
  streamLog,
} from '../../../../app/stream/ports/stream-listener.ts';
import type { DeadLetterReason } from '../../../../contract/dead-letter-reasons.ts';
import { aRecord, PARTITION } from '../records.ts';
import { settle } from '../simulation.ts';

const { topic, partition } = PARTITION;

/** A log, and its lines: the level, the fields, the text. */
function aLog(isLoggedElsewhere?: (error: Error) => Promise<boolean>) {
  const lines: unknown[] = [];
  const at =
    (level: string) =>
    (fields: object, text: string): void =>
      void lines.push([level, fields, text]);
  const logger = { debug: at('debug'), warn: at('warn'), error: at('error') } as unknown as Logger;
  return { lines, log: streamLog(logger, isLoggedElsewhere) };
}

/** A transaction of five records. */
const committed = (changes: Partial<CommittedBatch> = {}): CommittedBatch => ({
  ...PARTITION,
  records: 5,
  deadLetters: new Map(),
  rows: new Map([['copy', 5]]),
  written: recordsOf([]),
  fetchedAt: new Date(0),
  committedAt: new Date(1),
  nextOffset: 12n,
  ...changes,
});

describe('a committed transaction', () => {
  const line = ['debug', { topic, partition, nextOffset: '12', records: 5 }, 'committed'];

  test('is a line at debug alone where each record is in a table', () => {
    const { lines, log } = aLog();
    log.onCommitted(committed());
    expect(lines).toEqual([line]);
  });

  test('has a warning with the reasons of its dead letters', () => {
    const { lines, log } = aLog();
    const deadLetters = new Map<DeadLetterReason, number>([['invalid_json', 2]]);
    log.onCommitted(committed({ deadLetters, rows: new Map([['copy', 3]]) }));
    const fields = { topic, partition, nextOffset: '12', reasons: { invalid_json: 2 } };
    expect(lines).toEqual([line, ['warn', fields, 'records became dead letters']]);
  });

  test('has a warning with the number of rows that a trigger dropped', () => {
    const { lines, log } = aLog();
    const dropping = committed({
      deadLetters: new Map<DeadLetterReason, number>([['invalid_json', 1]]),
      rows: new Map([['copy', 2]]),
    });
    log.onCommitted(dropping);
    expect(rowsDropped(dropping)).toBe(2);
    expect(lines.at(-1)).toEqual([
      'warn',
      { topic, partition, nextOffset: '12', records: 5, rows: 2 },
      'a trigger dropped rows: their records are in no table',
    ]);
  });

  test('says what its request and what it did say', () => {
    const records = recordsOf([aRecord(10n), aRecord(11n)]);
    const [deadLetters, rows, times] = [new Map(), new Map(), { fetchedAt: new Date(1), committedAt: new Date(2) }];
    const request = { ...PARTITION, records, nextOffset: 12n, expectedOffset: 10n, topicId: null, leaderEpoch: null };
    const batch = committedBatch(request as never, { deadLetters, rows, tables: undefined } as never, times);
    const said = { ...PARTITION, records: 2, deadLetters, rows, tables: undefined, written: records };
    expect(batch).toEqual({ ...said, ...times, nextOffset: 12n });
  });
});

test.each([
  ['onFenced', 'warn', /^another writer moved the offset: nothing was written/],
  ['onHandover', 'debug', /^the partition is changing owners: nothing was written/],
] as const)('%s is a line at %s', (event, level, text) => {
  const { lines, log } = aLog();
  log[event](PARTITION);
  expect(lines).toEqual([[level, PARTITION, expect.stringMatching(text)]]);
});

describe('a gap', () => {
  const gap = { ...PARTITION, expectedOffset: 3n, nextOffset: 9n } as never;
  const range = { topic, partition, from: '3', nextOffset: '9' };

  test('of deleted offsets is an error with its range', () => {
    const { lines, log } = aLog();
    log.onSkipped(gap);
    expect(lines).toEqual([['error', range, expect.stringMatching(/^offsets were deleted before they were read: /)]]);
  });

  test('of a batch that cannot be read has what is wrong with it', () => {
    const { lines, log } = aLog();
    const broken = { code: 'CORRUPT_BATCH', codec: 'zstd', reason: 'no record', offset: 3n };
    log.onSkipped({ ...(gap as object), broken } as never);
    const fields = { ...range, code: 'CORRUPT_BATCH', codec: 'zstd', reason: 'no record' };
    expect(lines).toEqual([['error', fields, expect.stringMatching(/^offsets are of a batch that cannot be read: /)]]);
  });
});

describe('a failed write', () => {
  const text = 'the write failed and is tried again';
  const failed = async (error: Error, isLoggedElsewhere?: (error: Error) => Promise<boolean>) => {
    const { lines, log } = aLog(isLoggedElsewhere);
    log.onFailed(PARTITION, error);
    await settle();
    return lines;
  };
  const lineAt = (level: string, reason: string) => [[level, { topic, partition, reason }, text]];

  test.each(['database_away', 'registry_away'] as const)(
    'is at debug in an outage that is logged: %s',
    async (reason) => {
      expect(await failed(new OutageError('away', { reason }))).toEqual(lineAt('debug', 'away'));
    },
  );

  test('is a warning for any other reason', async () => {
    expect(await failed(new OutageError('busy', { reason: 'database_busy' }))).toEqual(lineAt('warn', 'busy'));
    const mistake = Object.assign(new Error('wrong'), { reason: 'database_away' });
    expect(await failed(mistake)).toEqual(lineAt('warn', 'wrong'));
  });

  test('is at debug where the cause is logged elsewhere, and a warning where that is not known', async () => {
    const error = new Error('busy');
    expect(await failed(error, async (asked) => asked === error)).toEqual(lineAt('debug', 'busy'));
    expect(await failed(error, () => Promise.reject(new Error('no')))).toEqual(lineAt('warn', 'busy'));
  });
});
