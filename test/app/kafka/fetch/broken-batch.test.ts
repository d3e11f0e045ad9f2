import { expect, test } from '@jest/globals';
import { UnknownCodecError } from '../../../../app/kafka/codecs/codecs.ts';
import { OversizedError } from '../../../../app/kafka/codecs/unpacked-size.ts';
import { ChecksumError, faultOf } from '../../../../app/kafka/fetch/broken-batch.ts';
import { BATCH_HEAD_BYTES, compressedMessages, oldMessage, recordBatch } from './record-sets.ts';

/** Where a batch has its attributes, its last offset, and how many records it holds. */
const ATTRIBUTES = 22;
const LAST_DELTA = 23;
const RECORDS = 57;

const DAMAGED = new ChecksumError('CRC-32C', 1, 2);
const BROKEN = new Error('no record');

/** A batch of three records from offset 20 on, changed. */
function changed(change: (batch: Buffer) => unknown = () => undefined): Buffer {
  const batch = recordBatch(20, 3);
  change(batch);
  return batch;
}

test.each([
  ['a checksum that is wrong', changed(), DAMAGED, 23n],
  ['a checksum that is wrong, and one record', recordBatch(20, 1), DAMAGED, 21n],
  ['content that is no record', changed(), BROKEN, 23n],
  ['a right checksum after compaction', changed((batch) => batch.writeInt32BE(9, LAST_DELTA)), BROKEN, 30n],
  ['a wrong checksum and another last offset', changed((batch) => batch.writeInt32BE(9, LAST_DELTA)), DAMAGED, null],
  ['a wrong checksum and another count', changed((batch) => batch.writeInt32BE(4, RECORDS)), DAMAGED, null],
  ['a last offset below the first one', changed((batch) => batch.writeInt32BE(-2, LAST_DELTA)), BROKEN, null],
  ['a format that is not known', changed((batch) => batch.writeInt8(3, 16)), BROKEN, null],
  ['no whole head', changed().subarray(0, BATCH_HEAD_BYTES - 1), BROKEN, null],
  ['the format v1', compressedMessages(6, 1, []), BROKEN, 7n],
  ['the format v0', oldMessage(6, { version: 0, value: 'value' }), DAMAGED, 7n],
])(
  'of a batch with %s the offset behind it is what its head tells, or is not certain',
  (_, batch, error, nextOffset) => {
    expect(faultOf(batch, error)).toMatchObject({ offset: batch.readBigInt64BE(0), nextOffset });
  },
);

test('a fault has the name of the codec, as far as the head tells it', () => {
  const packed = changed((batch) => batch.writeUInt8(4, ATTRIBUTES));
  expect(faultOf(packed, BROKEN)).toMatchObject({ codec: 'zstd', code: 'CORRUPT_BATCH', reason: 'no record' });
  expect(faultOf(compressedMessages(6, 1, []), BROKEN)).toMatchObject({ codec: 'gzip' });
  expect(faultOf(packed.subarray(0, 20), BROKEN)).toMatchObject({ codec: null });
});

test('content that is too large, and a codec that is not known, have codes of their own', () => {
  expect(faultOf(changed(), new OversizedError(100))).toMatchObject({ code: 'OVERSIZED_BATCH' });
  expect(faultOf(changed(), new UnknownCodecError(5))).toMatchObject({ code: 'UNKNOWN_CODEC' });
});
