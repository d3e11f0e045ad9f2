import { Records } from '../../records/records.ts';
import type { ReadBatch } from './record-set.ts';

/** An aborted transaction of the answer to a fetch. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

/**
 * The batches with the records of aborted transactions left out; each still has its range of offsets.
 *
 * As in Kafka's own client, a transaction begins at its first offset, whatever other one it lies in, and ends at the abort
 * marker of its producer. All records of a batch are of one producer, and in one transaction or in none.
 *
 * @param transactions in any order: brokers list them by their ends, and Redpanda does not sort them
 */
export function withoutAborted(
  batches: readonly ReadBatch[],
  transactions: readonly AbortedTransaction[],
): readonly ReadBatch[] {
  if (transactions.length === 0) {
    return batches;
  }
  const ahead = [...transactions].sort((one, other) => (one.firstOffset > other.firstOffset ? -1 : 1));
  const aborted = new Set<bigint>();
  return batches.map((batch) => {
    for (let next = ahead.at(-1); next !== undefined && next.firstOffset < batch.nextOffset; next = ahead.at(-1)) {
      aborted.add(next.producerId);
      ahead.pop();
    }
    if (batch.control === 'abort') {
      aborted.delete(batch.producerId);
    }
    return batch.isTransactional && aborted.has(batch.producerId) ? { ...batch, records: Records.NONE } : batch;
  });
}
