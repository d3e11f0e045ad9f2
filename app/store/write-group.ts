import type { PoolClient } from 'pg';
import type { WriteOutcome, WriteRequest } from '../stream/record-sink.ts';
import { movingOffsets } from './compare-and-set.ts';
import { RecordRows } from './record-rows.ts';
import { writeAtOnce } from './write-at-once.ts';
import { admit, asCommitted, NO_DEAD_LETTERS, type WriteTarget } from './write-records.ts';

/**
 * Requests of different partitions as one transaction, which either does for each of them what a transaction of its own
 * would, or nothing at all: it commits only if the offset of every partition was the expected one, as its own rows' would.
 *
 * It never waits for another writer of one of the partitions: a row of `offsets` that is locked counts as not expected.
 *
 * @returns an outcome for each request; `null` when nothing was written and each has to be written by itself, because one
 * is fenced, has dead letters, or has an offset that somebody else holds.
 */
export async function writeGroup(
  client: PoolClient,
  target: WriteTarget,
  requests: readonly WriteRequest[],
): Promise<readonly WriteOutcome[] | null> {
  const rows: Buffer[] = [];
  for (const request of requests) {
    const { admitted, refused } = admit(target, request);
    if (refused.length > 0 || !target.deadLetters.limit.accepts(request, NO_DEAD_LETTERS)) {
      return null;
    }
    rows.push(new RecordRows(request.topic, request.partition, admitted, target.keyEncoding).all);
  }
  const move = { moving: movingOffsets(target, requests), moved: requests.length };
  if ((await writeAtOnce(client, target, move, Buffer.concat(rows))) !== 'committed') {
    return null;
  }
  return requests.map((request) => asCommitted(target, request));
}
