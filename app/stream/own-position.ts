import { partitionKey, type TopicPartition } from './record.ts';
import type { Position } from './record-source.ts';
import { FatalError } from './stream-errors.ts';

/**
 * The stored position of a partition that had one.
 *
 * @param lastSeen the last value that was there, for the person who has to put it back
 * @throws FatalError `STORED_OFFSET_MISSING` when somebody has removed it
 */
export function ownPosition(partition: TopicPartition, stored: readonly Position[], lastSeen: bigint): bigint {
  const key = partitionKey(partition);
  const position = stored.find((candidate) => partitionKey(candidate) === key);
  if (!position) {
    throw new FatalError(
      'STORED_OFFSET_MISSING',
      `${key}: the row of this partition in the table offsets is gone, so what was written is unknown. ` +
        `Put it back with next_offset ${lastSeen}, the last value seen, and start again`,
    );
  }
  return position.offset;
}
