import type { BatchBase } from '../../records/record-batch.ts';

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

/** The polynomial of Castagnoli, bits reversed; `zlib.crc32` has another one. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes that one step takes in. With a table for each of them it is several times as fast as byte by byte. */
const CRC_STEP = 16;

/** Table `n`, 256 entries from `256 * n` on, has what is left of a byte when `n` more of them came in. */
const CRC_TABLES = crcTables();

function crcTables(): Int32Array {
  const entries = new Int32Array(CRC_STEP * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0);
    }
    entries[byte] = rest;
  }
  for (let at = 256; at < entries.length; at += 1) {
    const before = entries[at - 256] ?? 0;
    entries[at] = (before >>> 8) ^ (entries[before & 0xff] ?? 0);
  }
  return entries;
}

/** What is left of a byte when so many more came in. */
const left = (more: number, byte: number): number => CRC_TABLES[(more << 8) | byte] ?? 0;

/** What is left of four bytes, the first one the lowest, when so many more came in behind the last one. */
const leftOfFour = (more: number, four: number): number =>
  left(more + 3, four & 0xff) ^
  left(more + 2, (four >>> 8) & 0xff) ^
  left(more + 1, (four >>> 16) & 0xff) ^
  left(more, four >>> 24);

/** CRC-32C of the bytes from a place up to but without another one, unsigned. */
export function crc32c(view: DataView, from = 0, to = view.byteLength): number {
  const whole = to - ((to - from) % CRC_STEP);
  let crc = -1;
  let at = from;
  for (; at < whole; at += CRC_STEP) {
    crc =
      leftOfFour(12, crc ^ view.getInt32(at, true)) ^
      leftOfFour(8, view.getInt32(at + 4, true)) ^
      leftOfFour(4, view.getInt32(at + 8, true)) ^
      leftOfFour(0, view.getInt32(at + 12, true));
  }
  for (; at < to; at += 1) {
    crc = left(0, (crc ^ view.getUint8(at)) & 0xff) ^ (crc >>> 8);
  }
  return (crc ^ -1) >>> 0;
}

/** The checksum of a batch: the one that its bytes have, and the one that is stored with it. */
export const checksumsOf = (view: DataView, at: number, end: number) => ({
  computed: crc32c(view, at + BATCH_HEAD.attributes, end),
  stored: view.getUint32(at + BATCH_HEAD.checksum),
});
