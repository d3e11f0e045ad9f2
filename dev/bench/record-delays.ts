import pg from 'pg';
import { print } from './figures.ts';

/** PostgreSQL keeps no time of a commit unless it is asked to. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' } as const;

/** SQLSTATE `undefined_table` and `undefined_column`. */
const UNDEFINED = new Set(['42P01', '42703']);

/** What records waited, from their timestamps to the commits of their rows, in milliseconds. */
export interface RecordDelays {
  readonly median: number;
  /** 99 of 100 records waited no longer. */
  readonly p99: number;
}

/**
 * The delays of the records of a schema. The server has to keep {@link COMMIT_TIMES}.
 *
 * @param window of their timestamps; milliseconds since 1970
 * @returns `undefined` where no table `records` has a column `timestamp`, or no record is of that time
 */
export async function recordDelays(
  client: pg.Client,
  schema: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<RecordDelays | undefined> {
  const { rows } = await client
    .query<RecordDelays>(
      `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY waited) AS median,
         percentile_disc(0.99) WITHIN GROUP (ORDER BY waited) AS p99
       FROM (SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin) - "timestamp")::float8 * 1000 AS waited
         FROM ${schema}.records WHERE "timestamp" BETWEEN to_timestamp($1::float8 / 1000) AND to_timestamp($2::float8 / 1000)) AS written`,
      [from, to],
    )
    .catch((error: unknown) => {
      if (error instanceof pg.DatabaseError && UNDEFINED.has(error.code ?? '')) {
        return { rows: [] };
      }
      throw error;
    });
  return rows[0]?.median === null ? undefined : rows[0];
}

export function printDelays(what: string, { median, p99 }: RecordDelays): void {
  print(what, `median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
}
