import { expect, test } from '@jest/globals';
import { RESERVED_WORDS, sqlName } from '../../../app/store/connection/sql-name.ts';
import { query } from '../stack/database.ts';

test('each word that PostgreSQL reserves is quoted, and it reads each name back as it was', async () => {
  const words = await query<{ word: string }>("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')");
  expect(words.map(({ word }) => word).filter((word) => !RESERVED_WORDS.has(word))).toEqual([]);
  const names = [...RESERVED_WORDS, 'plain_1', 'Größe', 'a"b', 'with space', 'x\n); --', '1st', 'values', 'timestamp'];
  const columns = names.map((name) => `1 AS ${sqlName(name)}`);
  const [row = {}] = await query(`SELECT ${columns.join(', ')}`);
  expect(Object.keys(row).sort()).toEqual([...names].sort());
  await query(`CREATE TEMPORARY TABLE ${sqlName('order')} (${names.map((name) => `${sqlName(name)} int`).join(', ')})`);
});
