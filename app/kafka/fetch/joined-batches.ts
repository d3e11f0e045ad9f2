import type { BatchPlace, RecordBatch } from '../../records/record-batch.ts';
import { LEAST_RECORD_BYTES, RecordIndex } from '../../records/record-index.ts';
import { BATCH_ATTRIBUTE, BATCH_HEAD, baseOf, checksumsOf, RECORD_FORMAT_V2 } from './batch-head.ts';
import { type BatchRoom, hasToBeCounted } from './batch-memory.ts';
import { MESSAGE_HEAD_BYTES } from './message-set.ts';

/** Bytes that are read as one batch, without a turn of the event loop between. */
const MOST_JOINED_BYTES = 65_536;

/**
 * What keeps a batch alone. Transactions are aborted batch by batch: two of one producer may follow each other without
 * a marker between, where compaction took it.
 */
const ALONE = BATCH_ATTRIBUTE.codec | BATCH_ATTRIBUTE.transactional | BATCH_ATTRIBUTE.control;

/** A 64-bit number, where a number holds it exactly. */
const HIGH = 4_294_967_296;
const int64 = (view: DataView, at: number): number => view.getInt32(at) * HIGH + view.getUint32(at + 4);

/** A batch by its head. */
interface BatchHead {
  readonly at: number;
  readonly end: number;
  readonly records: number;
  readonly attributes: number;
  readonly firstOffset: number;
  /** Its first timestamp, or that of all its records. */
  readonly time: number;
}

/** The head of a batch that can be joined; `null` of any other one, which has to be read alone. */
function headAt(view: DataView, at: number, room: BatchRoom): BatchHead | null {
  if (view.byteLength - at < BATCH_HEAD.bytes) {
    return null;
  }
  const end = at + MESSAGE_HEAD_BYTES + view.getInt32(at + BATCH_HEAD.size);
  const [bytes, records] = [end - at - BATCH_HEAD.bytes, view.getInt32(at + BATCH_HEAD.records)];
  const isWhole = bytes >= 0 && end <= view.byteLength && view.getInt8(at + BATCH_HEAD.magic) === RECORD_FORMAT_V2;
  if (!isWhole || records < 1 || records * LEAST_RECORD_BYTES > bytes || hasToBeCounted(bytes, room)) {
    return null;
  }
  const attributes = view.getInt16(at + BATCH_HEAD.attributes);
  const timeAt = attributes & BATCH_ATTRIBUTE.logAppendTime ? BATCH_HEAD.maxTimestamp : BATCH_HEAD.firstTimestamp;
  const [firstOffset, time] = [int64(view, at), int64(view, at + timeAt)];
  const isExact = Number.isSafeInteger(firstOffset) && Number.isSafeInteger(time);
  return isExact && (attributes & ALONE) === 0 ? { at, end, records, attributes, firstOffset, time } : null;
}

/** An offset in a batch has 31 bits. */
const MOST_DELTA = 2_147_483_647;

/** Whether a batch may follow the first one: numbers hold what its offsets and times are counted from. */
const mayFollow = (head: BatchHead, first: BatchHead): boolean =>
  head.attributes === first.attributes &&
  Number.isSafeInteger(head.firstOffset - first.firstOffset + MOST_DELTA) &&
  Number.isSafeInteger(head.time - first.time);

/** Batches that can be read as one, from a place on. @param most bytes, which the last one may pass */
function headsFrom(view: DataView, from: number, most: number, room: BatchRoom): BatchHead[] {
  const heads: BatchHead[] = [];
  for (let at = from; at - from < most; ) {
    const head = headAt(view, at, room);
    if (head === null || head.end - from > MOST_JOINED_BYTES || !mayFollow(head, heads[0] ?? head)) {
      break;
    }
    const { stored, computed } = checksumsOf(view, at, head.end);
    if (stored !== computed) {
      break;
    }
    heads.push(head);
    at = head.end;
  }
  return heads;
}

/** Small batches of a set, which were read as one. */
export interface JoinedBatches {
  readonly records: RecordBatch;
  /** Where the last one of them begins and ends in the set. */
  readonly lastAt: number;
  readonly end: number;
  /** False where the batch behind them cannot be joined to them, although its head is like theirs. */
  readonly isWhole: boolean;
}

/** Their places among the bytes from the first record of the first one on. */
function placesOf(heads: readonly BatchHead[], first: BatchHead): BatchPlace[] {
  let before = 0;
  return heads.map(({ at, end, records, firstOffset, time }) => {
    const place = {
      at: at - first.at,
      end: end - first.at - BATCH_HEAD.bytes,
      first: before,
      records,
      offset: firstOffset - first.firstOffset,
      time: time - first.time,
    };
    before += records;
    return place;
  });
}

/** @returns `null` where they are no records; the index has how many batches in front of it are whole */
function readWhole(index: RecordIndex): RecordBatch | null {
  try {
    for (;;) {
      const records = index.readOn();
      if (records !== null) {
        return records;
      }
    }
  } catch {
    return null;
  }
}

/**
 * Reads small batches that follow each other as one. They are of record format v2, not compressed, of no
 * transaction, and have their checksums. Where what is in one of them is no records, or none that follow those
 * before, it is left, and what is behind it. Read alone, it is reported or not.
 *
 * @param most bytes after which no further batch begins
 * @param room what the largest record of a batch may take
 * @returns `null` where the first batch has to be read alone
 */
export function joinBatches(set: Buffer, from: number, most: number, room: BatchRoom): JoinedBatches | null {
  const view = new DataView(set.buffer, set.byteOffset, set.length);
  const all = headsFrom(view, from, most, room);
  for (let heads = all; ; ) {
    const [first, last] = [heads[0], heads.at(-1)];
    if (first === undefined || last === undefined) {
      return null;
    }
    const places = placesOf(heads, first);
    const count = places.reduce((sum, place) => sum + place.records, 0);
    const index = new RecordIndex(
      set.subarray(first.at + BATCH_HEAD.bytes, last.end),
      count,
      baseOf(set, first.at),
      places,
    );
    const records = readWhole(index);
    if (records !== null) {
      return { records, lastAt: last.at, end: last.end, isWhole: heads === all };
    }
    heads = heads.slice(0, index.wholeBatches);
  }
}
