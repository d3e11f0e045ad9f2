import type pg from 'pg';

/** Those that hold tables and their columns, temporary ones included. */
const CATALOGS = ['pg_class', 'pg_attribute'] as const;

/** A catalog of PostgreSQL at one time. */
interface CatalogState {
  readonly catalog: string;
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
  /** Rows and new versions of rows that were written since the database was made. */
  readonly written: number;
}

/** How a catalog grew while it was watched. */
export interface CatalogGrowth extends CatalogState {
  /** Of its file and indexes. */
  readonly bytesAnHour: number;
  readonly writtenAnHour: number;
}

const STATES = `
  SELECT relname AS catalog, pg_total_relation_size(relid)::float8 AS bytes, n_live_tup::float8 AS live,
         n_dead_tup::float8 AS dead, (n_tup_ins + n_tup_upd)::float8 AS written
    FROM pg_stat_sys_tables WHERE schemaname = 'pg_catalog' AND relname = ANY ($1) ORDER BY relname DESC`;

/** The catalogs now. A session reports what it wrote a second after its transaction at the latest. */
export async function readCatalogs(client: pg.Client): Promise<readonly CatalogState[]> {
  const { rows } = await client.query<CatalogState>(STATES, [CATALOGS]);
  return rows;
}

const SECONDS_AN_HOUR = 3_600;

/** How the catalogs grew between two looks, as if they went on so for an hour. */
export const catalogGrowth = (
  before: readonly CatalogState[],
  after: readonly CatalogState[],
  seconds: number,
): readonly CatalogGrowth[] =>
  after.map((state, nth) => {
    const anHour = (of: 'bytes' | 'written') =>
      ((state[of] - (before[nth]?.[of] ?? Number.NaN)) * SECONDS_AN_HOUR) / seconds;
    return { ...state, bytesAnHour: anHour('bytes'), writtenAnHour: anHour('written') };
  });
