import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecordQueue } from '../../../app/stream/record-queue.ts';
import { aBatch, aRecord } from './records.ts';

const offsets = (records: readonly { offset: bigint }[]) => records.map(({ offset }) => Number(offset));

test('batches that fit together are taken together', () => {
  const queue = new RecordQueue();
  queue.push(aBatch(0n, 3n));
  queue.push(aBatch(3n, 5n));
  queue.push(aBatch(5n, 9n));
  const taken = queue.take(5);
  expect(offsets(taken.records)).toEqual([0, 1, 2, 3, 4]);
  expect(taken.nextOffset).toBe(5n);
});

test('a batch larger than one transaction is taken in pieces, each with the offset that follows it', () => {
  const queue = new RecordQueue();
  queue.push(aBatch(10n, 15n));
  expect(queue.take(2).nextOffset).toBe(12n);
  expect(queue.take(2).nextOffset).toBe(14n);
  expect(queue.take(2).nextOffset).toBe(15n);
  expect(queue.isEmpty).toBe(true);
});

test('a batch without records still moves the offset on', () => {
  const queue = new RecordQueue();
  queue.push({ records: [], nextOffset: 7n });
  expect(queue.take(10)).toEqual({ records: [], nextOffset: 7n });
});

test('taking from an empty queue is a mistake of the program', () => {
  expect(() => new RecordQueue().take(1)).toThrow(RangeError);
});

test('bytes count keys and values, and go when records go', () => {
  const queue = new RecordQueue();
  queue.push({ records: [aRecord(0n, { key: Buffer.alloc(100), value: Buffer.alloc(1_000) })], nextOffset: 1n });
  expect(queue.bytes).toBeGreaterThanOrEqual(1_100);
  queue.take(1);
  expect(queue.bytes).toBe(0);
});

test('whatever is pushed comes out once, in order, in parts no larger than asked, and no bytes are left', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 15 }), (batches, most) => {
      const queue = new RecordQueue();
      let end = 0n;
      for (const length of batches) {
        queue.push(aBatch(end, end + BigInt(length)));
        end += BigInt(length);
      }
      const taken: number[] = [];
      let position = 0n;
      while (!queue.isEmpty) {
        const part = queue.take(most);
        expect(part.records.length).toBeLessThanOrEqual(most);
        taken.push(...offsets(part.records));
        position = part.nextOffset;
        expect(position).toBe(BigInt(taken.length));
      }
      expect(position).toBe(end);
      expect(taken).toEqual([...taken.keys()]);
      expect(queue.bytes).toBe(0);
    }),
  );
});
