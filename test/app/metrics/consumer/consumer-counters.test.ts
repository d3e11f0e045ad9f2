import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConsumerCounters } from '../../../../app/metrics/consumer/consumer-counters.ts';
import type { Sample } from '../../../../app/metrics/exposition/metric-source.ts';
import { packRecords, recordsOf } from '../../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../../app/records/record.ts';
import type { RecordBatch } from '../../../../app/records/record-batch.ts';
import { RecordIndex } from '../../../../app/records/record-index.ts';
import { Records } from '../../../../app/records/records.ts';
import type { PartitionReport } from '../../../../app/stream/partition/consumer-state.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../../contract/dead-letter-reasons.ts';
import { ERROR_REASON } from '../../../../contract/metrics/definition.ts';
import { METRICS } from '../../../../contract/metrics.ts';
import { RUNNING } from '../../management/running-management.ts';
import { aCommit, aRecord, PARTITION } from '../../stream/records.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

let partitions: PartitionReport[];
let counters: ConsumerCounters;

beforeEach(() => {
  partitions = [owned(0)];
  counters = new ConsumerCounters(
    () => ({ ...RUNNING, partitions }),
    () => ['orders'],
    () => NOW,
  );
});

const owned = (partition: number, lag: bigint | null = 0n): PartitionReport => ({
  topic: 'orders',
  partition,
  nextOffset: 0n,
  lag,
});

const commit = (partition: number, records: number, deadLetters: [DeadLetterReason, number][] = []) =>
  counters.onCommitted(aCommit({ partition, records, deadLetters: new Map(deadLetters) }));

const valuesBy = (label: string, samples: readonly Sample[]) =>
  Object.fromEntries(samples.map(({ labels, value }) => [labels[label], value]));

test('consumed records start at 0 with the assignment and add up per partition', () => {
  partitions = [owned(0), owned(1)];
  expect(counters.sources.recordsConsumed()).toEqual([
    { labels: { topic: 'orders', partition: '0' }, value: 0 },
    { labels: { topic: 'orders', partition: '1' }, value: 0 },
  ]);
  commit(0, 20);
  commit(1, 5);
  commit(0, 1);
  expect(valuesBy('partition', counters.sources.recordsConsumed())).toEqual({ 0: 21, 1: 5 });
});

test('the series of a revoked partition disappear, and its count goes on when it comes back', () => {
  commit(0, 20);
  partitions = [];
  expect(counters.sources.recordsConsumed()).toEqual([]);
  expect(counters.sources.recordsLag()).toEqual([]);
  partitions = [owned(0)];
  commit(0, 1);
  expect(valuesBy('partition', counters.sources.recordsConsumed())).toEqual({ 0: 21 });
});

test('the lag is that of the report, and there is none while it is not known', () => {
  partitions = [owned(0, 120_000n), owned(1, null)];
  expect(counters.sources.recordsLag()).toEqual([{ labels: { topic: 'orders', partition: '0' }, value: 120_000 }]);
});

test('partitions that stand before a batch that cannot be read are counted by topic, from 0 on', () => {
  expect(counters.sources.unreadablePartitions()).toEqual([{ labels: { topic: 'orders' }, value: 0 }]);
  const unreadable = { ...PARTITION, offset: 5n, code: 'CORRUPT_BATCH', reason: 'its CRC' } as const;
  partitions = [owned(0), { ...owned(1), unreadable }, { ...owned(1), topic: 'payments', unreadable }];
  expect(counters.sources.unreadablePartitions()).toEqual([{ labels: { topic: 'orders' }, value: 1 }]);
});

test('every topic and reason of a dead letter is there from the start, and the sums by reason are those of all topics', () => {
  const topics = ['orders', 'bills'];
  counters = new ConsumerCounters(
    () => ({ ...RUNNING, partitions }),
    () => topics,
  );
  const reasons = Object.keys(DEAD_LETTER_REASON);
  const none = topics.flatMap((topic) => reasons.map((reason) => ({ labels: { topic, reason }, value: 0 })));
  expect(counters.sources.deadLetters()).toEqual(none);
  const letters = (topic: string, ...deadLetters: [DeadLetterReason, number][]) =>
    counters.onCommitted(aCommit({ topic, records: 20, deadLetters: new Map(deadLetters) }));
  letters('orders', ['invalid_json', 2], ['key_not_text', 1]);
  letters('bills', ['invalid_json', 4]);
  letters('orders', ['invalid_json', 3]);
  const counted = counters.sources.deadLetters().filter(({ value }) => value > 0);
  expect(counted).toEqual([
    { labels: { topic: 'orders', reason: 'invalid_json' }, value: 5 },
    { labels: { topic: 'orders', reason: 'key_not_text' }, value: 1 },
    { labels: { topic: 'bills', reason: 'invalid_json' }, value: 4 },
  ]);
  const ofReason = (reason: string) => counted.filter(({ labels }) => labels['reason'] === reason);
  const sum = (reason: string) => ofReason(reason).reduce((total, { value }) => total + value, 0);
  expect([sum('invalid_json'), sum('key_not_text')]).toEqual([9, 1]);
});

test('transactions are counted by outcome, each from 0', () => {
  expect(valuesBy('outcome', counters.sources.transactions())).toEqual({ committed: 0, fenced: 0, failed: 0 });
  commit(0, 1);
  commit(0, 1);
  counters.onFenced();
  counters.onFailed(PARTITION, new OutageError('away', { reason: 'database_away' }));
  counters.onFailed(PARTITION, new OutageError('away', { reason: 'database_away' }));
  counters.onFailed(PARTITION, new OutageError('away', { reason: 'database_away' }));
  expect(valuesBy('outcome', counters.sources.transactions())).toEqual({ committed: 2, fenced: 1, failed: 3 });
});

test('errors are counted by what they are about, and what is no outage as unknown', () => {
  counters.onFailed(PARTITION, new OutageError('away', { reason: 'database_away' }));
  counters.onFailed(PARTITION, new OutageError('nobody knows'));
  counters.onFailed(PARTITION, new TypeError('a mistake'));
  counters.onFenced();
  counters.clientFailed('kafka_client');
  expect(valuesBy('reason', counters.sources.errors())).toEqual({
    ...Object.fromEntries(Object.keys(ERROR_REASON).map((reason) => [reason, 0])),
    database_away: 1,
    database_unknown: 2,
    fenced: 1,
    kafka_client: 1,
  });
});

test('retries are counted, and time is added up while PostgreSQL is away', () => {
  expect(counters.sources.retries()).toMatchObject([{ value: 0 }]);
  counters.onRetry();
  counters.onRetry();
  expect(counters.sources.retries()).toMatchObject([{ value: 2 }]);
  expect(counters.sources.pausedSeconds()).toMatchObject([{ value: 0 }]);
  counters.onPaused(true);
  counters.onPaused(true);
  counters.onPaused(false);
  const [paused] = counters.sources.pausedSeconds();
  expect(paused?.value).toBeGreaterThan(0);
  expect(counters.sources.pausedSeconds()).toEqual([paused]);
});

test('the lag in seconds is the age of the oldest record that waits, 0 without lag, and not there while that is unknown', () => {
  partitions = [
    { ...owned(0, 5n), behindSince: new Date(NOW - 90_000) },
    { ...owned(1, 5n), behindSince: new Date(NOW + 1_000) },
    { ...owned(2, 0n), behindSince: null },
    owned(3, null),
    { ...owned(4, null), behindSince: new Date(NOW - 70_000) },
  ];
  expect(valuesBy('partition', counters.sources.lagSeconds())).toEqual({ 0: 90, 1: 0, 2: 0, 4: 70 });
});

test("the age of the log's end is that of a topic's oldest, and before the group was joined the time that Kafka was asked in vain", () => {
  partitions = [
    { ...owned(0), logEndAgeMs: 1_500 },
    { ...owned(1), logEndAgeMs: 90_000 },
    { ...owned(2), topic: 'refunds', logEndAgeMs: 0 },
  ];
  expect(valuesBy('topic', counters.sources.logEndAge())).toEqual({ orders: 90, refunds: 0 });
  const unjoined = new ConsumerCounters(
    () => ({ ...RUNNING, partitions: [], unjoined: new Map([['orders', 3_000]]) }),
    () => ['orders', 'refunds'],
  );
  expect(valuesBy('topic', unjoined.sources.logEndAge())).toEqual({ orders: 3 });
});

test('rows are counted by topic and way of writing, without dead letters', () => {
  counters.onCommitted(aCommit({ records: 10, deadLetters: new Map([['invalid_json', 2]]) }));
  counters.onCommitted(aCommit({ records: 5, topic: 'not subscribed' }));
  const labels = { topic: 'orders', method: 'copy' };
  expect(counters.sources.rowsWritten()).toEqual([{ labels, value: 8 }]);
  expect(counters.sources.rowsDropped()).toEqual([{ labels: { topic: 'orders' }, value: 0 }]);
});

test('rows that a trigger dropped are counted by topic, and dead letters are none of them', () => {
  const deadLetters = new Map([['invalid_json' as const, 2]]);
  counters.onCommitted(aCommit({ records: 10, deadLetters, rows: new Map([['copy', 5]]) }));
  expect(counters.sources.rowsDropped()).toEqual([{ labels: { topic: 'orders' }, value: 3 }]);
});

test('times are measured from the fetch for each transaction, and from its timestamp for each record that has one', () => {
  const timestamps = [NOW - 20_000, NOW - 400, NOW + 5_000].map((ms) => BigInt(ms));
  counters.onCommitted(
    aCommit({
      records: 4,
      written: recordsOf([...timestamps, -1n].map((timestamp, nth) => aRecord(BigInt(nth), { timestamp }))),
      fetchedAt: new Date(NOW - 30),
      committedAt: new Date(NOW),
    }),
  );
  const upTo = (family: 'processing' | 'endToEnd', bound: number) => {
    const index = METRICS[family].buckets.filter((each) => each < bound).length;
    return counters.sources[family]()[0]?.buckets?.[index];
  };
  expect(counters.sources.processing()).toMatchObject([{ labels: { topic: 'orders' }, count: 1, value: 0.03 }]);
  expect([upTo('processing', 0.025), upTo('processing', 0.05), upTo('processing', 60)]).toEqual([0, 1, 1]);
  expect(counters.sources.endToEnd()).toMatchObject([{ count: 3, value: 20.4 }]);
  expect([upTo('endToEnd', 0.25), upTo('endToEnd', 0.5), upTo('endToEnd', 10), upTo('endToEnd', 30)]).toEqual([
    1, 2, 2, 3,
  ]);
});

describe('the ages of records', () => {
  /** Of all records by objects, one after the other. */
  function expected(records: readonly StreamRecord[]) {
    const ages = records.flatMap(({ timestamp }) =>
      timestamp < 0n ? [] : Math.max(0, NOW - Number(timestamp)) / 1_000,
    );
    return {
      count: ages.length,
      sum: ages.reduce((sum, age) => sum + age, 0),
      buckets: METRICS.endToEnd.buckets.map((bound) => ages.filter((age) => age <= bound).length),
    };
  }

  function observed(written: Records) {
    const own = new ConsumerCounters(
      () => ({ ...RUNNING, partitions }),
      () => ['orders'],
    );
    own.onCommitted(aCommit({ records: written.length, written, committedAt: new Date(NOW) }));
    const [{ value, count, buckets } = { value: 0, count: 0, buckets: [] }] = own.sources.endToEnd();
    return { count, sum: value, buckets };
  }

  /** The same bytes as a topic has them whose records get the broker's time. */
  const withAppendTime = ({ bytes, base, length }: RecordBatch, appendTime: bigint | null): RecordBatch => {
    const batch = new RecordIndex(bytes, length, { ...base, appendTime }).readOn();
    if (batch === null) {
      throw new Error('these are few records');
    }
    return batch;
  };

  const near = fc.integer({ min: NOW - 400, max: NOW }).map(BigInt);
  const any = fc.oneof(
    near,
    fc.integer({ min: NOW - 100_000, max: NOW + 5_000 }).map(BigInt),
    fc.constantFrom(-1n, 0n),
  );
  const batch = fc
    .oneof(fc.array(near, { minLength: 1, maxLength: 5 }), fc.array(any, { minLength: 1, maxLength: 5 }))
    .chain((timestamps) => fc.tuple(fc.constant(timestamps), fc.option(any, { nil: null })));

  test('are those of each record, whatever batches they came in', () => {
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 4 }), fc.nat(4), fc.nat(4), (batches, from, behind) => {
        let offset = 0n;
        const all = batches.map(([timestamps, appendTime]) =>
          withAppendTime(packRecords(timestamps.map((timestamp) => aRecord(offset++, { timestamp }))), appendTime),
        );
        const whole = Records.of(...all);
        const written = whole.slice(Math.min(from, whole.length), Math.max(from, whole.length - behind));
        const { sum, ...counts } = observed(written);
        const { sum: expectedSum, ...expectedCounts } = expected([...written]);
        expect(counts).toEqual(expectedCounts);
        expect(sum).toBeCloseTo(expectedSum, 3);
      }),
    );
  });

  test('are exact where no number holds what is between two timestamps', () => {
    const timestamps = [2n ** 61n, BigInt(NOW - 400), -(2n ** 61n)];
    const records = timestamps.map((timestamp, nth) => aRecord(BigInt(nth), { timestamp }));
    expect(observed(recordsOf(records))).toEqual(expected(records));
  });
});

test('a transaction that only moves the offset is no batch', () => {
  counters.onCommitted(aCommit({ records: 0 }));
  counters.onCommitted(aCommit({ records: 70_000 }));
  const [batches] = counters.sources.batchRecords();
  expect(batches).toMatchObject({ count: 1, value: 70_000 });
  expect(batches?.buckets?.at(-1)).toBe(0);
});
