import { expect, test } from '@jest/globals';
import { MOST_FEW_ROWS } from '../../../app/tables/table/few-rows.ts';
import { randomName } from '../stack/random-name.ts';
import { openKeyed } from './open-keyed.ts';

/** A table with a key, and what the catalog has of its stages, which are known by a column that no other table has. */
async function openMarked() {
  const mark = randomName('mark');
  const ddl = `CREATE TABLE ?.orders (id int PRIMARY KEY, ${mark} text)`;
  const opened = await openKeyed({ ddl, tables: [{ table: '?.orders', key: 'id' }] });
  const stages = () =>
    opened.run(`SELECT relfilenode::int AS file, pg_total_relation_size(pg_class.oid)::int AS bytes FROM pg_class
      JOIN pg_attribute ON attrelid = pg_class.oid AND attname = '${mark}' WHERE relpersistence = 't'`);
  const orders = (from: number, count: number, text = 'new') =>
    Array.from({ length: count }, (_, nth) => ({ value: { id: from + nth, [mark]: text } }));
  return { ...opened, mark, stages, orders };
}

test('small transactions write nothing to the catalog: their stage has the same file', async () => {
  const { write, stages, orders } = await openMarked();
  await write(orders(0, MOST_FEW_ROWS + 1));
  const before = (await stages()).map(({ file }) => file);
  expect(before).toHaveLength(1);
  for (let id = 1; id <= 20; id += 1) {
    await write(orders((MOST_FEW_ROWS + 1) * id, MOST_FEW_ROWS + 1));
  }
  expect((await stages()).map(({ file }) => file)).toEqual(before);
});

test('rows that go through a stage take no space there for long', async () => {
  const { write, run, stages, orders } = await openMarked();
  for (let nth = 0; nth < 60; nth += 1) {
    await write(orders(nth * 100, 100, 'x'.repeat(100)));
    expect((await stages()).filter(({ bytes }) => Number(bytes) > 400_000)).toEqual([]);
  }
  expect(await run('SELECT count(*)::int AS rows FROM ?.orders')).toEqual([{ rows: 6_000 }]);
});

test('a transaction of a few rows makes no stage', async () => {
  const { write, run, stages, orders } = await openMarked();
  await write(orders(0, MOST_FEW_ROWS));
  expect(await stages()).toEqual([]);
  expect(await run('SELECT count(*)::int AS rows FROM ?.orders')).toEqual([{ rows: MOST_FEW_ROWS }]);
});

test.each([[MOST_FEW_ROWS + 1], [2_000]])(
  'rows of a transaction of %d are not taken again by the next one',
  async (count) => {
    const { write, run, mark, orders } = await openMarked();
    await write(orders(0, count, 'x'.repeat(100)));
    await run(`UPDATE ?.orders SET ${mark} = 'changed'`);
    await write(orders(count, MOST_FEW_ROWS + 1));
    await write(orders(count + MOST_FEW_ROWS + 1, MOST_FEW_ROWS + 1));
    expect(await run(`SELECT ${mark} AS text, count(*)::int AS rows FROM ?.orders GROUP BY 1 ORDER BY 1`)).toEqual([
      { text: 'changed', rows: count },
      { text: 'new', rows: 2 * MOST_FEW_ROWS + 2 },
    ]);
  },
);
