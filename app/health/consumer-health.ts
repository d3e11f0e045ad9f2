import { explainedText } from '../logging/error-text.ts';
import { type ConsumerReport, oldestSchemaWait, type PartitionReport } from '../stream/partition/consumer-state.ts';
import { type Detail, type Health, type HealthComponent, type Status, stateComponent } from './health.ts';

/** What the checks of Kafka and PostgreSQL say. */
export interface PartsHealth {
  readonly kafkaIsDown: boolean;
  /** Whether both have been UP for longer than `consumer.stallTimeout`: only then is a stall no outage. */
  readonly areReachable: boolean;
}

/**
 * The component `schemaRegistry`, known from use alone: UP, or DOWN while a partition waits for a schema that could not
 * be fetched; the details say why, for how long, and which partitions wait.
 */
export function schemaRegistryComponent(
  report: () => ConsumerReport,
  urls: readonly string[],
  now: () => number = Date.now,
): HealthComponent {
  return stateComponent('schemaRegistry', () => {
    const waiting = report().partitions.filter(waitsForRegistry);
    const since = oldestSchemaWait(waiting);
    if (since === null) {
      return { status: 'UP', details: { url: urls } };
    }
    const { schemasAwaited } = waiting.find((partition) => partition.schemasAwaited?.since === since) ?? {};
    const seconds = Math.max(0, Math.round((now() - since.getTime()) / 1_000));
    const error = explainedText(schemasAwaited?.reason ?? '');
    return { status: 'DOWN', details: { url: urls, error, seconds, partitions: partitionsByTopic(waiting) } };
  });
}

/** Whether the last attempt to fetch the schemas of the partition's next batch failed. */
const waitsForRegistry = ({ schemasAwaited }: PartitionReport): boolean => (schemasAwaited?.reason ?? null) !== null;

/** A log's end that is older says nothing of the lag now; health has no age beside its number, the metric has one. */
const LAG_KNOWN_MS = 15_000;

/**
 * The component `consumer`: the state of the pipeline.
 *
 * - running: UP; paused: UP, because the component `db` shows the outage
 * - starting, assigning, or a partition whose stored offset or log end was not read yet, or whose log ends below the
 *   stored offset: OUT_OF_SERVICE; but UNKNOWN, which does not count, while Kafka is down, since a restart brings no
 *   broker back
 * - running or paused, while Kafka and PostgreSQL have both been reachable for longer than `consumer.stallTimeout`,
 *   with a partition that was neither written nor seen at its end for as long: DOWN; the details say which and since
 *   when. The reason does not matter: a refused write, a lock on `offsets`, no free connection, no answer about the log
 * - assigning, running or paused, while both have been reachable for as long, without a sign of the group's coordinator
 *   for as long: DOWN; the details say since when
 * - a stalled partition whose next batch cannot be read is DOWN only where all partitions do: a restart
 *   mends no batch, and holds up the others. The details list each of them
 * - a stalled partition that waits for the schema registry changes nothing: the component `schemaRegistry` shows it
 * - a partition that no broker leads changes nothing: a restart brings no leader, and holds up the others. The details
 *   list it; assigning is UP where a Pod owns no other, since without any leader no offset can be read
 * - a topic that waits alone changes nothing: a restart mends no table, and holds up the others. The details say why it
 *   waits. Running or paused, when all topics of the process wait that Kafka has: DOWN
 * - running or paused without a topic that Kafka has: DOWN, unless Kafka is down. Where only some topics are gone, the
 *   details name them, and the status stays: a restart brings no topic back. Neither their partitions, which the group
 *   may own until its next assignment, nor the lag of these count
 * - draining, stopped: OUT_OF_SERVICE
 * - failed: DOWN
 */
export function consumerHealth(report: ConsumerReport, parts: PartsHealth): Health {
  return { status: statusOf({ ...report, partitions: ofExistingTopics(report) }, parts), details: detailsOf(report) };
}

/** A part that is checked, such as `RefreshedHealth`. */
export interface CheckedPart {
  current(): Health | undefined;
  /** For how long, in milliseconds, every check has been UP; 0 where that is not known. */
  readonly upForMs: number;
}

/** The component, of the report and of what the checks say at the time of each answer. */
export function consumerComponent(
  report: () => ConsumerReport,
  { kafka, database, stallTimeoutMs }: { kafka: CheckedPart; database: CheckedPart; stallTimeoutMs: number },
): HealthComponent {
  return stateComponent('consumer', () =>
    consumerHealth(report(), {
      kafkaIsDown: kafka.current()?.status === 'DOWN',
      areReachable: Math.min(kafka.upForMs, database.upForMs) > stallTimeoutMs,
    }),
  );
}

function isStalled({ partitions }: ConsumerReport): boolean {
  const readable = partitions.filter(({ unreadable }) => unreadable === undefined);
  const awaited = readable.length > 0 ? readable : partitions;
  return awaited.some((partition) => partition.stalledSince && !waitsForRegistry(partition));
}

const isLeaderless = ({ leaderlessSince }: PartitionReport): boolean => leaderlessSince !== undefined;

const isAllLeaderless = ({ partitions }: ConsumerReport): boolean =>
  partitions.length > 0 && partitions.every(isLeaderless);

const goneTopics = ({ topics = [] }: ConsumerReport): string[] =>
  topics.flatMap(({ topic, isGone }) => (isGone ? [topic] : []));

/** The partitions of topics that are not gone. */
function ofExistingTopics(report: ConsumerReport): readonly PartitionReport[] {
  const gone = new Set(goneTopics(report));
  return report.partitions.filter(({ topic }) => !gone.has(topic));
}

const hasNoTopic = ({ topics = [] }: ConsumerReport): boolean =>
  topics.length > 0 && topics.every(({ isGone }) => isGone);

/** Topics that the settings name count, whoever owns them, and of those of templates the ones that were used here. */
function areAllWaiting({ topics = [], partitions, waiting = [] }: ConsumerReport): boolean {
  const there = topics.flatMap(({ topic, isGone }) => (isGone ? [] : [topic]));
  const wanted = new Set([...there, ...partitions.map(({ topic }) => topic)]);
  for (const { topic, isIgnored } of waiting) {
    if (isIgnored) {
      wanted.delete(topic);
    }
  }
  // Of a topic that Kafka forbids nobody knows whether it would be this process's.
  const waits = waiting.filter(({ topic, isIgnored }) => !isIgnored && wanted.has(topic));
  return waits.length > 0 && waits.length === wanted.size;
}

const readsNothing = (report: ConsumerReport, kafkaIsDown: boolean): boolean =>
  areAllWaiting(report) || (!kafkaIsDown && hasNoTopic(report));

const isOutOfGroup = ({ outOfGroupSince }: ConsumerReport): boolean => outOfGroupSince !== undefined;

function statusOf(report: ConsumerReport, { kafkaIsDown, areReachable }: PartsHealth): Status {
  const waitsForKafka: Status = kafkaIsDown ? 'UNKNOWN' : 'OUT_OF_SERVICE';
  switch (report.state) {
    case 'failed':
      return 'DOWN';
    case 'draining':
    case 'stopped':
      return 'OUT_OF_SERVICE';
    case 'starting':
      return waitsForKafka;
    case 'assigning':
      if (areReachable && isOutOfGroup(report)) {
        return 'DOWN';
      }
      return isAllLeaderless(report) ? 'UP' : waitsForKafka;
    case 'running':
    case 'paused':
      if ((areReachable && (isOutOfGroup(report) || isStalled(report))) || readsNothing(report, kafkaIsDown)) {
        return 'DOWN';
      }
      return report.partitions.some(({ awaits }) => awaits) ? waitsForKafka : 'UP';
  }
}

function detailsOf(report: ConsumerReport): Record<string, Detail> {
  const gone = goneTopics(report);
  const { state, groupId, partitions, outOfGroupSince, lastProgressAt, lastError, lastErrorAt } = report;
  const existing = ofExistingTopics(report);
  const awaiting = existing.flatMap(({ topic, partition, awaits }) => (awaits ? [{ topic, partition, awaits }] : []));
  const stalled = existing.flatMap(stallOf);
  const unreadable = partitions.flatMap(unreadableDetails);
  const leaderless = partitions.flatMap(({ topic, partition, leaderlessSince: since }) =>
    since ? [{ topic, partition, since: since.toISOString() }] : [],
  );
  const waiting = (report.waiting ?? []).map(({ topic, code, message, since, isIgnored, keptUntil }) => {
    const kept = keptUntil && { keptUntil: keptUntil.toISOString() };
    const reason = { topic, code, since: since.toISOString(), error: explainedText(message), ...kept };
    return isIgnored ? { ...reason, isIgnored } : reason;
  });
  return {
    state,
    groupId,
    ...(outOfGroupSince && { outOfGroupSince: outOfGroupSince.toISOString() }),
    assignedPartitions: partitionsByTopic(partitions),
    lag: totalLag({ ...report, partitions: existing }),
    ...(awaiting.length === 0 ? {} : { awaiting }),
    ...(stalled.length === 0 ? {} : { stalled }),
    ...(unreadable.length === 0 ? {} : { unreadable }),
    ...(leaderless.length === 0 ? {} : { leaderless }),
    ...(gone.length === 0 ? {} : { goneTopics: gone }),
    ...(waiting.length === 0 ? {} : { waitingTopics: waiting }),
    ...(lastProgressAt === null ? {} : { lastProgressAt: lastProgressAt.toISOString() }),
    ...(lastError === null ? {} : { lastError: explainedText(lastError) }),
    ...(lastErrorAt && { lastErrorAt: lastErrorAt.toISOString() }),
  };
}

const knownLag = ({ lag, logEndAgeMs = 0 }: PartitionReport): bigint | null =>
  logEndAgeMs > LAG_KNOWN_MS ? null : lag;

function stallOf(report: PartitionReport): Detail[] {
  const { topic, partition, nextOffset, stalledSince } = report;
  const lag = knownLag(report);
  const since = stalledSince?.toISOString();
  return since
    ? [{ topic, partition, since, nextOffset: String(nextOffset), lag: lag === null ? null : Number(lag) }]
    : [];
}

function unreadableDetails({ topic, partition, unreadable }: PartitionReport): Detail[] {
  if (unreadable === undefined) {
    return [];
  }
  const { offset, code, codec, reason } = unreadable;
  return [{ topic, partition, offset: String(offset), code, ...(codec ? { codec } : {}), reason }];
}

/**
 * Of all partitions that have a leader, and whose topics do not wait. `null` where that of one is not known, or where
 * there is no such partition. It is `null`, too, where none can be known: the group was never joined, or has taken all
 * partitions and not given any yet.
 */
function totalLag({ state, partitions, unjoined, waiting = [] }: ConsumerReport): number | null {
  const waits = new Set(waiting.map(({ topic }) => topic));
  const led = partitions.filter((partition) => !isLeaderless(partition) && !waits.has(partition.topic));
  let total = 0n;
  for (const lag of led.map(knownLag)) {
    if (lag === null) {
      return null;
    }
    total += lag;
  }
  const isWithout = partitions.length === 0 && state !== 'assigning';
  const isKnown = unjoined === undefined && (led.length > 0 || isWithout);
  return isKnown ? Number(total) : null;
}

function partitionsByTopic(partitions: readonly PartitionReport[]): Record<string, number[]> {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    const others = byTopic.get(topic);
    others === undefined ? byTopic.set(topic, [partition]) : others.push(partition);
  }
  return Object.fromEntries([...byTopic].map(([topic, numbers]) => [topic, numbers.sort((a, b) => a - b)]));
}
