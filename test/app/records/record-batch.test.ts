import { expect, test } from '@jest/globals';
import { packRecords } from '../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../app/records/record.ts';
import { type BatchPlace, NO_PLACE, type RecordBatch, RecordCursor } from '../../../app/records/record-batch.ts';
import { RecordIndex } from '../../../app/records/record-index.ts';
import { aRecord } from '../stream/records.ts';

const TIME = 1_700_000_000_000n;

/** Both batches in one memory, as the fetch loop joins them. */
function joined(first: readonly StreamRecord[], second: readonly StreamRecord[]): RecordBatch {
  const [one, two] = [packRecords(first), packRecords(second)];
  const end = one.bytes.length + two.bytes.length;
  const places: BatchPlace[] = [
    { ...NO_PLACE, end: one.bytes.length, records: one.length },
    {
      ...{ at: one.bytes.length, end, first: one.length, records: two.length },
      offset: Number(two.base.firstOffset - one.base.firstOffset),
      time: Number(two.base.firstTimestamp - one.base.firstTimestamp),
    },
  ];
  const bytes = Buffer.concat([one.bytes, two.bytes]);
  const batch = new RecordIndex(bytes, one.length + two.length, one.base, places).readOn();
  if (batch === null) {
    throw new Error('the batch has more records than are read at once');
  }
  return batch;
}

test('each record of joined batches has its offset and its time, in whatever order they are read', () => {
  const first = [aRecord(3n, { timestamp: TIME }), aRecord(4n, { timestamp: TIME + 5n })];
  const second = [aRecord(9n, { timestamp: TIME + 70n }), aRecord(10n, { timestamp: TIME + 60n })];
  const [records, batch] = [[...first, ...second], joined(first, second)];
  const cursor = new RecordCursor();
  for (const nth of [0, 1, 2, 3, 0, 2, 1, 3]) {
    const { offset, offsetNumber, milliseconds, timestamp } = cursor.read(batch, nth);
    const expected = records[nth]?.timestamp ?? 0n;
    expect({ offset, milliseconds, timestamp }).toEqual({
      ...{ offset: records[nth]?.offset, timestamp: expected },
      milliseconds: Number(expected),
    });
    expect(BigInt(offsetNumber)).toBe(offset);
  }
});

test('a batch counts for its bytes, for 8 more of each record, and for 112 of each batch that is joined to it', () => {
  const beside = ({ memory, bytes }: RecordBatch): number => memory - bytes.length;
  const [first, second] = [aRecord(1n), aRecord(2n)];
  const one = beside(packRecords([first]));
  expect(one).toBeGreaterThan(1_000);
  expect(beside(packRecords([first, second]))).toBe(one + 8);
  expect(beside(joined([first], [second]))).toBe(one + 8 + 112);
});

test('a cursor that has read no record has none', () => {
  expect(() => new RecordCursor().offset).toThrow(new RangeError('the cursor is at no record yet'));
});
