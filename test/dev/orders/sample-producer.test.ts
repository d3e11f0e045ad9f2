import { describe, expect, test } from '@jest/globals';
import { endOffsets, producedRecords } from '../../../dev/orders/sample-producer.ts';
import { sampleRecord } from '../../../dev/orders/sample-record.ts';

const SEED = 3;
const batches = [
  {
    firstIndex: 0,
    count: 4,
    baseOffsets: new Map([
      [0, 10n],
      [1, 20n],
    ]),
  },
  {
    firstIndex: 4,
    count: 3,
    baseOffsets: new Map([
      [0, 100n],
      [1, 200n],
    ]),
  },
];

describe('produced records', () => {
  test('are those of the seed, at the offsets from the acknowledged one on, partition by partition', () => {
    const expected = [...batches].flatMap(({ firstIndex, count, baseOffsets }) => {
      const next = new Map<number, bigint>(baseOffsets);
      return Array.from({ length: count }, (_, nth) => {
        const record = sampleRecord(SEED, firstIndex + nth, 2);
        const offset = next.get(record.partition) ?? -1n;
        next.set(record.partition, offset + 1n);
        return { ...record, offset };
      });
    });
    const produced = [...producedRecords(batches, SEED, 2)];
    expect(produced).toEqual(expected);
    expect(new Set(produced.map(({ partition, offset }) => `${partition}/${offset}`)).size).toBe(7);
  });

  test('end after the last acknowledged offset of each partition', () => {
    const last = new Map<number, bigint>();
    for (const { partition, offset } of producedRecords(batches, SEED, 2)) {
      last.set(partition, offset + 1n);
    }
    expect(endOffsets(producedRecords(batches, SEED, 2))).toEqual(last);
  });

  test('are refused when the broker did not acknowledge their partition', () => {
    const [batch] = batches;
    expect(() => [
      ...producedRecords([{ firstIndex: 0, count: batch?.count ?? 0, baseOffsets: new Map() }], SEED, 2),
    ]).toThrow(/did not acknowledge/);
  });
});
