import { query } from './database.ts';
import { until } from './until.ts';

/** Where to look, and what is waited for; the topic is the only one of the schema and has one partition. */
export interface ExpectedPosition {
  readonly schema: string;
  /** The `next_offset` to wait for. */
  readonly offset: number;
  /** @default the shared PostgreSQL */
  readonly url?: string;
  /** Milliseconds to wait. @default 60000 */
  readonly timeout?: number;
}

/** Waits until the consumer has committed everything before an offset. */
export async function awaitPosition({ schema, offset, url, timeout }: ExpectedPosition): Promise<void> {
  const reached = async () => {
    const [row] = await query<{ next: number }>(`SELECT next_offset::int AS next FROM ${schema}.offsets`, [], url);
    return row?.next === offset ? true : undefined;
  };
  await until(`next_offset ${offset} in ${schema}`, reached, timeout);
}
