import { setTimeout as delay } from 'node:timers/promises';
import pg, { escapeIdentifier } from 'pg';
import { copyInto, copyStatement } from '../../app/store/binary-copy.ts';
import { MIGRATIONS } from '../../app/store/migrations.ts';
import { encodeRecords, RECORDS } from '../../app/store/record-rows.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { Stack } from '../stack/local-stack.ts';
import {
  BENCH_SCHEMA,
  type BenchTarget,
  childrenCpuSeconds,
  cpuSeconds,
  memoryBytes,
  startBenchConsumer,
} from './bench-consumer.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from './produce-records.ts';

/** Schema and transactions of the baseline. */
const BASELINE_SCHEMA = 'copy_baseline';
const ROWS_PER_TRANSACTION = 10_000;

/** Every record is taken. */
const ADMISSION = { maxValueBytes: Number.POSITIVE_INFINITY, keyEncoding: 'text' } as const;

const POLL_MS = 50;

function* readyMadeRows(records: number): Generator<Buffer> {
  for (let from = 0; from < records; from += ROWS_PER_TRANSACTION) {
    const count = Math.min(ROWS_PER_TRANSACTION, records - from);
    const batch = Array.from({ length: count }, (_, nth) => ({
      ...benchmarkRecord(from + nth),
      offset: BigInt(from + nth),
      timestamp: 1_700_000_000_000n,
      headers: [BENCHMARK_HEADER],
    }));
    yield encodeRecords({ topic: 'orders', partition: 0 }, batch, ADMISSION).rows.all;
  }
}

/**
 * The rate of COPY over one connection, 10,000 rows a transaction, into a table like the consumer's. The rows are ready
 * before the clock starts.
 *
 * @returns rows per second
 */
export async function copyBaseline(databaseUrl: string, records: number): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const schema = escapeIdentifier(BASELINE_SCHEMA);
    await client.query(`CREATE SCHEMA ${schema}; ${MIGRATIONS[0]?.sql(schema) ?? ''}`);
    const transactions = [...readyMadeRows(records)];
    await client.query('CHECKPOINT');
    const began = performance.now();
    for (const rows of transactions) {
      await copyInto(client, copyStatement(BASELINE_SCHEMA, RECORDS), { format: 'binary', rows });
    }
    const seconds = (performance.now() - began) / 1_000;
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    return records / seconds;
  } finally {
    await client.end();
  }
}

/** One run of the consumer over the whole topic. */
export interface ConsumeResult {
  readonly rowsPerSecond: number;
  /** Processor time of the consumer's process, in seconds. */
  readonly cpuSeconds: number;
  /** Processor time of all of PostgreSQL's processes meanwhile. */
  readonly postgresCpuSeconds: number;
  /** Its resident memory at the peak, in bytes. */
  readonly peakMemoryBytes: number;
}

/** Time of the last transaction; `undefined` while records are missing. */
async function finishedAt(client: pg.Client, schema: string, records: number): Promise<Date | undefined> {
  const { rows } = await client
    .query<{ total: string | null; last: Date }>(
      `SELECT sum(next_offset) AS total, max(updated_at) AS last FROM ${schema}.offsets`,
    )
    .catch(() => ({ rows: [] }));
  return Number(rows[0]?.total) >= records ? rows[0]?.last : undefined;
}

/**
 * Starts the consumer with the backlog of its topics and waits until PostgreSQL has all of the records. The clock runs from
 * the assignment of the partitions to the last transaction: it includes the first fetch, but not the start of the
 * process.
 *
 * @param stack Kafka and PostgreSQL
 * @throws ExplainedError when the consumer ends before it is done
 */
export async function consumeRecords(
  stack: Stack,
  target: BenchTarget,
  records: number,
  env: Record<string, string>,
): Promise<ConsumeResult> {
  const { schema = BENCH_SCHEMA } = target;
  const postgresPid = stack.postgres?.pid ?? 0;
  const before = childrenCpuSeconds(postgresPid);
  const consumer = await startBenchConsumer(stack, target, env);
  const assigned = JSON.parse(await consumer.logs.waitFor(/"msg":"assigned"/)) as { time: string };
  const client = new pg.Client({ connectionString: stack.postgres?.urlWithPassword });
  await client.connect();
  let ended = false;
  void consumer.exited.then(() => {
    ended = true;
  });
  let last = await finishedAt(client, schema, records);
  while (last === undefined) {
    if (ended) {
      throw new ExplainedError(`The consumer ended before it was done:\n${consumer.logs.all.slice(-5).join('\n')}`);
    }
    await delay(POLL_MS);
    last = await finishedAt(client, schema, records);
  }
  const figures = {
    cpuSeconds: cpuSeconds(consumer.pid),
    postgresCpuSeconds: childrenCpuSeconds(postgresPid) - before,
    peakMemoryBytes: memoryBytes(consumer.pid, 'VmHWM'),
  };
  await client.end();
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { ...figures, rowsPerSecond: (records * 1_000) / (last.getTime() - Date.parse(assigned.time)) };
}
