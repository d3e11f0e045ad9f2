import { recordsOf } from '../../../app/records/pack-records.ts';
import type { StreamRecord, TopicPartition } from '../../../app/records/record.ts';
import { Records } from '../../../app/records/records.ts';
import type { FetchedRecords } from '../../../app/stream/ports/record-source.ts';
import type { CommittedBatch } from '../../../app/stream/ports/stream-listener.ts';

export const PARTITION: TopicPartition = { topic: 'orders', partition: 0 };

/** A small record; only what a test is about has to be given. */
export const aRecord = (offset: bigint, fields: Partial<StreamRecord> = {}): StreamRecord => ({
  offset,
  timestamp: 1_700_000_000_000n,
  key: Buffer.from(`key-${offset}`),
  value: Buffer.from(`{"offset":${offset}}`),
  headers: [],
  ...fields,
});

/** Records `from` up to but without `to` of {@link PARTITION}, fetched from `from`. */
export function aBatch(from: bigint, to: bigint): FetchedRecords {
  const records = Array.from({ length: Number(to - from) }, (_, index) => aRecord(from + BigInt(index)));
  return { ...PARTITION, records: recordsOf(records), fetchedOffset: from, nextOffset: to };
}

/** A committed transaction of {@link PARTITION}; only what a test is about has to be given. */
export function aCommit(fields: Partial<CommittedBatch> = {}): CommittedBatch {
  const { records = 1, deadLetters = new Map<never, number>() } = fields;
  const letters = [...deadLetters.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...PARTITION,
    records,
    deadLetters,
    rows: new Map([['copy', records - letters]]),
    written: Records.NONE,
    fetchedAt: new Date(0),
    committedAt: new Date(0),
    nextOffset: BigInt(records),
    ...fields,
  };
}
