import { expect, test } from '@jest/globals';
import { openKeyed } from './open-keyed.ts';

test('lists of dates and times are read as ISO texts, with years that PostgreSQL writes in another way', async () => {
  const store = await openKeyed({
    ddl: 'CREATE TABLE ?.lists (id int PRIMARY KEY, days date[], moments timestamptz[], times timestamp[], clocks time[])',
    tables: [{ table: '?.lists', key: 'id', envelope: 'debezium' }],
    settings: { deadLetters: { maxRatio: 1 } },
  });
  const write = (id: number, more: object) => ({
    key: JSON.stringify({ id }),
    value: { op: 'c', after: { id, ...more } },
  });
  await store.write([
    write(1, {
      ...{ days: ['2026-07-15', null, '-0043-03-15', '+12026-01-01'], clocks: ['13:14:15.123456', '00:00:00'] },
      ...{ moments: ['2026-07-15T11:14:15.5Z', '0000-01-01T00:00:00Z'], times: [['2026-07-15T13:14:15'], [null]] },
    }),
    write(2, { days: [], moments: null }),
    write(3, { days: ['today'] }),
    write(4, { days: [20_000] }),
    write(5, { moments: ['soon'] }),
  ]);
  await store.run('SET TimeZone TO UTC');
  const texts = ['days', 'moments', 'times', 'clocks'].map((name) => `${name}::text`).join(', ');
  expect(await store.run(`SELECT id, ${texts} FROM ?.lists ORDER BY id`)).toEqual([
    {
      ...{ id: 1, days: '{2026-07-15,NULL,"0044-03-15 BC",12026-01-01}', clocks: '{13:14:15.123456,00:00:00}' },
      ...{
        moments: '{"2026-07-15 11:14:15.5+00","0001-01-01 00:00:00+00 BC"}',
        times: '{{"2026-07-15 13:14:15"},{NULL}}',
      },
    },
    { id: 2, days: '{}', moments: null, times: null, clocks: null },
  ]);
  expect(await store.letters()).toEqual([
    ...[2, 3].map((at) => ({ at, reason: 'value_does_not_fit', column: 'days' })),
    { at: 4, reason: 'value_does_not_fit', column: 'moments' },
  ]);
});
