import { expect, test } from '@jest/globals';
import { allKinds, Rows } from '../../../../app/store/tables/table.ts';

/** Of five records: one row, none, two bytes of one, none, one. */
const rows = () =>
  new Rows(Buffer.from('abbc'), Uint32Array.of(0, 1, 1, 3, 3, 4), {
    deletes: new Set([2]),
    unmatched: new Set([1, 3]),
    kept: new Set([7]),
  });

test('a record has a row or none, and rows are counted in any part', () => {
  expect(rows().length).toBe(3);
  expect(rows().all.toString()).toBe('abbc');
  expect([rows().rowsIn(0, 5), rows().rowsIn(1, 2), rows().rowsIn(1, 3), rows().rowsIn(3, 3)]).toEqual([3, 0, 1, 0]);
  expect([rows().part(1, 3), rows().part(3, 5), rows().part(0, 1)].map(String)).toEqual(['bb', 'c', 'a']);
});

test('the record of a row is found among those that have one', () => {
  expect([0, 1, 2, 3].map((row) => rows().recordOf(row, 0, 5))).toEqual([0, 2, 4, null]);
  expect([0, 1, 2].map((row) => rows().recordOf(row, 1, 5))).toEqual([2, 4, null]);
  expect(rows().recordOf(0, 3, 4)).toBeNull();
});

test('rows of some records have their places anew', () => {
  const some = rows().of([4, 3, 2]);
  expect(some.all.toString()).toBe('cbb');
  expect([some.length, some.rowsIn(0, 1), some.rowsIn(1, 2), some.rowsIn(2, 3)]).toEqual([2, 1, 0, 1]);
  expect([[...some.deletes], [...some.unmatched]]).toEqual([[2], [1]]);
  expect(some.kinds).toEqual({ hasDeletes: true, kept: new Set([7]) });
  expect(rows().of([0, 1]).kinds.hasDeletes).toBe(false);
});

test('several rows do what any of them does', () => {
  const insert = { hasDeletes: false, kept: new Set([1]) };
  const remove = { hasDeletes: true, kept: new Set([2]) };
  expect(allKinds([insert, remove])).toEqual({ hasDeletes: true, kept: new Set([1, 2]) });
  expect(allKinds([insert, insert])).toEqual(insert);
  expect(allKinds([])).toEqual({ hasDeletes: false, kept: new Set() });
});
