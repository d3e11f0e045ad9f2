import { beforeAll, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { openKeyed } from './open-keyed.ts';

/** Another test file puts an extension into a schema that it drops. */
const database = randomName('domains');

beforeAll(() => query(`CREATE DATABASE ${database}`));

const TYPES = `CREATE EXTENSION hstore; CREATE DOMAIN ?.pairs AS hstore; CREATE DOMAIN ?.octet AS bit(8);
  CREATE DOMAIN ?.flags AS bit varying; CREATE DOMAIN ?.place AS point; CREATE DOMAIN ?.home AS ?.place NOT NULL;
  CREATE DOMAIN ?.days AS daterange;`;

const UNITS = { pairs: 'json', octet: 'bits', flags: 'bits', place: 'point', home: 'point' } as const;

const base64 = (...bytes: number[]): string => Buffer.from(bytes).toString('base64');

/** A table whose columns have the names of their domains. */
const opened = () =>
  openKeyed({
    database,
    ddl: `${TYPES} CREATE TABLE ?.filled (id int PRIMARY KEY, ${[...Object.keys(UNITS), 'days'].map((name) => `${name} ?.${name}`).join(', ')})`,
    tables: [
      {
        ...{ table: '?.filled', key: 'id', envelope: 'debezium' },
        columns: Object.fromEntries(Object.entries(UNITS).map(([from, as]) => [from, { from, as }])),
      },
    ],
    settings: { deadLetters: { maxRatio: 1 } },
  });

test('a unit reads values for a domain as for the type that it is made of', async () => {
  const store = await opened();
  const event = (id: number, more: object) => ({
    key: JSON.stringify({ id }),
    value: { op: 'c', after: { id, home: { x: 1, y: 2 }, ...more } },
  });
  await store.write([
    event(1, {
      ...{
        pairs: '{"a":"x","b":null}',
        octet: base64(0x05),
        flags: base64(0x0a, 0x01),
        days: '[2026-01-01,2026-02-01)',
      },
      place: { x: 1.5, y: -2, wkb: base64(1) },
    }),
    event(2, { pairs: '{"a":1}' }),
    event(3, { octet: base64(1, 1) }),
    event(4, { days: '[now,)' }),
    event(5, { home: null }),
  ]);
  const texts = [...Object.keys(UNITS), 'days'].map((name) => `${name}::text`).join(', ');
  expect(await store.run(`SELECT id, ${texts} FROM ?.filled`)).toEqual([
    {
      ...{
        id: 1,
        pairs: '"a"=>"x", "b"=>NULL',
        octet: '00000101',
        flags: '100001010',
        days: '[2026-01-01,2026-02-01)',
      },
      ...{ place: '(1.5,-2)', home: '(1,2)' },
    },
  ]);
  expect(await store.letters()).toEqual([
    { at: 1, reason: 'value_does_not_fit', column: 'pairs' },
    { at: 2, reason: 'value_does_not_fit', column: 'octet' },
    { at: 3, reason: 'value_does_not_fit', column: 'days' },
    { at: 4, reason: 'missing_value', column: 'home' },
  ]);
});
