import { query } from './database.ts';
import { until } from './until.ts';

/** Where to look, and what is waited for. */
export interface Expected {
  readonly schema: string;
  readonly topic: string;
  /** Records that were produced to the topic. */
  readonly records: number;
  /** @default the shared PostgreSQL */
  readonly url?: string;
  /** Milliseconds to wait. @default 60000 */
  readonly timeout?: number;
}

/**
 * Rows and dead letters together, and the offsets that they are of. PostgreSQL counts them: the rows of a long test are
 * millions, and would block this process, with the servers that it is for a consumer, for seconds.
 */
async function accounted({ schema, topic, url }: Expected): Promise<{ rows: number; offsets: number }> {
  const [counts = { rows: 0, offsets: 0 }] = await query<{ rows: number; offsets: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT (partition, "offset"))::int AS offsets
       FROM (SELECT partition, "offset" FROM ${schema}.records WHERE topic = $1
              UNION ALL SELECT partition, "offset" FROM ${schema}.dead_letters WHERE topic = $1) AS place`,
    [topic],
    url,
  );
  return counts;
}

/** Waits until as many records as were produced are in `records` and `dead_letters`, and makes sure that each is there once. */
export async function awaitEachOnce(expected: Expected): Promise<void> {
  const what = `${expected.records} records of ${expected.topic}`;
  const { rows, offsets } = await until(
    what,
    async () => {
      const found = await accounted(expected);
      return found.rows >= expected.records ? found : undefined;
    },
    expected.timeout,
  );
  if (rows !== expected.records || offsets !== expected.records) {
    throw new Error(`${what}: ${rows} rows for ${offsets} offsets`);
  }
}
