import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RowRefused, storeWithoutPoison } from '../../../../app/store/copy/isolate-poison.ts';

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

describe('the attempts that ten thousand rows take', () => {
  const count = 10_000;

  async function attemptsOf(poison: readonly number[], namesTheRow: boolean): Promise<readonly [number, number][]> {
    const table = aTable(new Set(poison), namesTheRow);
    const attempts: [number, number][] = [];
    await storeWithoutPoison(count, (from, to) => {
      attempts.push([from, to]);
      return table.store(from, to);
    });
    return attempts;
  }

  test('are one without poison', async () => {
    expect(await attemptsOf([], true)).toEqual([[0, count]]);
  });

  test('are one up to a row that is named, and then twice as many rows each time', async () => {
    expect(await attemptsOf([1_000], true)).toEqual([
      [0, count],
      [0, 1_000],
      [1_001, 5_001],
      [5_001, count],
    ]);
  });

  test('begin with one row after a first one that is named, and double', async () => {
    const attempts = await attemptsOf([0], true);
    expect(attempts.slice(0, 4)).toEqual([
      [0, count],
      [1, 2],
      [2, 4],
      [4, 8],
    ]);
    expect(attempts.length).toBe(15);
  });

  test('halve the part down to a row that is not named, and double after it', async () => {
    const attempts = await attemptsOf([0], false);
    expect(attempts.slice(0, 4)).toEqual([
      [0, count],
      [0, 5_000],
      [0, 2_500],
      [0, 1_250],
    ]);
    expect(attempts.slice(14, 18)).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
      [4, 8],
    ]);
  });
});

test('what is no fault of a row ends the attempt', async () => {
  const outage = new Error('connection lost');
  await expect(storeWithoutPoison(3, () => Promise.reject(outage))).rejects.toBe(outage);
});

test.each([
  ['far outside', () => 99],
  ['right behind', (from: number, to: number) => to - from],
])('a context that names a row %s the part is not believed', async (_, named) => {
  const table = aTable(new Set([2]), true);
  const found = await storeWithoutPoison(4, async (from, to) => {
    await table.store(from, to).catch((error: RowRefused) => {
      throw new RowRefused(error.sqlstate, named(from, to));
    });
  });
  expect(found.map(({ index }) => index)).toEqual([2]);
  expect(table.stored).toEqual([0, 1, 3]);
});
