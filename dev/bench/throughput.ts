import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg, { escapeIdentifier } from 'pg';
import { copyInto } from '../../app/store/copy-query.ts';
import { RECORDS, RecordRows } from '../../app/store/record-rows.ts';
import { MIGRATIONS } from '../../app/store/schema-migrations.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { Stack } from '../stack/local-stack.ts';
import { BENCH_SCHEMA, cpuSeconds, startBenchConsumer } from './bench-consumer.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from './produce-records.ts';

const ROWS_PER_TRANSACTION = 10_000;
const SCHEMA = 'copy_baseline';

function* readyMadeRows(records: number): Generator<Buffer> {
  for (let from = 0; from < records; from += ROWS_PER_TRANSACTION) {
    const count = Math.min(ROWS_PER_TRANSACTION, records - from);
    const batch = Array.from({ length: count }, (_, nth) => ({
      ...benchmarkRecord(from + nth),
      offset: BigInt(from + nth),
      timestamp: 1_700_000_000_000n,
      headers: [BENCHMARK_HEADER],
    }));
    yield new RecordRows('orders', 0, batch).part(0, count);
  }
}

/**
 * What PostgreSQL can take from one connection: COPY of rows that were made before the clock starts, into the very table
 * that the consumer writes, 10,000 a transaction.
 *
 * @returns rows per second
 */
export async function copyBaseline(databaseUrl: string, records: number): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const schema = escapeIdentifier(SCHEMA);
    await client.query(`CREATE SCHEMA ${schema}; ${MIGRATIONS[0]?.sql(schema) ?? ''}`);
    const transactions = [...readyMadeRows(records)];
    await client.query('CHECKPOINT');
    const began = performance.now();
    for (const rows of transactions) {
      await copyInto(client, SCHEMA, RECORDS, rows);
    }
    const seconds = (performance.now() - began) / 1_000;
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    return records / seconds;
  } finally {
    await client.end();
  }
}

const POLL_MS = 50;

/** What one run of the consumer over the whole topic took. */
interface ConsumeResult {
  readonly rowsPerSecond: number;
  /** Processor time of the consumer's process, in seconds. */
  readonly cpuSeconds: number;
  /** Most resident memory that it had, in bytes. */
  readonly peakMemoryBytes: number;
}

function peakMemoryBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024;
}

/** When the last transaction was committed, or undefined while records are missing. */
async function finishedAt(client: pg.Client, records: number): Promise<Date | undefined> {
  const { rows } = await client
    .query<{ total: string | null; last: Date }>(
      `SELECT sum(next_offset) AS total, max(updated_at) AS last FROM ${BENCH_SCHEMA}.offsets`,
    )
    .catch(() => ({ rows: [] }));
  return Number(rows[0]?.total) >= records ? rows[0]?.last : undefined;
}

/**
 * Starts the consumer over a topic that is full and waits until PostgreSQL holds all of it. The clock runs from the
 * assignment of the partitions to the last transaction: it includes the first fetch, but not the start of the process.
 *
 * @param stack both parts
 * @throws ExplainedError when the consumer ends before it is done
 */
export async function consumeRecords(
  stack: Stack,
  topic: string,
  records: number,
  env: Record<string, string>,
): Promise<ConsumeResult> {
  const consumer = await startBenchConsumer(stack, topic, env);
  const assigned = JSON.parse(await consumer.logs.waitFor(/"msg":"assigned"/)) as { time: string };
  const client = new pg.Client({ connectionString: stack.postgres?.urlWithPassword });
  await client.connect();
  let ended = false;
  void consumer.exited.then(() => {
    ended = true;
  });
  let last = await finishedAt(client, records);
  while (last === undefined) {
    if (ended) {
      throw new ExplainedError(`The consumer ended before it was done:\n${consumer.logs.all.slice(-5).join('\n')}`);
    }
    await delay(POLL_MS);
    last = await finishedAt(client, records);
  }
  const figures = { cpuSeconds: cpuSeconds(consumer.pid), peakMemoryBytes: peakMemoryBytes(consumer.pid) };
  await client.end();
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { ...figures, rowsPerSecond: (records * 1_000) / (last.getTime() - Date.parse(assigned.time)) };
}
