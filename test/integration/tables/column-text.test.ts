import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { RowRefused, storeWithoutPoison } from '../../../app/store/copy/isolate-poison.ts';
import type { MappedColumn } from '../../../app/tables/mapping/table-mapping.ts';
import { CopyText } from '../../../app/tables/rows/copy-text.ts';
import { rowColumn } from '../../../app/tables/rows/row-column.ts';
import { RowText } from '../../../app/tables/rows/row-text.ts';
import { type TestDatabase, withDatabase } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import { POSTGRES_MAJOR } from '../stack/postgres-version.ts';
import { COLUMN_KINDS, type ColumnKind, MAKE_TYPES, wildValues } from './column-kinds.ts';
import { DELIBERATE_DIFFERENCES, fieldsOf, oracleJson } from './deliberate-differences.ts';

const TAKES_DEFAULTS = POSTGRES_MAJOR >= 16;

/** A random column: what a counterexample shows of it. */
interface ColumnSpec {
  readonly sql: string;
  readonly isNotNull: boolean;
  readonly hasDefault: boolean;
}

interface TestColumn extends MappedColumn {
  readonly of: ColumnKind;
}

const columnsOf = (specs: readonly ColumnSpec[]): readonly TestColumn[] =>
  specs.flatMap(({ sql, isNotNull, hasDefault }, nth) => {
    const name = `c${nth}`;
    return COLUMN_KINDS.filter((kind) => kind.sql === sql).map((of) => ({
      name,
      type: of.type,
      source: { kind: 'field', path: [name] },
      isNotNull: isNotNull || of.isNotNull === true,
      hasDefault,
      of,
    }));
  });

const someColumns: fc.Arbitrary<ColumnSpec[]> = fc.uniqueArray(
  fc.record({
    sql: fc.constantFrom(...COLUMN_KINDS.map(({ sql }) => sql)),
    isNotNull: fc.boolean(),
    hasDefault: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6, selector: ({ sql }) => sql },
);

/** A field of a record: mostly what the type takes, or nearly; sometimes left out, `null`, or anything. */
const fieldOf = ({ name, of, isNotNull }: TestColumn): fc.Arbitrary<string> => {
  const field = (value: string) => `"${name}": ${value}`;
  return fc.oneof(
    { weight: 24, arbitrary: of.values.map(field) },
    { weight: isNotNull ? 1 : 12, arbitrary: fc.constant('') },
    { weight: isNotNull ? 1 : 4, arbitrary: fc.constant(field('null')) },
    { weight: 1, arbitrary: wildValues.map(field) },
  );
};

const MOST_ROWS = 200;

const tables = someColumns.chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    records: fc.array(
      fc
        .tuple(...columnsOf(columns).map(fieldOf))
        .map((fields) => `{${fields.filter((field) => field !== '').join(' ,')}}`),
      { minLength: 1, maxLength: MOST_ROWS, size: 'max' },
    ),
  }),
);

/** Why a record was not stored: a reason of ours, or a SQLSTATE. */
type Refusals = ReadonlyMap<number, string>;

/** Two tables alike, `taken` for COPY and `wanted` for the oracle, and the oracle: both number their rows. */
async function makeTables({ client, schema }: TestDatabase, columns: readonly TestColumn[]): Promise<void> {
  const definitions = columns.map(({ name, of, isNotNull, hasDefault }) => {
    const byDefault = hasDefault ? ` DEFAULT ${pg.escapeLiteral(of.byDefault)}` : '';
    return `${name} ${of.sql}${byDefault}${isNotNull ? ' NOT NULL' : ''}`;
  });
  // A json column is populated as text: jsonb_populate_record would give it what jsonb has made of the JSON.
  const shadows = columns.map(({ name, of }) => `${name} ${of.sql === 'json' ? 'text' : of.sql}`);
  await client.query(`
    DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; SET search_path TO ${schema};
    SET TimeZone TO 'UTC'; SET DateStyle TO 'ISO'; SET IntervalStyle TO 'postgres';
    ${MAKE_TYPES}
    CREATE TABLE taken (n int, ${definitions.join(', ')});
    CREATE TABLE wanted (LIKE taken INCLUDING ALL);
    CREATE TYPE shadow AS (${shadows.join(', ')});
    CREATE FUNCTION oracle(records text[]) RETURNS TABLE (place int, state text) LANGUAGE plpgsql AS $$
    DECLARE document jsonb;
    BEGIN
      FOR i IN 1..cardinality(records) LOOP
        document := NULL;
        BEGIN
          document := records[i]::jsonb;
          INSERT INTO wanted SELECT i - 1, ${columns.map(({ name, of }) => `s.${name}${of.sql === 'json' ? '::json' : ''}`).join(', ')}
            FROM jsonb_populate_record(NULL::shadow, document) s WHERE records[i] IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN
          place := i - 1;
          state := CASE WHEN document IS NULL THEN 'no jsonb: ' ELSE '' END || SQLSTATE;
          RETURN NEXT;
        END;
      END LOOP;
    END $$;`);
}

/** Copies the records into `taken`, as a writer of tables does. */
async function copyRecords({ client }: TestDatabase, columns: readonly TestColumn[], records: readonly string[]) {
  const refused = new Map<number, string>();
  const rows = new CopyText(64);
  const row = new RowText(rows, TAKES_DEFAULTS);
  const starts = [0];
  const places: number[] = [];
  for (const [place, record] of records.entries()) {
    const { end } = rows;
    const fields = fieldsOf(record);
    rows.text(String(place));
    const reason = columns
      .map((column) => row.json(rowColumn(column), fields.get(column.name)))
      .find((each) => each !== null);
    if (reason === undefined || reason === null) {
      rows.endRow();
      starts.push(rows.end);
      places.push(place);
    } else {
      rows.takeBack(end);
      refused.set(place, reason);
    }
  }
  const byDefault = TAKES_DEFAULTS ? ", DEFAULT '\\D'" : '';
  const statement = `COPY taken FROM STDIN (FORMAT text, ENCODING 'UTF8'${byDefault})`;
  const poison = await storeWithoutPoison(places.length, (first, end) =>
    pipeline(Readable.from([rows.slice(starts[first] ?? 0, starts[end] ?? 0)]), client.query(from(statement))).catch(
      (error: unknown) => Promise.reject(refusalOf(error)),
    ),
  );
  for (const { index, cause } of poison) {
    refused.set(places[index] ?? -1, cause.sqlstate);
  }
  return refused;
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) {
    return error;
  }
  const line = /^COPY taken, line (\d+)/m.exec(error.where ?? '')?.[1];
  return new RowRefused(error.code ?? '', line === undefined ? null : Number(line) - 1, { cause: error });
}

type Used = Set<(typeof DELIBERATE_DIFFERENCES)[number]>;

/** What the oracle gets for a record; `null` where the record is to be refused before it is sent. */
function oracleRecord(columns: readonly TestColumn[], record: string, used: Used): string | null {
  const fields = fieldsOf(record);
  const members = columns.flatMap(({ name, of, hasDefault }) => {
    const value = fields.get(name);
    const byDefault =
      hasDefault && TAKES_DEFAULTS ? [of.sql === 'jsonb' ? of.byDefault : JSON.stringify(of.byDefault)] : [];
    const json = value === undefined ? byDefault : [oracleJson(of.type, value, used)];
    return json.map((each) => (each === null ? null : `"${name}":${each}`));
  });
  return members.includes(null) ? null : `{${members.join()}}`;
}

/** Records that the two do not agree on. */
async function disagreements(database: TestDatabase, { columns: specs, records }: TestTable, used: Used) {
  const columns = columnsOf(specs);
  await makeTables(database, columns);
  const { client } = database;
  const refused = await copyRecords(database, columns, records);
  const oracle = records.map((record) => oracleRecord(columns, record, used));
  const states = await client.query<{ place: number; state: string }>('SELECT * FROM oracle($1)', [oracle]);
  const wanted: Refusals = new Map(states.rows.map(({ place, state }) => [place, state]));
  const differing = await client.query<{ n: number; taken: string; wanted: string }>(
    `SELECT n, t::text AS taken, w::text AS wanted FROM taken t FULL JOIN wanted w USING (n)
     WHERE t.n IS NOT NULL AND w.n IS NOT NULL AND t::text IS DISTINCT FROM w::text`,
  );
  const verdicts = records.flatMap((record, place) => {
    const [ours, theirs] = [refused.get(place), oracle[place] === null ? 'unsent' : wanted.get(place)];
    return agree(ours, theirs) ? [] : [{ record, ours: ours ?? 'stored', theirs: theirs ?? 'stored' }];
  });
  return { refused: refused.size, differing: differing.rows, verdicts };
}

interface TestTable {
  readonly columns: readonly ColumnSpec[];
  readonly records: readonly string[];
}

/** Classes of SQLSTATE that are about a value or a constraint, and a limit that a value exceeds. */
const OF_THE_ROW = /(22|23|54)...$/;

function agree(ours: string | undefined, theirs: string | undefined): boolean {
  if (ours === undefined || theirs === undefined) {
    return ours === theirs;
  }
  const isSent = /^[0-9A-Z]{5}$/.test(ours);
  if (theirs === 'unsent' || !isSent) {
    return !isSent && (theirs === 'unsent' || OF_THE_ROW.test(theirs));
  }
  // jsonb has read all of the record before the first column gets its value.
  return theirs.startsWith('no jsonb')
    ? OF_THE_ROW.test(ours)
    : OF_THE_ROW.test(ours) && ours.slice(0, 2) === theirs.slice(0, 2);
}

async function agreesOn(rows: number, parameters: { readonly numRuns: number; readonly seed?: number }): Promise<void> {
  const used: Used = new Set();
  const kinds = new Set<string>();
  const count = { refused: 0, records: 0 };
  await withDatabase((database) =>
    fc.assert(
      fc.asyncProperty(tables, async (table) => {
        const { refused, ...found } = await disagreements(database, table, used);
        expect(found).toEqual({ differing: [], verdicts: [] });
        for (const { sql } of table.columns) {
          kinds.add(sql);
        }
        count.refused += refused;
        count.records += table.records.length;
      }),
      parameters,
    ),
  );
  expect(DELIBERATE_DIFFERENCES.filter((difference) => !used.has(difference))).toEqual([]);
  expect(COLUMN_KINDS.filter(({ sql }) => !kinds.has(sql))).toEqual([]);
  expect(count.records).toBeGreaterThan(rows);
  expect(count.refused / count.records).toBeGreaterThan(0.2);
  expect(count.refused / count.records).toBeLessThan(0.8);
}

const NAME = 'COPY of the text stores what jsonb_populate_record makes of the record, or both refuse it';

test(NAME, () => agreesOn(2_000, { numRuns: 30, seed: 1 }));

longTest(`${NAME}, 20,000 records and other ones each time`, () => agreesOn(20_000, { numRuns: 250 }));
