import type { CommittedBatch } from '../../../app/stream/stream-listener.ts';
import { PARTITION } from './records.ts';

/** A committed transaction of {@link PARTITION}; only what a test is about has to be given. */
export function aCommit(fields: Partial<CommittedBatch> = {}): CommittedBatch {
  const { records = 1 } = fields;
  return {
    ...PARTITION,
    records,
    deadLetters: new Map(),
    rows: new Map([['copy', records]]),
    written: [],
    fetchedAt: new Date(0),
    committedAt: new Date(0),
    nextOffset: BigInt(records),
    ...fields,
  };
}
