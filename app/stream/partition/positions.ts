import { partitionKey, type TopicPartition } from '../../records/record.ts';
import type { Clock } from '../ports/clock.ts';
import type { RecordSink } from '../ports/record-sink.ts';
import type { LogRange, PartitionLog, Position, RecordSource, UnreadableBatch } from '../ports/record-source.ts';
import { FatalError, OutageError } from '../ports/stream-errors.ts';
import { epochUnknown, identifiedPositions, requireSameTopic } from './topic-ids.ts';

/** The same as {@link requirePosition}, of all stored positions. */
export const storedPosition = (partition: TopicPartition, stored: readonly Position[], lastSeen: bigint): Position =>
  requirePosition(
    partition,
    stored.find((each) => each.topic === partition.topic && each.partition === partition.partition),
    lastSeen,
  );

/**
 * The stored position of a partition that had one. A row is lost by a failover, together with all that was written of
 * the partition, or was deleted alone: what was written is read again in the first case, and must not be in the second
 * one.
 *
 * @param lastSeen the last value seen, for the message
 * @throws FatalError `STORED_OFFSET_MISSING` when its row was removed
 */
export function requirePosition(partition: TopicPartition, position: Position | undefined, lastSeen: bigint): Position {
  if (!position) {
    throw new FatalError(
      'STORED_OFFSET_MISSING',
      `${partitionKey(partition)}: the row of this partition in the table offsets is gone, so what was written is ` +
        'unknown. If the database is a promoted standby or a restored backup, which lacks the last commits, their records are gone with the row, and ' +
        'putting it back would skip them: start again with consumer.startFrom: earliest, which reads the partition from its ' +
        'beginning and stops at a record that is in the tables. If the row alone was deleted and the records are in the ' +
        `tables, put it back with next_offset ${lastSeen}, the last value seen, and start again`,
      { topic: partition.topic },
    );
  }
  return position;
}

/** Where a topic without any stored position begins: the setting `consumer.startFrom`. */
export type StartFrom = 'earliest' | 'latest' | 'committed';

/** The facts about a topic that its first positions follow from. */
interface StartChoice {
  readonly startFrom: StartFrom;
  /** Those of all partitions; one without a leader has a first position only where an offset of it is committed. */
  readonly logs: readonly PartitionLog[];
  /** Kafka's committed offsets; only looked at for `committed`. */
  readonly committed: readonly Position[];
}

/**
 * First positions for the partitions that have none.
 *
 * `startFrom` is about topics, not partitions: once any partition of the topic has a position, a partition without one
 * was added later and starts at its beginning, or records written to it before we noticed would be lost.
 */
export function startPositions(choice: StartChoice, stored: ReadonlySet<number>): Position[] {
  const startFrom = stored.size > 0 ? 'earliest' : choice.startFrom;
  const committed = new Map(choice.committed.map(({ partition, offset }) => [partition, offset]));
  return choice.logs
    .filter(({ partition }) => !stored.has(partition))
    .flatMap((log) => {
      const { topic, partition } = log;
      const { start, end } = log.isLeaderless ? {} : log;
      const offsets = { earliest: start, latest: end, committed: committed.get(partition) ?? start };
      const offset = offsets[startFrom];
      return offset === undefined ? [] : { topic, partition, offset };
    });
}

interface PositionPorts {
  readonly source: Pick<RecordSource, 'topicIds' | 'requireListed' | 'logRanges' | 'committedOffsets'>;
  readonly sink: Pick<RecordSink, 'positions' | 'adoptTopicIds' | 'recordTables' | 'initialize'>;
}

/**
 * The positions of assigned partitions: the stored ones, and where there is none a first one, which is stored. A
 * partition without a leader that has no stored position is left out: where its log begins and ends is not known.
 *
 * @param startFromOf where a topic without a position begins
 * @param onLog receives what the brokers report of each log that they are asked for
 * @throws OutageError while PostgreSQL or Kafka is away, or its metadata are older than the assignment
 * @throws FatalError `TOPIC_RECREATED` when Kafka has another topic under the name, `GROUP_MEETS_ANOTHER` when another
 * group fills a table that the topic would fill here
 */
export async function assignedPositions(
  ports: PositionPorts,
  partitions: readonly TopicPartition[],
  startFromOf: (topic: string) => StartFrom,
  onLog: (log: PartitionLog) => void,
): Promise<Position[]> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))];
  const { positions, ids } = await identifiedPositions(ports, topics);
  await ports.sink.recordTables(new Map(positions.map(({ topic, topicId }) => [topic, topicId ?? null])));
  const known = new Map(positions.map((position) => [partitionKey(position), position]));
  const lacking = partitions.filter((partition) => !known.has(partitionKey(partition)));
  const leaderless = new Set<string>();
  const initialize = async (topic: string): Promise<void> => {
    const startFrom = startFromOf(topic);
    const logs = await ports.source.logRanges(topic);
    logs.forEach(onLog);
    const committed = startFrom === 'committed' ? await ports.source.committedOffsets(topic) : [];
    const choose = (stored: ReadonlySet<number>) =>
      startPositions({ startFrom, logs, committed }, stored).map((first) => ({
        ...first,
        topicId: ids.get(topic) ?? null,
      }));
    for (const position of await ports.sink.initialize(topic, choose)) {
      known.set(partitionKey(position), position);
    }
    for (const log of logs.filter(({ isLeaderless }) => isLeaderless)) {
      leaderless.add(partitionKey(log));
    }
  };
  await Promise.all([...new Set(lacking.map(({ topic }) => topic))].map(initialize));
  return partitions.flatMap((partition) => {
    const key = partitionKey(partition);
    const position = known.get(key);
    if (position === undefined && !leaderless.has(key)) {
      throw new OutageError(`${key}: Kafka does not know the log of this partition yet`, { reason: 'kafka_away' });
    }
    return position ?? [];
  });
}

const RECHECK_MS = 1_000;
/**
 * Right after a leader change one reading of the log's end may be stale, so a log that looks too short gets this long;
 * time in which no broker answers does not count.
 */
const STALE_READING_MS = 30_000;

function gone({ topic, partition, offset }: Position, { start }: LogRange): FatalError {
  return new FatalError(
    'OFFSETS_GONE',
    `${topic}/${partition}: PostgreSQL expects offset ${offset} next, but the log now starts at ${start}: ` +
      `${start - offset} offsets (${offset} to ${start - 1n}) were deleted before they were read. ` +
      'To go on without them, set consumer.onGap to skip: the gap is then recorded in the table gaps',
  );
}

function ahead({ topic, partition, offset }: Position, { end }: LogRange): FatalError {
  return new FatalError(
    'STORED_OFFSET_AHEAD',
    `${topic}/${partition}: PostgreSQL expects offset ${offset} next, but the log ends at ${end}: the topic was probably ` +
      'deleted and created again. To read the new one from its beginning, run "stream-consumer offsets begin-again" ' +
      '(docs/schema.md says what becomes of the rows before), and start again',
  );
}

/**
 * A batch that cannot be read is fetched again after this time: it may have been damaged on its way, or come from
 * another replica the next time.
 */
const FETCH_AGAIN_MS = 10_000;

/** The consequence of a batch that cannot be read: the setting `consumer.onBrokenBatch`. */
export type OnBrokenBatch = 'stop' | 'skip';

/**
 * Where to go on from at a batch that cannot be read: at the same offset, after a while; or behind the batch, when it
 * was read a second time like that, its end is certain, and such batches are skipped.
 *
 * @param before what could not be read the last time
 */
export async function behindBrokenBatch(
  position: bigint,
  { batch, before, onBrokenBatch }: BrokenBatch,
  clock: Clock,
  signal: AbortSignal,
): Promise<bigint> {
  const isSame = before?.offset === batch.offset && before.nextOffset === batch.nextOffset;
  const { nextOffset } = batch;
  if (onBrokenBatch === 'skip' && isSame && nextOffset && nextOffset > position) {
    return nextOffset;
  }
  await clock.wait(FETCH_AGAIN_MS, signal);
  return position;
}

interface BrokenBatch {
  readonly batch: UnreadableBatch;
  readonly before: UnreadableBatch | null;
  readonly onBrokenBatch: OnBrokenBatch;
}

/** The consequence of records that were deleted before they were read: the setting `consumer.onGap`. */
export type OnGap = 'fail' | 'skip';

function behindGap(position: Position, range: LogRange, onGap: OnGap): bigint {
  if (onGap === 'fail') {
    throw gone(position, range);
  }
  return range.start;
}

type Log = Pick<RecordSource, 'logRanges' | 'topicIds' | 'knowsEpoch'>;

/** @throws FatalError `TOPIC_RECREATED` when Kafka has another topic under the name */
async function logRangeOf(source: Log, position: Position): Promise<LogRange | undefined> {
  const logs = await source.logRanges(position.topic).catch((): PartitionLog[] => []);
  // Asked for behind the range, which is of the same topic when the id still is.
  const ids = await source.topicIds([position.topic]).catch((): ReadonlyMap<string, string> => new Map());
  requireSameTopic(position, ids.get(position.topic));
  return logs.filter((log) => !log.isLeaderless).find(({ partition }) => partition === position.partition);
}

/**
 * Finds out why the broker does not hold `position`, and resolves with where to go on: there, when it does after all,
 * or at the log's start when that is above it and gaps are skipped.
 *
 * @throws FatalError `TOPIC_RECREATED` when Kafka has another topic under the name; `OFFSETS_GONE` when the log starts
 * above it and gaps are not skipped. In every reading for 30 s: `STORED_OFFSET_AHEAD` when the log ends below it;
 * `LOG_TRUNCATED` when the log knows only leader epochs before its own.
 */
export async function findPosition(
  source: Log,
  position: Position,
  onGap: OnGap,
  clock: Clock,
  signal: AbortSignal,
): Promise<bigint> {
  let silentUntil = clock.steady().getTime();
  while (!signal.aborted) {
    const range = await logRangeOf(source, position);
    if (range && range.start > position.offset) {
      return behindGap(position, range, onGap);
    }
    if (range && range.end >= position.offset && (await source.knowsEpoch(position).catch(() => true))) {
      // The broker that refused it may do so again for a while, as one that does not know of the topic's id yet.
      await clock.wait(RECHECK_MS, signal);
      break;
    }
    const now = clock.steady().getTime();
    silentUntil = range ? silentUntil : now;
    if (range && now - silentUntil >= STALE_READING_MS) {
      throw range.end < position.offset ? ahead(position, range) : epochUnknown(position);
    }
    await clock.wait(RECHECK_MS, signal);
  }
  return position.offset;
}
