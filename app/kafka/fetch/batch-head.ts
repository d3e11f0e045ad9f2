import type { BatchBase } from '../../records/record-batch.ts';
import { crc32c } from '../codecs/crc32c.ts';

/**
 * Where a batch of format v2 has the fields of its head, of so many bytes. The checksum is that of those from
 * `attributes` on. Old messages have `magic` in the same place.
 */
export const BATCH_HEAD = {
  size: 8,
  leaderEpoch: 12,
  magic: 16,
  checksum: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  records: 57,
  bytes: 61,
} as const;

/** Bits of the attributes. */
export const BATCH_ATTRIBUTE = { codec: 0x7, logAppendTime: 0x8, transactional: 0x10, control: 0x20 } as const;

export const RECORD_FORMAT_V2 = 2;

/** The record format of a batch; one that is too short to have it is taken for the last one. */
export const formatOf = (batch: Buffer): number =>
  batch.length > BATCH_HEAD.magic ? batch.readInt8(BATCH_HEAD.magic) : RECORD_FORMAT_V2;

/** What the records of a batch count from. @param at where the batch begins */
export function baseOf(set: Buffer, at: number): BatchBase {
  const hasAppendTime = (set.readInt16BE(at + BATCH_HEAD.attributes) & BATCH_ATTRIBUTE.logAppendTime) !== 0;
  return {
    firstOffset: set.readBigInt64BE(at),
    firstTimestamp: set.readBigInt64BE(at + BATCH_HEAD.firstTimestamp),
    appendTime: hasAppendTime ? set.readBigInt64BE(at + BATCH_HEAD.maxTimestamp) : null,
  };
}

/** The checksum of a batch: the one that its bytes have, and the one that is stored with it. */
export const checksumsOf = (view: DataView, at: number, end: number) => ({
  computed: crc32c(view, at + BATCH_HEAD.attributes, end),
  stored: view.getUint32(at + BATCH_HEAD.checksum),
});
