import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { packRecords, recordsOf } from '../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../app/records/record.ts';
import { Records } from '../../../app/records/records.ts';
import { aRecord } from '../stream/records.ts';

const bytes = fc.option(
  fc.uint8Array({ maxLength: 200 }).map((content) => Buffer.from(content)),
  { nil: null },
);
const someRecord = fc.record({
  gap: fc.bigInt({ min: 1n, max: 300n }),
  timestamp: fc.oneof(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), fc.constantFrom(-1n, 1_700_000_000_000n)),
  key: bytes,
  value: bytes,
  headers: fc.array(
    fc.record({ key: fc.oneof(fc.string({ maxLength: 5 }), fc.constant(Buffer.from([0x6b, 0xff]))), value: bytes }),
    { maxLength: 3 },
  ),
});

/** Batches of records in the order of their offsets, with holes between them. */
const someBatches = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 2n ** 62n }),
    fc.array(fc.array(someRecord, { minLength: 1, maxLength: 6 }), { maxLength: 5 }),
  )
  .map(([first, batches]) => {
    let offset = first;
    return batches.map((batch) =>
      batch.map(({ gap, ...fields }): StreamRecord => {
        offset += gap;
        return { offset, ...fields };
      }),
    );
  });

const together = (batches: readonly (readonly StreamRecord[])[]): Records =>
  Records.of(...batches.map((batch) => packRecords(batch)));

const contentBytes = (records: readonly StreamRecord[]): number =>
  records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);

test('whatever records are packed, they are the same as objects', () => {
  fc.assert(
    fc.property(someBatches, (batches) => {
      const records = together(batches);
      expect([...records]).toEqual(batches.flat());
      expect(records.length).toBe(batches.flat().length);
      expect(records.contentBytes).toBe(contentBytes(batches.flat()));
    }),
  );
});

test('each record counts for its bytes, and for 64 more, and each header for as many', () => {
  const someBatch = fc.array(someRecord, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(someBatch, (given) => {
      const records = given.map((fields, nth): StreamRecord => ({ ...fields, offset: BigInt(nth) }));
      const batch = packRecords(records);
      for (const [nth, { headers }] of records.entries()) {
        const beside = 64 * (1 + headers.length);
        expect(batch.bytesOf(nth, nth + 1)).toBe(batch.startOf(nth + 1) - batch.startOf(nth) + beside);
      }
    }),
  );
});

test('a slice, what is behind an offset, and a place are those of the records in a list', () => {
  fc.assert(
    fc.property(someBatches, fc.nat(30), fc.nat(30), (batches, start, length) => {
      const [all, records] = [batches.flat(), together(batches)];
      const end = Math.min(start + length, all.length);
      expect([...records.slice(start, end)]).toEqual(all.slice(start, end));
      expect(records.slice(start, end).contentBytes).toBe(contentBytes(all.slice(start, end)));
      expect(records.at(start)).toEqual(all[start] ?? null);
      expect(records.offsetAt(start)).toBe(all[start]?.offset ?? null);
      for (const offset of [0n, ...all.map((record) => record.offset), 2n ** 63n]) {
        expect([...records.behind(offset)]).toEqual(all.filter((record) => record.offset >= offset));
        expect([...records.behind(offset + 1n)]).toEqual(all.filter((record) => record.offset > offset));
      }
    }),
  );
});

test('a slice of slices has the records of each of them', () => {
  const parts = [0n, 10n, 20n].map((from) =>
    recordsOf(Array.from({ length: 5 }, (_, nth) => aRecord(from + BigInt(nth)))).slice(1, 4),
  );
  const records = Records.joined(parts);
  const offsets = (of: Records): number[] => [...of].map(({ offset }) => Number(offset));
  expect(offsets(records)).toEqual([1, 2, 3, 11, 12, 13, 21, 22, 23]);
  expect(offsets(records.slice(2, 8))).toEqual([3, 11, 12, 13, 21, 22]);
  expect(offsets(records.slice(4, 5))).toEqual([12]);
  expect(offsets(records.behind(12n))).toEqual([12, 13, 21, 22, 23]);
  expect([0, 4, 8, 9].map((place) => records.offsetAt(place))).toEqual([1n, 12n, 23n, null]);
  expect(records.markAt(7)).toEqual({ offset: 22n, timestamp: aRecord(22n).timestamp });
});

test('bytes of parts add up, and what fits is as much as the room has, but one where it is needed', () => {
  fc.assert(
    fc.property(someBatches, fc.nat(10), fc.nat(2_000), (batches, most, bytes) => {
      const records = together(batches);
      const room = { records: most, bytes };
      const fitting = records.countFitting(room, false);
      const taken = records.slice(0, fitting);
      expect(room).toEqual({ records: most - taken.length, bytes: bytes - taken.bytes });
      expect(taken.bytes + records.slice(fitting).bytes).toBe(records.bytes);
      const isMore = records.slice(0, fitting + 1).bytes > bytes || fitting === most || fitting === records.length;
      expect(isMore).toBe(true);
      const needed = records.countFitting({ records: 0, bytes: 0 }, true);
      expect(needed).toBe(Math.min(1, records.length));
    }),
  );
});

test('a cursor is at each record in turn, with its place', () => {
  const places: [number, bigint, number][] = [];
  const records = Records.of(packRecords([aRecord(3n), aRecord(5n)]), packRecords([aRecord(9n)]));
  records.forEach((cursor, place) => {
    places.push([place, cursor.offset, cursor.milliseconds]);
  });
  const time = 1_700_000_000_000;
  expect(places).toEqual([
    [0, 3n, time],
    [1, 5n, time],
    [2, 9n, time],
  ]);
});

test.each([
  ['a timestamp beyond 2^53', 2n ** 60n],
  ['a first timestamp that a number does not hold', -(2n ** 61n) + 1n],
])('%s is read as NaN where a number is asked for, and exactly as a bigint', (_, timestamp) => {
  const records = recordsOf([aRecord(0n, { timestamp }), aRecord(1n, { timestamp: timestamp + 1n })]);
  records.forEach((cursor, place) => {
    expect(cursor.milliseconds).toBeNaN();
    expect(cursor.timestamp).toBe(timestamp + BigInt(place));
  });
});

test('offsets that do not ascend, or are too far apart for a batch, are refused', () => {
  expect(() => packRecords([aRecord(1n), aRecord(1n)])).toThrow('the offset of a record is 0 behind the first one');
  expect(() => packRecords([aRecord(0n), aRecord(2n ** 40n)])).toThrow();
});

test('memory is that of whole batches, also of a part', () => {
  const records = recordsOf(Array.from({ length: 100 }, (_, nth) => aRecord(BigInt(nth))));
  expect(records.slice(0, 1).memory).toBe(records.memory);
  expect(records.memory).toBeGreaterThan(100 * 8);
  expect(Records.NONE.memory).toBe(0);
});
