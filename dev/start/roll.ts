import pg from 'pg';
import { ExplainedError } from '../run/explained-error.ts';
import { freePort } from '../run/free-port.ts';
import type { Screen } from '../run/screen.ts';
import { count } from '../verdict/finding.ts';
import { awaitAccounted, type Positions } from '../verdict/positions.ts';
import type { Job } from './job.ts';

/** How long orders had to wait, in seconds. */
interface OrderDelays {
  readonly orders: number;
  readonly median: number | null;
  readonly longest: number | null;
}

/**
 * Replaces the consumer by another process, and that one by a third one at the first one's port, so that the links of
 * the screen are right again. It reports how long orders had to wait meanwhile.
 */
export async function rollConsumer(job: Job, screen: Screen, say: (line: string) => void): Promise<void> {
  const { consumer, positions } = job;
  const began = await positions.read();
  const { pid, port: usualPort } = consumer.current;
  say(`rolling       process ${pid} works; another one is started beside it, while orders come`);
  for (const port of [await freePort(), usualPort]) {
    const { before, after, upMs, goneMs } = await consumer.replace(port);
    say(
      `replaced      process ${after.pid} is UP after ${seconds(upMs / 1_000)}; then process ${before.pid} was stopped, which took ${seconds(goneMs / 1_000)}`,
    );
    screen.line(`consumer    replaced, process ${after.pid}, port ${after.port}`);
  }
  const { end } = await positions.read();
  const accounted = await awaitAccounted(
    end,
    () => positions.read(),
    () => !consumer.ended.aborted,
  );
  if (!accounted.isWell) {
    throw new ExplainedError(accounted.details.join('\n'));
  }
  const { orders, median, longest } = await delaysOf(job, began, end);
  if (median === null || longest === null) {
    say('orders        none came meanwhile');
    return;
  }
  say(`orders        ${count(orders)} came meanwhile and are in the table, none is missing`);
  say(
    `delay         longest ${seconds(longest)}, median ${seconds(median)}: from the order to the transaction with its row`,
  );
}

const seconds = (value: number): string => `${value.toFixed(2)} s`;

/** Of the orders from the positions of the beginning up to but without the end. */
async function delaysOf(
  { servers, names }: Job,
  { next, start }: Positions,
  end: Positions['end'],
): Promise<OrderDelays> {
  const client = new pg.Client({ connectionString: servers.databaseUrl });
  await client.connect();
  try {
    const partitions = [...end.keys()];
    const { rows } = await client.query<OrderDelays>(
      `WITH delays AS (
         SELECT extract(epoch FROM ingested_at - timestamp)::float8 AS delay FROM "${names.schema}".records AS record
           JOIN unnest($2::int[], $3::bigint[], $4::bigint[]) AS place (partition, first, next)
             ON record.partition = place.partition AND "offset" >= first AND "offset" < next
          WHERE topic = $1)
       SELECT count(*)::int AS orders, percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) AS median,
              max(delay) AS longest FROM delays`,
      [
        names.topic,
        partitions,
        partitions.map((partition) => String(next.get(partition) ?? start.get(partition) ?? 0n)),
        partitions.map((partition) => String(end.get(partition))),
      ],
    );
    return rows[0] ?? { orders: 0, median: null, longest: null };
  } finally {
    await client.end();
  }
}
