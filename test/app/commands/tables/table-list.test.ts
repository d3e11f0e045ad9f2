import { expect, test } from '@jest/globals';
import { type ComparedEntry, tableList } from '../../../../app/commands/tables/check/table-list.ts';
import type { CheckedMapping } from '../../../../app/tables/mapping/resolve-mapping.ts';

const problem = { path: 'tables[0]', message: 'is wrong', allowed: 'what is right' };

/** Of a mapping nothing is looked at but whether there is one. */
const MAPPING = {} as CheckedMapping;

const compared = (table: string, { mapping = null, ...more }: Partial<ComparedEntry> = {}): ComparedEntry => ({
  entry: { topics: [`shop.${table}`], schema: 'public', table, key: null, fields: 'same', columns: {}, ...more.entry },
  problems: mapping === null ? [problem] : [],
  isThere: true,
  ...more,
  mapping,
});

const unwanted = (table: string): ComparedEntry => {
  const { entry, ...missing } = compared(table, { isThere: false });
  return { ...missing, entry: { ...entry, isUnwantedWhileMissing: true } };
};

const list = (
  entries: readonly ComparedEntry[],
  templated: readonly string[] = entries.map(({ entry }) => entry.table),
) =>
  tableList(
    {
      entries,
      waiting: new Map([['shop.x', { ...problem, path: 'tables[1]' }]]),
      isTemplated: (topic) => templated.some((table) => topic === `shop.${table}`),
    },
    () => (entries.length === 1 ? ['WARNING: look'] : []),
  );

test('a table that fits has its warnings below it', () => {
  const { text, problems, missing } = list([compared('a', { mapping: MAPPING })]);
  expect(text.split('\n').slice(0, 5)).toEqual([
    'shop.a -> public.a: fits, with a warning',
    '  WARNING: look',
    'shop.x: waits: the settings do not say enough of it',
    '',
    '1 tables: 1 fits, with a warning; 1 topic waits',
  ]);
  expect({ problems: problems.map(({ path }) => path), missing }).toEqual({ problems: ['tables[1]'], missing: 0 });
});

test('of tables that are missing only those that the settings name are problems', () => {
  const entries = [
    compared('a', { mapping: MAPPING }),
    compared('b', { isThere: false }),
    compared('c', { isThere: false }),
  ];
  const { text, problems, missing } = list([...entries, unwanted('d'), compared('e')], ['c', 'd', 'e']);
  expect(text.split('\n')).toEqual([
    'shop.a -> public.a: fits',
    'shop.b -> public.b: does not fit',
    'shop.c -> public.c: is not there',
    'shop.d -> public.d: is not there, and missing: ignore asks for none',
    'shop.e -> public.e: does not fit',
    'shop.x: waits: the settings do not say enough of it',
    '',
    '5 tables: 1 fits; 2 do not fit; 1 is not there; 1 is not there, and missing: ignore asks for none; 1 topic waits',
    'stream-consumer tables check --table NAME prints all about one of them',
    'stream-consumer tables ddl prints the CREATE TABLE of each that is not there',
  ]);
  expect({ problems: problems.length, missing }).toEqual({ problems: 3, missing: 1 });
});
