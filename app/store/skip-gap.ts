import { escapeIdentifier, type PoolClient } from 'pg';
import type { Gap, WriteOutcome } from '../stream/record-sink.ts';
import { beginMovingOffset, commit } from './compare-and-set.ts';

/** One transaction: the offset moves over the gap, and the gap is recorded. */
export async function skipGap(
  client: PoolClient,
  target: { readonly schema: string; readonly groupId: string },
  gap: Gap,
): Promise<WriteOutcome> {
  if (!(await beginMovingOffset(client, target, gap))) {
    return { kind: 'fenced' };
  }
  const { topic, partition, expectedOffset, nextOffset } = gap;
  await client.query(
    `INSERT INTO ${escapeIdentifier(target.schema)}.gaps (group_id, topic, partition, from_offset, next_offset)
     VALUES ($1, $2, $3, $4, $5)`,
    [target.groupId, topic, partition, expectedOffset.toString(), nextOffset.toString()],
  );
  await commit(client);
  return { kind: 'committed', deadLetters: new Map(), rows: new Map() };
}
