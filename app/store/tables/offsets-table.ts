import { escapeIdentifier, type PoolClient } from 'pg';
import type { Position } from '../../stream/ports/record-source.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { BEGIN } from '../connection/transaction.ts';
import type { FilledTables } from './filled-tables.ts';

/** The group of the offsets, and what keeps another one from filling its tables. */
interface OffsetsOwner {
  readonly schema: string;
  readonly groupId: string;
  readonly filled: FilledTables;
}

/** Answers with the positions to add to the partitions that have one. */
type ChoosePositions = (stored: ReadonlySet<number>) => readonly Position[];

interface OffsetRow {
  readonly topic: string;
  readonly partition: number;
  readonly next_offset: string;
  readonly topic_id: string | null;
  readonly leader_epoch: number | null;
}

/** Stored next offsets of a group for some topics; an epoch that an older program left behind is none. */
export async function readPositions(
  client: PoolClient,
  schema: string,
  groupId: string,
  topics: readonly string[],
): Promise<Position[]> {
  const { rows } = await client.query<OffsetRow>(
    `SELECT topic, partition, next_offset, topic_id,
            CASE WHEN leader_epoch_offset = next_offset THEN leader_epoch END AS leader_epoch
       FROM ${escapeIdentifier(schema)}.offsets WHERE group_id = $1 AND topic = ANY ($2)`,
    [groupId, topics],
  );
  return rows.map(({ topic, partition, next_offset, topic_id, leader_epoch }) => ({
    topic,
    partition,
    offset: BigInt(next_offset),
    topicId: topic_id,
    leaderEpoch: leader_epoch,
  }));
}

/** An offset that a transaction holds is left to it: whichever transaction moves the offset next stores the id. */
export async function adoptTopicIds(
  client: PoolClient,
  schema: string,
  groupId: string,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  const offsets = `${escapeIdentifier(schema)}.offsets`;
  await client.query(
    `WITH unknown AS (
       SELECT topic, partition, adopted.id FROM ${offsets} JOIN unnest($2::text[], $3::text[]) AS adopted (topic, id) USING (topic)
        WHERE group_id = $1 AND topic_id IS NULL FOR UPDATE OF offsets SKIP LOCKED)
     UPDATE ${offsets} AS stored SET topic_id = unknown.id FROM unknown
      WHERE stored.group_id = $1 AND stored.topic = unknown.topic AND stored.partition = unknown.partition`,
    [groupId, [...ids.keys()], [...ids.values()]],
  );
}

/**
 * Adds first positions to a topic, with the tables that the group fills from it. The second lock is per group and
 * topic: of two processes that find the topic without any position one chooses for all partitions, and the other then
 * finds them. A program without the first lock waits for that one alone, so neither waits for the other in a circle.
 *
 * @throws FatalError `GROUP_MEETS_ANOTHER` where another group fills a table that this one would fill
 */
export async function initializePositions(
  client: PoolClient,
  owner: OffsetsOwner,
  topic: string,
  choose: ChoosePositions,
): Promise<Position[]> {
  await client.query(BEGIN);
  await owner.filled.lock(client);
  const positions = await addPositions(client, owner, topic, choose);
  await client.query('COMMIT');
  return positions;
}

/** The part of a topic in a transaction that has the lock of the filled tables. */
async function addPositions(
  client: PoolClient,
  { schema, groupId, filled }: OffsetsOwner,
  topic: string,
  choose: ChoosePositions,
): Promise<Position[]> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${schema}/${groupId}/${topic}`]);
  const stored = await readPositions(client, schema, groupId, [topic]);
  const added = choose(new Set(stored.map(({ partition }) => partition)));
  const positions = [...stored, ...added];
  if (positions.length > 0) {
    const id = positions.find(({ topicId }) => topicId)?.topicId ?? '';
    await filled.admit(client, topic, id, stored.length > 0);
  }
  await client.query(
    `INSERT INTO ${escapeIdentifier(schema)}.offsets
            (group_id, topic, partition, next_offset, topic_id, leader_epoch, leader_epoch_offset)
     SELECT $1, $2, partition, next_offset, topic_id, leader_epoch, next_offset
       FROM unnest($3::int[], $4::bigint[], $5::text[], $6::int[]) AS added (partition, next_offset, topic_id, leader_epoch)`,
    [
      groupId,
      topic,
      added.map(({ partition }) => partition),
      added.map(({ offset }) => offset.toString()),
      added.map(({ topicId }) => topicId),
      added.map(({ leaderEpoch }) => leaderEpoch),
    ],
  );
  return positions;
}

/** What a template that begins takes: the first positions of a topic. */
export interface FirstPositions {
  readonly topic: string;
  /** All templates that take it. */
  readonly takenBy: readonly string[];
  readonly choose: ChoosePositions;
}

/** The topics of which a group has stored offsets. */
export async function storedTopics(client: PoolClient, schema: string, groupId: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ topic: string }>(
    `SELECT DISTINCT topic FROM ${escapeIdentifier(schema)}.offsets WHERE group_id = $1`,
    [groupId],
  );
  return rows.map(({ topic }) => topic);
}

/** The templates that a group has begun with. */
export async function begunTemplates(
  client: PoolClient,
  schema: string,
  groupId: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ template: string }>(
    `SELECT template FROM ${escapeIdentifier(schema)}.templates WHERE group_id = $1`,
    [groupId],
  );
  return new Set(rows.map(({ template }) => template));
}

/**
 * Stores that a group begins with templates, and the first positions of all topics that these take now, in one
 * transaction: whatever has no position afterwards appeared later, or could not be read then. So it begins at its
 * beginning, which reads more and never less.
 *
 * Of several processes the one that stores the template stores the positions, too. The lock makes the others wait until
 * both are committed. A topic that another template has taken before is none of the first start.
 *
 * A topic whose table another group fills is left out: it is met again, and refused, when it is assigned.
 */
export async function beginTemplates(
  client: PoolClient,
  owner: OffsetsOwner,
  templates: readonly string[],
  found: readonly FirstPositions[],
): Promise<void> {
  await client.query(BEGIN);
  await owner.filled.lock(client);
  const { rows } = await client.query<{ template: string }>(
    `INSERT INTO ${escapeIdentifier(owner.schema)}.templates (group_id, template)
     SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING RETURNING template`,
    [owner.groupId, templates],
  );
  const begins = new Set(rows.map(({ template }) => template));
  for (const { topic, takenBy, choose } of found) {
    if (takenBy.every((template) => begins.has(template))) {
      await addPositions(client, owner, topic, choose).catch(unlessRefused);
    }
  }
  await client.query('COMMIT');
}

/** The refusal comes before anything of the topic is stored. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof FatalError && error.code === 'GROUP_MEETS_ANOTHER')) {
    throw error;
  }
}
