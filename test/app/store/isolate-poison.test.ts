import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RowRefused, storeWithoutPoison } from '../../../app/store/isolate-poison.ts';

/** A table that refuses some rows, and says which or keeps it to itself; counts the rows it looks at. */
function aTable(poison: ReadonlySet<number>, namesTheRow: boolean) {
  const stored: number[] = [];
  let looked = 0;
  const store = async (from: number, to: number) => {
    const rows = Array.from({ length: to - from }, (_, index) => from + index);
    const refused = rows.find((row) => poison.has(row));
    looked += refused === undefined ? rows.length : refused - from + 1;
    if (refused !== undefined) {
      throw new RowRefused('22P02', namesTheRow ? refused - from : null);
    }
    stored.push(...rows);
  };
  return { store, stored, looked: () => looked };
}

const SIZE = 300;
const somePoison = fc.uniqueArray(fc.integer({ min: 0, max: SIZE - 1 }));

test.each([true, false])(
  'every good row is stored once and every poison row is named (row named: %s)',
  async (namesTheRow) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: SIZE }), somePoison, async (count, rows) => {
        const poison = new Set(rows.filter((row) => row < count));
        const table = aTable(poison, namesTheRow);
        const found = await storeWithoutPoison(count, table.store);
        expect(found.map(({ index }) => index)).toEqual([...poison].sort((a, b) => a - b));
        expect(table.stored).toEqual([...Array(count).keys()].filter((row) => !poison.has(row)));
      }),
    );
  },
);

test.each([
  ['all of them', (row: number) => row >= 0],
  ['each second one', (row: number) => row % 2 === 0],
  ['a run in the middle', (row: number) => row > 4_000 && row < 8_000],
])('ten thousand rows with poison (%s) cost a few looks and attempts a row, not thousands', async (_, isPoison) => {
  const count = 10_000;
  const poison = new Set([...Array(count).keys()].filter(isPoison));
  for (const namesTheRow of [true, false]) {
    const table = aTable(poison, namesTheRow);
    let attempts = 0;
    await storeWithoutPoison(count, (from, to) => {
      attempts += 1;
      return table.store(from, to);
    });
    expect(table.looked()).toBeLessThan(5 * count);
    expect(attempts).toBeLessThan(5 * poison.size);
  }
});

test('what is no fault of a row ends the attempt', async () => {
  const outage = new Error('connection lost');
  await expect(storeWithoutPoison(3, () => Promise.reject(outage))).rejects.toBe(outage);
});

test('a context that names a row outside the part is not believed', async () => {
  const table = aTable(new Set([2]), true);
  const found = await storeWithoutPoison(4, async (from, to) => {
    await table.store(from, to).catch((error: RowRefused) => {
      throw new RowRefused(error.sqlstate, 99);
    });
  });
  expect(found.map(({ index }) => index)).toEqual([2]);
  expect(table.stored).toEqual([0, 1, 3]);
});
