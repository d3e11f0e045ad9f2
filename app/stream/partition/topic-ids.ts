import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { RecordSink } from '../ports/record-sink.ts';
import type { Position, RecordSource } from '../ports/record-source.ts';
import { FatalError } from '../ports/stream-errors.ts';

/**
 * Why nothing of a topic is skipped when it is deleted and created again under its name (KIP-516):
 *
 * 1. The stored id is that of the topic in which the stored offset counts. It is set with an offset or where none is
 *    stored, and a transaction that carries another id moves no offset.
 * 2. Records are fetched by the stored id and written under it. A broker answers a fetch by id with records of that
 *    topic, or with an error. So no offset ever moves over records of a topic under the id of another one: what was
 *    fetched of the old topic may still be written, at its own offsets and under its own id, and the new topic's
 *    records are all still ahead.
 * 3. When the broker has no such id, or the assignment finds another one, the consumer stops with `TOPIC_RECREATED`. An
 *    id that is not stored is taken from Kafka; where Kafka reports none, nothing is proved.
 *
 * Where brokers fetch by name (before Kafka 3.1), 2. does not hold between an assignment and the next failed fetch.
 */
interface TopicIdPorts {
  readonly source: Pick<RecordSource, 'topicIds' | 'requireListed'>;
  readonly sink: Pick<RecordSink, 'positions' | 'adoptTopicIds'>;
}

/** Stored positions, and the ids of their topics as Kafka reports them. */
interface IdentifiedPositions {
  readonly positions: readonly Position[];
  readonly ids: ReadonlyMap<string, string>;
}

/**
 * Stored positions of topics that are the ones that were stored. Where no id is stored, that of Kafka is stored at
 * once: a topic without traffic may be created again before its next record.
 *
 * The ids are asked for before any log range: an offset of one topic is so never stored under the id of a later one.
 *
 * @throws FatalError `TOPIC_RECREATED` when Kafka has another topic under the name
 * @throws OutageError while PostgreSQL or Kafka is away, or a list of the cluster lacks a topic that Kafka has
 */
export async function identifiedPositions(
  { source, sink }: TopicIdPorts,
  topics: readonly string[],
): Promise<IdentifiedPositions> {
  const stored = await sink.positions(topics);
  const ids: ReadonlyMap<string, string> = topics.length > 0 ? await source.topicIds(topics) : new Map();
  await source.requireListed(ids.keys());
  for (const position of stored) {
    requireSameTopic(position, ids.get(position.topic));
  }
  const unknown = stored.filter(({ topicId }) => !topicId).map(({ topic }) => topic);
  const adopted = new Map([...ids].filter(([topic]) => unknown.includes(topic)));
  if (adopted.size > 0) {
    await sink.adoptTopicIds(adopted);
  }
  const positions = stored.map((position) => ({
    ...position,
    topicId: position.topicId ?? ids.get(position.topic) ?? null,
  }));
  return { positions, ids };
}

/**
 * @param asked the id that Kafka reports; undefined where it reports none
 * @throws FatalError `TOPIC_RECREATED` when both ids are known, and they differ
 */
export function requireSameTopic({ topic, partition, offset, topicId }: Position, asked: string | undefined): void {
  if (!topicId || !asked || topicId === asked) {
    return;
  }
  throw new FatalError(
    'TOPIC_RECREATED',
    `${topic}: offset ${offset} of partition ${partition} is stored for the topic with the id ${topicId}, and Kafka's topic ` +
      `of this name has the id ${asked}: it was deleted and created again, or comes from another cluster. Nothing of it was ` +
      'read. If it holds the same records at the same offsets, as a restored one does, go on at the stored offsets: ' +
      `${PRODUCT_NAME} offsets accept-topic ${topic}. If it holds others, read it from its beginning: ` +
      `${PRODUCT_NAME} offsets begin-again ${topic}. Then start again`,
    { topic },
  );
}

/** Where a log parts from what was read of it (KIP-320). */
export interface TruncatedLog extends Pick<Position, 'topic' | 'partition'> {
  /** The last leader epoch that both share, and where it ends in the log. */
  readonly leaderEpoch: number;
  readonly endOffset: bigint;
  /** What was read ends before this offset. */
  readonly readTo: bigint;
}

/** The error `LOG_TRUNCATED`: records that were read are no longer in the log, and others are at their offsets. */
export const logTruncated = ({ topic, partition, leaderEpoch, endOffset, readTo }: TruncatedLog): FatalError =>
  new FatalError(
    'LOG_TRUNCATED',
    `${topic}/${partition}: records were read up to offset ${readTo}, and the log now parts from them at offset ${endOffset}, ` +
      `where its leader epoch ${leaderEpoch} ends: it was truncated there, as in an unclean leader election, and has ` +
      'written other records since. Nothing of these was read. To keep what was written and go on at the stored offset, ' +
      `without what the log now has below it: ${PRODUCT_NAME} offsets accept-topic ${topic}. To read that, remove the ` +
      `rows of this partition from offset ${endOffset} on from its tables and dead_letters, and set its next_offset in offsets ` +
      `to ${endOffset}. Then start again`,
    { topic },
  );

/**
 * The error `LOG_TRUNCATED` for a log that knows only leader epochs before that of the position: what was read is not
 * in it (KIP-320), and where it parts from that is unknown.
 */
export const epochUnknown = ({ topic, partition, offset, leaderEpoch }: Position): FatalError =>
  new FatalError(
    'LOG_TRUNCATED',
    `${topic}/${partition}: records were read up to offset ${offset} under the leader epoch ${leaderEpoch}, and the log knows only ` +
      'epochs before that one: it is not the log that was read, as after Kafka was restored from an older state. Nothing of ' +
      'this was read. If it holds the same records below that offset, go on at the stored offset: ' +
      `${PRODUCT_NAME} offsets accept-topic ${topic}. If it holds others, read it from its beginning: ` +
      `${PRODUCT_NAME} offsets begin-again ${topic}. Then start again`,
    { topic },
  );
