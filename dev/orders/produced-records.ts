import type { AcknowledgedBatch } from './order-producer.ts';
import { type SampleRecord, sampleRecord } from './sample-record.ts';

/** A record together with the offset at which the broker stored it. */
export interface ProducedRecord extends SampleRecord {
  readonly offset: bigint;
}

/** All records of the batches again, made anew from the seed: nothing has to be kept for the comparison. */
export function* producedRecords(
  batches: readonly AcknowledgedBatch[],
  seed: number,
  partitions: number,
): Generator<ProducedRecord> {
  for (const { firstIndex, count, baseOffsets } of batches) {
    const next = new Map(baseOffsets);
    for (let index = firstIndex; index < firstIndex + count; index += 1) {
      const record = sampleRecord(seed, index, partitions);
      const offset = next.get(record.partition);
      if (offset === undefined) {
        throw new Error(`record ${index} went to partition ${record.partition}, which the broker did not acknowledge`);
      }
      next.set(record.partition, offset + 1n);
      yield { ...record, offset };
    }
  }
}

/** The offset after the last acknowledged record, for each partition that has one. */
export function endOffsets(
  batches: readonly AcknowledgedBatch[],
  seed: number,
  partitions: number,
): ReadonlyMap<number, bigint> {
  const ends = new Map<number, bigint>();
  for (const { partition, offset } of producedRecords(batches, seed, partitions)) {
    ends.set(partition, offset + 1n);
  }
  return ends;
}
