import type { UnreadableBatch } from '../../stream/ports/record-source.ts';
import { messageOf } from '../client/kafka-errors.ts';
import { codecOf, UnknownCodecError } from '../codecs/codecs.ts';
import { OversizedError } from '../codecs/unpacked-size.ts';
import { BATCH_HEAD, formatOf, RECORD_FORMAT_V2 } from './batch-head.ts';
import { TooManyObjectsError } from './batch-memory.ts';

/** Where old messages have their attributes. */
const OLD_ATTRIBUTES_AT = 17;

/** A batch's checksum, or one within it, is another one than the stored one. */
export class ChecksumError extends Error {
  override readonly name = 'ChecksumError';

  constructor(kind: 'CRC-32' | 'CRC-32C', computed: number, stored: number) {
    super(`its ${kind} is ${computed.toString(16)}, and ${stored.toString(16)} is stored with it`);
  }
}

/** Its record format is none that Kafka had when this program was made. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError';

  constructor(format: number) {
    super(`its record format is ${format}, and 0 to ${RECORD_FORMAT_V2} are known`);
  }
}

/** Why a batch cannot be read. */
export type BatchFault = Omit<UnreadableBatch, 'topic' | 'partition'>;

function codeOf(error: unknown): BatchFault['code'] {
  if (error instanceof UnknownFormatError) {
    return 'UNKNOWN_RECORD_FORMAT';
  }
  if (error instanceof UnknownCodecError) {
    return 'UNKNOWN_CODEC';
  }
  return error instanceof OversizedError || error instanceof TooManyObjectsError ? 'OVERSIZED_BATCH' : 'CORRUPT_BATCH';
}

/**
 * The offset behind a batch that cannot be read, `null` where it is not certain: it is in its head, which may be
 * what is damaged. The checksum covers that of format v2; where it is wrong, the head has to have as many records as
 * offsets, as every batch does that no compaction took records from. An old message has only its own offset, as far as
 * a reader can know the last one that it holds.
 */
function offsetBehind(batch: Buffer, format: number, isDamaged: boolean): bigint | null {
  const offset = batch.readBigInt64BE(0);
  if (format < RECORD_FORMAT_V2) {
    return offset + 1n;
  }
  if (batch.length < BATCH_HEAD.bytes) {
    return null;
  }
  const [lastDelta, records] = [batch.readInt32BE(BATCH_HEAD.lastOffsetDelta), batch.readInt32BE(BATCH_HEAD.records)];
  const isCertain = lastDelta >= 0 && (!isDamaged || records === lastDelta + 1);
  return isCertain ? offset + BigInt(lastDelta) + 1n : null;
}

function codecIn(batch: Buffer, format: number): string | null {
  if (format < RECORD_FORMAT_V2) {
    return batch.length > OLD_ATTRIBUTES_AT ? codecOf(batch.readInt8(OLD_ATTRIBUTES_AT)) : null;
  }
  return batch.length < BATCH_HEAD.bytes ? null : codecOf(batch.readInt16BE(BATCH_HEAD.attributes));
}

/** What is reported of a batch that cannot be read, as far as its head has it. @param error why it cannot be read */
export function faultOf(batch: Buffer, error: unknown): BatchFault {
  const format = formatOf(batch);
  const isKnown = format >= 0 && format <= RECORD_FORMAT_V2;
  return {
    offset: batch.readBigInt64BE(0),
    nextOffset: isKnown ? offsetBehind(batch, format, error instanceof ChecksumError) : null,
    code: codeOf(error),
    codec: isKnown ? codecIn(batch, format) : null,
    reason: messageOf(error),
  };
}
