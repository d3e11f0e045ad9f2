import type { ConsumerReport, PartitionReport } from '../stream/consumer-state.ts';
import { explainedText } from './error-text.ts';
import type { Detail, Health, Status } from './health.ts';

/**
 * The component `consumer`: the state of the pipeline.
 *
 * - running: UP; paused: UP, because the component `db` shows the outage
 * - starting, assigning, running with a partition of unknown lag: OUT_OF_SERVICE; but UNKNOWN, which does not count,
 *   while Kafka is down, since a restart brings no broker back
 * - running or paused with a stalled partition, one that has lag and makes no progress: DOWN, unless Kafka is down; the
 *   details list them. While PostgreSQL is down no partition is stalled; one that only refuses writes is not down
 * - a stalled partition that stands before a batch that cannot be read is DOWN only where all partitions do: a restart
 *   mends no batch, and holds up the others. The details list each of them
 * - running or paused without a topic that Kafka has: DOWN, unless Kafka is down. Where only some topics are gone, the
 *   details name them, and the status stays: a restart brings no topic back
 * - draining, stopped: OUT_OF_SERVICE
 * - failed: DOWN
 */
export function consumerHealth(report: ConsumerReport, kafkaIsDown: boolean): Health {
  return { status: statusOf(report, kafkaIsDown), details: detailsOf(report) };
}

function isStalled({ partitions }: ConsumerReport): boolean {
  const readable = partitions.filter(({ unreadable }) => unreadable === undefined);
  return (readable.length > 0 ? readable : partitions).some(({ stalledSince }) => stalledSince);
}

const goneTopics = ({ topics = [] }: ConsumerReport): string[] =>
  topics.flatMap(({ topic, isGone }) => (isGone ? [topic] : []));

const hasNoTopic = ({ topics = [] }: ConsumerReport): boolean =>
  topics.length > 0 && topics.every(({ isGone }) => isGone);

const isBroken = (report: ConsumerReport): boolean => isStalled(report) || hasNoTopic(report);

function statusOf(report: ConsumerReport, kafkaIsDown: boolean): Status {
  const waitsForKafka: Status = kafkaIsDown ? 'UNKNOWN' : 'OUT_OF_SERVICE';
  switch (report.state) {
    case 'failed':
      return 'DOWN';
    case 'draining':
    case 'stopped':
      return 'OUT_OF_SERVICE';
    case 'starting':
    case 'assigning':
      return waitsForKafka;
    case 'running':
      if (!kafkaIsDown && isBroken(report)) {
        return 'DOWN';
      }
      return report.partitions.some(({ lag }) => lag === null) ? waitsForKafka : 'UP';
    case 'paused':
      return !kafkaIsDown && isBroken(report) ? 'DOWN' : 'UP';
  }
}

function detailsOf(report: ConsumerReport): Record<string, Detail> {
  const { state, groupId, partitions, lastProgressAt, lastError } = report;
  const gone = goneTopics(report);
  const lag = totalLag(partitions);
  const stalled = partitions.flatMap(stallOf);
  const unreadable = partitions.flatMap(faultOf);
  return {
    state,
    groupId,
    assignedPartitions: partitionsByTopic(partitions),
    ...(lag === undefined ? {} : { lag }),
    ...(stalled.length === 0 ? {} : { stalled }),
    ...(unreadable.length === 0 ? {} : { unreadable }),
    ...(gone.length === 0 ? {} : { goneTopics: gone }),
    ...(lastProgressAt === null ? {} : { lastProgressAt: lastProgressAt.toISOString() }),
    ...(lastError === null ? {} : { lastError: explainedText(lastError) }),
  };
}

function stallOf({ topic, partition, nextOffset, lag, stalledSince }: PartitionReport): Detail[] {
  return stalledSince
    ? [{ topic, partition, since: stalledSince.toISOString(), nextOffset: String(nextOffset), lag: Number(lag) }]
    : [];
}

function faultOf({ topic, partition, unreadable }: PartitionReport): Detail[] {
  return unreadable === undefined
    ? []
    : [{ topic, partition, offset: String(unreadable.offset), code: unreadable.code, reason: unreadable.reason }];
}

function totalLag(partitions: readonly PartitionReport[]): number | undefined {
  let total = 0n;
  for (const { lag } of partitions) {
    if (lag === null) {
      return undefined;
    }
    total += lag;
  }
  return Number(total);
}

function partitionsByTopic(partitions: readonly PartitionReport[]): Record<string, number[]> {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition]);
  }
  return Object.fromEntries([...byTopic].map(([topic, numbers]) => [topic, numbers.sort((a, b) => a - b)]));
}
