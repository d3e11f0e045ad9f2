import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { from } from 'pg-copy-streams';
import { valueAt } from '../../../app/tables/json/json-slice.ts';
import type { MappedColumn, Unit } from '../../../app/tables/mapping/table-mapping.ts';
import { CopyText } from '../../../app/tables/rows/copy-text.ts';
import { rowColumn } from '../../../app/tables/rows/row-column.ts';
import { RowText } from '../../../app/tables/rows/row-text.ts';
import { withDatabase } from '../stack/database.ts';

/** Seconds of a unit, as numeric, and how many of it are a day. */
const UNITS: readonly { readonly unit: Unit; readonly seconds: string; readonly perDay: bigint }[] = [
  { unit: 'epoch-days', seconds: '86400', perDay: 1n },
  { unit: 'epoch-seconds', seconds: '1', perDay: 86_400n },
  { unit: 'epoch-millis', seconds: '0.001', perDay: 86_400_000n },
  { unit: 'epoch-micros', seconds: '0.000001', perDay: 86_400_000_000n },
  { unit: 'epoch-nanos', seconds: '0.000000001', perDay: 86_400_000_000_000n },
];

const COLUMNS = [
  ['timestamp', 'timestamptz'],
  ['timestamp', 'timestamp'],
  ['date', 'date'],
  ['time', 'time'],
] as const;

const columnOf = ([kind, name]: (typeof COLUMNS)[number], unit: Unit): MappedColumn => ({
  name,
  type: { kind, name },
  source: { kind: 'field', path: [name] },
  unit,
  isNotNull: false,
  hasDefault: false,
});

/** The days from 1970 that timestamps reach back to 4713 BC, and on to 294276 AD. */
const FIRST_DAY = -2_440_587n;
const LAST_DAY = 106_762_939n;

const anyNumber = fc.constantFrom(...UNITS).chain(({ unit, seconds, perDay }) => {
  const far = fc.bigInt({ min: FIRST_DAY * perDay, max: LAST_DAY * perDay });
  const near = fc.bigInt({ min: -100_000n, max: 100_000n });
  const fraction = fc.constantFrom('', '', '.5', '.25', '.000001', '.1234567', '.9999994', '.000000001');
  const number = fc.tuple(fc.oneof(far, near), fraction, fc.constantFrom('', 'e0', 'E-3'));
  return fc.record({
    unit: fc.constant(unit),
    seconds: fc.constant(seconds),
    number: number.map((parts) => parts.join('')),
    isString: fc.boolean(),
  });
});

/**
 * What exact arithmetic gives: PostgreSQL's numeric. A tie is left out, as PostgreSQL rounds fractions of a second from
 * a double, to even; so is a time of day that is rounded up to 24:00.
 */
const DISAGREEMENTS = `
  WITH exact AS (SELECT *, number * seconds AS s, mod(mod(number * seconds, 86400) + 86400, 86400) AS clock FROM taken),
  apart AS (SELECT *, ((s - clock) / 86400)::int AS day FROM exact),
  wanted AS (
    SELECT *, make_interval(days => day, secs => round(clock, 6)::float) AS since FROM apart
    WHERE abs(s * 1e6 % 1) NOT BETWEEN 0.499 AND 0.501
  )
  SELECT number, seconds, c0, c1, c2, c3 FROM wanted
  WHERE c0 IS DISTINCT FROM timestamptz 'epoch' + since OR c1 IS DISTINCT FROM timestamp 'epoch' + since
    OR c2 IS DISTINCT FROM date 'epoch' + day
    OR (c3 IS DISTINCT FROM time '00:00' + make_interval(secs => round(clock, 6)::float) AND round(clock, 6) < 86400)`;

test('a number with a unit is the point in time that exact arithmetic gives, rounded to microseconds', async () => {
  await withDatabase(async ({ client, schema }) => {
    const columns = COLUMNS.map(([, sql], nth) => `c${nth} ${sql}`).join(', ');
    await client.query(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}; SET TimeZone TO 'UTC';
      CREATE TABLE taken (number numeric, seconds numeric, ${columns})`);
    const rows = new CopyText(1_000);
    const row = new RowText(rows, false);
    for (const { unit, seconds, number, isString } of fc.sample(anyNumber, { numRuns: 5_000, seed: 1 })) {
      rows.text(number);
      rows.text(seconds);
      const value = valueAt(Buffer.from(isString ? `"${number}"` : number), 0);
      expect(COLUMNS.map((column) => row.json(rowColumn(columnOf(column, unit)), value))).toEqual([
        null,
        null,
        null,
        null,
      ]);
      rows.endRow();
    }
    await pipeline(Readable.from([rows.slice(0, rows.end)]), client.query(from('COPY taken FROM STDIN')));
    expect((await client.query('SELECT FROM taken')).rowCount).toBe(5_000);
    expect((await client.query(DISAGREEMENTS)).rows).toEqual([]);
  });
});
