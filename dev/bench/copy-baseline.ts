import pg, { escapeIdentifier } from 'pg';
import { copyInto } from '../../app/store/copy-query.ts';
import { RECORDS, RecordRows } from '../../app/store/record-rows.ts';
import { MIGRATIONS } from '../../app/store/schema-migrations.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from './benchmark-records.ts';

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
