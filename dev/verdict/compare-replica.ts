import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { SourceTable } from '../change-events/source-tables.ts';
import { differingRows } from './compare-rows.ts';
import type { Finding } from './finding.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** A table at its source, and its replica. */
interface ComparedReplica {
  /** A connection to the source, where the table is in the schema `public`. */
  readonly source: pg.Client;
  /** A connection to the replica. */
  readonly replica: pg.Client;
  /** Schema of the replica. */
  readonly schema: string;
  readonly table: SourceTable;
  /** The text that the replica has in the place of the source's NULL, by column. @default NULL is NULL */
  readonly nulls?: Readonly<Record<string, string>>;
}

/**
 * Compares a table with its replica by `EXCEPT` both ways, each column as PostgreSQL's own text of it. The source's
 * columns count; its rows are copied to the replica's database for that.
 */
export async function compareReplica({
  source,
  replica,
  schema,
  table,
  nulls = {},
}: ComparedReplica): Promise<Finding> {
  const columns = await columnsOf(source, table.name);
  const texts = columns.map((column) => `${escapeIdentifier(column)}::text`);
  const sent = columns.map((column, nth) => {
    const text = nulls[column];
    return text === undefined ? texts[nth] : `coalesce(${texts[nth]}, ${escapeLiteral(text)})`;
  });
  const own = `SELECT ${texts.join(', ')} FROM ${escapeIdentifier(schema)}.${table.name}`;
  const definitions = columns.map((column) => `${escapeIdentifier(column)} text`).join(', ');
  await Promise.all([source, replica].map((client) => client.query(`SET timezone TO 'UTC'`)));
  await replica.query(`CREATE TEMP TABLE at_source (${definitions})`);
  await pipeline(
    source.query(copyTo(`COPY (SELECT ${sent.join(', ')} FROM public.${table.name}) TO STDOUT`)),
    replica.query(copyFrom('COPY at_source FROM STDIN')),
  );
  const key = (row: string) => table.key.map((column) => `${row}.${escapeIdentifier(column)}`);
  const same = key('s').map((column, nth) => `${column} = ${key('r')[nth]}`);
  const place = key('s').map((column, nth) => `coalesce(${column}, ${key('r')[nth]})`);
  await replica.query(`
    CREATE TEMP TABLE differing AS
    SELECT concat_ws('/', ${place.join(', ')}) AS place, to_jsonb(s) AS wanted, to_jsonb(r) AS got
      FROM (TABLE at_source EXCEPT ${own}) s FULL JOIN (${own} EXCEPT TABLE at_source) r ON ${same.join(' AND ')}`);
  const { rows } = await replica.query<{ expected: string }>('SELECT count(*) AS expected FROM at_source');
  await replica.query('DROP TABLE at_source');
  const name = `${schema}.${table.name}`;
  const expected = BigInt(rows[0]?.expected ?? 0);
  return differingRows(replica, { name, check: `rows of ${name}, as at the source`, expected, primaryKey: table.key });
}

/** The table's columns, in their order. */
async function columnsOf(source: pg.Client, table: string): Promise<readonly string[]> {
  const { rows } = await source.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [`public.${table}`],
  );
  return rows.map(({ name }) => name);
}
