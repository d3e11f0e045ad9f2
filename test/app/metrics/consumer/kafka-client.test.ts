import { beforeEach, expect, test } from '@jest/globals';
import { FETCH_REQUEST } from '../../../../app/kafka/client/client-listener.ts';
import { KafkaClientMetrics } from '../../../../app/metrics/consumer/kafka-client.ts';
import type { PartitionReport } from '../../../../app/stream/partition/consumer-state.ts';
import { RUNNING } from '../../management/running-management.ts';

const CLIENT = { client_id: 'mine', kafka_version: 'kafkajs 2.2.4' };
const MINUTE = 60_000;

const clock = { now: 0 };
let partitions: PartitionReport[];
let failures: string[];
let client: KafkaClientMetrics;

beforeEach(() => {
  partitions = [{ topic: 'orders', partition: 0, nextOffset: 0n, lag: 7n }];
  failures = [];
  const identity = { clientId: 'mine', version: 'kafkajs 2.2.4', topics: () => ['orders', 'payments'] };
  client = new KafkaClientMetrics(
    identity,
    () => ({ ...RUNNING, partitions }),
    (reason) => {
      failures.push(reason);
    },
    () => clock.now,
  );
});

type Sources = KafkaClientMetrics['sources'];

const value = (family: keyof Sources) => client.sources[family]()[0]?.value;

test('everything is there before anything happened: counters with 0, times that never were with -1', () => {
  const { recordsBeyondStable, ...others } = client.sources;
  expect(recordsBeyondStable()).toEqual([]);
  for (const source of Object.values(others)) {
    expect(source().length).toBeGreaterThan(0);
    for (const sample of source()) expect(Number.isFinite(sample.value)).toBe(true);
  }
  expect([value('clientLastPoll'), value('clientLastHeartbeat'), value('clientLastRebalance')]).toEqual([-1, -1, -1]);
});

test('only requests for records are fetches', () => {
  client.onAnswer({ kind: FETCH_REQUEST, milliseconds: 100, bytes: 1_000 });
  client.onAnswer({ kind: FETCH_REQUEST, milliseconds: 300, bytes: 500 });
  client.onAnswer({ kind: 'Heartbeat', milliseconds: 5, bytes: 10 });
  expect([value('clientRequests'), value('clientIncomingBytes'), value('clientFetches')]).toEqual([3, 1_510, 2]);
  expect([value('clientFetchLatencyAvg'), value('clientFetchLatencyMax')]).toEqual([200, 300]);
  clock.now += 10 * MINUTE;
  expect([value('clientFetchLatencyAvg'), value('clientFetchRate')]).toEqual([200, 0]);
});

test('what was fetched is counted by topic, each of the subscribed ones from 0 on', () => {
  client.onDelivered({ topic: 'payments', records: 3, bytes: 90 });
  client.onDelivered({ topic: 'payments', records: 1, bytes: 10 });
  const labelled = (topic: string, figure: number) => ({ labels: { ...CLIENT, topic }, value: figure });
  expect(client.sources.clientRecordsConsumed()).toEqual([labelled('orders', 0), labelled('payments', 4)]);
  expect(client.sources.clientBytesConsumed()).toEqual([labelled('orders', 0), labelled('payments', 100)]);
});

test('the lag is that of the report, its maximum is remembered for minutes, and both go with the partition', () => {
  const labels = { ...CLIENT, topic: 'orders', partition: '0' };
  expect(client.sources.clientRecordsLagMax()).toEqual([{ labels, value: 7 }]);
  partitions = [{ topic: 'orders', partition: 0, nextOffset: 0n, lag: 2n }];
  clock.now += MINUTE;
  expect(client.sources.clientRecordsLag()).toEqual([{ labels, value: 2 }]);
  expect(client.sources.clientRecordsLagMax()).toEqual([{ labels, value: 7 }]);
  clock.now += 3 * MINUTE;
  expect(client.sources.clientRecordsLagMax()).toEqual([{ labels, value: 2 }]);
  partitions = [];
  expect([...client.sources.clientRecordsLag(), ...client.sources.clientRecordsLagMax()]).toEqual([]);
  expect(value('clientAssigned')).toBe(0);
});

test('what open transactions hide is known by a fetch of the last minute, and of a broker that tells it', () => {
  const sample = (records: number) => [{ labels: { topic: 'orders', partition: '0' }, value: records }];
  const told = (lastStableOffset: bigint) =>
    client.onLogEnds({ topic: 'orders', partition: 0, highWatermark: 12n, lastStableOffset });
  told(5n);
  expect(client.sources.recordsBeyondStable()).toEqual(sample(7));
  clock.now += MINUTE;
  expect(client.sources.recordsBeyondStable()).toEqual(sample(7));
  told(12n);
  expect(client.sources.recordsBeyondStable()).toEqual(sample(0));
  clock.now += MINUTE + 1;
  expect(client.sources.recordsBeyondStable()).toEqual([]);
  told(-1n);
  expect(client.sources.recordsBeyondStable()).toEqual([]);
  told(5n);
  partitions = [];
  expect(client.sources.recordsBeyondStable()).toEqual([]);
});

test('joins, heartbeats and polls are counted, and how long ago the last one was', () => {
  client.onPoll();
  client.onHeartbeat();
  client.onHeartbeat();
  client.onJoined({ milliseconds: 3_000 });
  clock.now += 4_000;
  expect([value('clientLastPoll'), value('clientLastHeartbeat'), value('clientLastRebalance')]).toEqual([4, 4, 4]);
  expect([value('clientHeartbeats'), value('clientRebalances'), value('clientRebalanceLatencyMax')]).toEqual([
    2, 1, 3_000,
  ]);
});

test('a crash counts as a failed rebalance when a join was under way, and as an error unless Kafka is away, which counts itself', () => {
  client.onCrashed({ wasJoining: false, isOutage: false });
  expect([failures, value('clientFailedRebalances')]).toEqual([['kafka_client'], 0]);
  client.onCrashed({ wasJoining: true, isOutage: true });
  expect([failures, value('clientFailedRebalances')]).toEqual([['kafka_client'], 1]);
  client.onAway();
  expect(failures).toEqual(['kafka_client', 'kafka_away']);
});
