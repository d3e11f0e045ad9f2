import type pg from 'pg';
import { lastStates, type ProducedRecord } from '../orders/sample-producer.ts';
import { CUSTOMERS, expectedRow, qualified, type SampleTable } from '../orders/sample-tables.ts';
import { EXAMPLES, finding, loadExpected, type Problem } from './compare-tables.ts';
import type { Finding } from './finding.ts';

/** A value as SQL, cut where it is long. */
const shown = (json: string): string => `left((${json})::text, 60)`;

/** A table of sample records, and what it has to hold. */
interface ComparedTable {
  readonly schema: string;
  readonly table: SampleTable;
  /** Query of the columns `value` (jsonb), `partition` and `offset` of the records that have to be its rows. */
  readonly records: string;
  /** Whether a row that none of the records makes is a difference. */
  readonly isWhole: boolean;
}

/** Query of a topic's records that {@link loadExpected} has loaded and that have to be rows. */
export const goodRecords = (loaded: 'expected' | 'last_states', topic: string): string =>
  `SELECT partition, "offset", convert_from(value, 'UTF8')::jsonb AS value
   FROM ${loaded} WHERE topic = '${topic}' AND reason IS NULL`;

/**
 * Compares the table of customers with a Map that took their changes, those of each key in the order of their offsets.
 */
export const compareCustomers = (
  client: pg.Client,
  schema: string,
  changes: Iterable<ProducedRecord>,
): Promise<Finding> => compareStates(client, schema, CUSTOMERS, lastStates(changes));

/** Compares a table with the records that say the last state of each of its keys, and no others. */
export async function compareStates(
  client: pg.Client,
  schema: string,
  table: SampleTable,
  states: ReadonlyMap<string, ProducedRecord>,
): Promise<Finding> {
  await loadExpected(client, table.name, states.values(), 'last_states');
  const records = goodRecords('last_states', table.name);
  return compareRows(client, { schema, table, records, isWhole: true });
}

/**
 * Compares a table with the rows that records have to be, column by column, in PostgreSQL itself. What a row has to be
 * is PostgreSQL's own word; the table's primary key sees to it that none is there twice.
 */
export async function compareRows(client: pg.Client, compared: ComparedTable): Promise<Finding> {
  const { schema, table, records, isWhole } = compared;
  const name = `${schema}.${table.name}`;
  const key = (row: string) => table.primaryKey.map((column) => `${row}."${column}"`);
  const expected = `SELECT row_of.* FROM (${records}) AS record, ${expectedRow(schema, table)} AS row_of`;
  const same = key('e').map((column, nth) => `${column} = ${key('t')[nth]}`);
  const place = key('e').map((column, nth) => `coalesce(${column}, ${key('t')[nth]})::text`);
  await client.query(`
    CREATE TEMP TABLE differing AS
    SELECT concat_ws('/', ${place.join(', ')}) AS place, to_jsonb(e) AS wanted, to_jsonb(t) AS got
      FROM (${expected}) e ${isWhole ? 'FULL' : 'LEFT'} JOIN ${qualified(schema, table)} t ON ${same.join(' AND ')}
     WHERE ROW(e.*) IS DISTINCT FROM ROW(t.*)`);
  const { rows } = await client.query<{ expected: string }>(`SELECT count(*) AS expected FROM (${records}) AS record`);
  return differingRows(client, {
    name,
    check: `rows of ${name}, column by column`,
    expected: BigInt(rows[0]?.expected ?? 0),
    primaryKey: table.primaryKey,
  });
}

/** What was compared into the table `differing`. */
interface Compared {
  /** The table's name. */
  readonly name: string;
  readonly check: string;
  /** How many rows it has to have. */
  readonly expected: bigint;
  readonly primaryKey: readonly string[];
}

/**
 * The finding of the temporary table `differing` of the connection, which is dropped: the place of each row that is not
 * as it has to be, and what it has to be and is, as JSON, with NULL for a row that is not there.
 */
export async function differingRows(
  client: pg.Client,
  { name, check, expected, primaryKey }: Compared,
): Promise<Finding> {
  const { rows } = await client.query<Problem>(
    `SELECT problem, count(*) AS number, (array_agg(place || shown ORDER BY place, shown))[1:${EXAMPLES}] AS examples
     FROM (SELECT place, 'missing in ${name}' AS problem, '' AS shown FROM differing WHERE got IS NULL
           UNION ALL SELECT place, 'in ${name}, and not expected there', '' FROM differing WHERE wanted IS NULL
           UNION ALL
           SELECT place, 'another ' || w.key, ': expected ' || ${shown('w.value')} || ', got ' || ${shown('got -> w.key')}
             FROM differing, jsonb_each(wanted) w WHERE w.value IS DISTINCT FROM got -> w.key AND got IS NOT NULL
     ) AS found GROUP BY problem ORDER BY problem`,
  );
  const { rows: totals } = await client.query<{ wrong: string }>('SELECT count(*) AS wrong FROM differing');
  await client.query('DROP TABLE differing');
  return finding(check, {
    expected,
    wrong: BigInt(totals[0]?.wrong ?? 0),
    problems: rows,
    place: primaryKey.join('/'),
  });
}
