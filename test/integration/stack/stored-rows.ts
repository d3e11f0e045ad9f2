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

/** How often each offset is there, rows and dead letters together, as `partition/offset`. */
async function accounted({ schema, topic, url }: Expected): Promise<readonly string[]> {
  const rows = await query<{ place: string }>(
    `SELECT partition || '/' || "offset" AS place FROM ${schema}.records WHERE topic = $1
     UNION ALL SELECT partition || '/' || "offset" FROM ${schema}.dead_letters WHERE topic = $1`,
    [topic],
    url,
  );
  return rows.map(({ place }) => place);
}

/** Waits until as many records as were produced are in `records` and `dead_letters`, and makes sure that each is there once. */
export async function awaitEachOnce(expected: Expected): Promise<void> {
  const what = `${expected.records} records of ${expected.topic}`;
  const places = await until(
    what,
    async () => {
      const found = await accounted(expected);
      return found.length >= expected.records ? found : undefined;
    },
    expected.timeout,
  );
  if (places.length !== expected.records || new Set(places).size !== expected.records) {
    throw new Error(`${what}: ${places.length} rows for ${new Set(places).size} offsets`);
  }
}
