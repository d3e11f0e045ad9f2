import { escapeIdentifier, type PoolClient } from 'pg';
import type { Position } from '../stream/record-source.ts';
import { BEGIN } from './transaction.ts';

interface OffsetRow {
  readonly topic: string;
  readonly partition: number;
  readonly next_offset: string;
}

/** Stored next offsets of a group for some topics. */
export async function readPositions(
  client: PoolClient,
  schema: string,
  groupId: string,
  topics: readonly string[],
): Promise<Position[]> {
  const { rows } = await client.query<OffsetRow>(
    `SELECT topic, partition, next_offset FROM ${escapeIdentifier(schema)}.offsets WHERE group_id = $1 AND topic = ANY ($2)`,
    [groupId, topics],
  );
  return rows.map(({ topic, partition, next_offset }) => ({ topic, partition, offset: BigInt(next_offset) }));
}

/**
 * Adds first positions to a topic. The lock is per group and topic: of two processes that find the topic without any
 * position one chooses for all partitions, and the other then finds them.
 */
export async function initializePositions(
  client: PoolClient,
  schema: string,
  groupId: string,
  topic: string,
  choose: (stored: ReadonlySet<number>) => readonly Position[],
): Promise<Position[]> {
  await client.query(BEGIN);
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${schema}/${groupId}/${topic}`]);
  const stored = await readPositions(client, schema, groupId, [topic]);
  const added = choose(new Set(stored.map(({ partition }) => partition)));
  await client.query(
    `INSERT INTO ${escapeIdentifier(schema)}.offsets (group_id, topic, partition, next_offset)
     SELECT $1, $2, partition, next_offset FROM unnest($3::int[], $4::bigint[]) AS added (partition, next_offset)`,
    [groupId, topic, added.map(({ partition }) => partition), added.map(({ offset }) => offset.toString())],
  );
  await client.query('COMMIT');
  return [...stored, ...added];
}
