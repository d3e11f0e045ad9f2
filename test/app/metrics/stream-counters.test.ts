import { beforeEach, expect, test } from '@jest/globals';
import type { Sample } from '../../../app/metrics/metric-source.ts';
import { StreamCounters } from '../../../app/metrics/stream-counters.ts';
import type { PartitionReport } from '../../../app/stream/consumer-report.ts';
import { OutageError } from '../../../app/stream/outage-error.ts';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { RUNNING } from '../management/running-management.ts';
import { aCommit } from '../stream/committed-batch.ts';
import { PARTITION } from '../stream/records.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

let partitions: PartitionReport[];
let counters: StreamCounters;

beforeEach(() => {
  partitions = [owned(0)];
  counters = new StreamCounters(
    () => ({ ...RUNNING, partitions }),
    ['orders'],
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

test('every reason for a dead letter is there from the start, and each is counted', () => {
  const reasons = Object.keys(DEAD_LETTER_REASON);
  expect(counters.sources.deadLetters().map(({ labels }) => labels['reason'])).toEqual(reasons);
  commit(0, 20, [
    ['invalid_json', 2],
    ['key_not_text', 1],
  ]);
  commit(0, 20, [['invalid_json', 3]]);
  const counted = valuesBy('reason', counters.sources.deadLetters());
  expect(counted).toEqual({
    ...Object.fromEntries(reasons.map((reason) => [reason, 0])),
    invalid_json: 5,
    key_not_text: 1,
  });
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
