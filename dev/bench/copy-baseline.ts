import { finished } from 'node:stream/promises';
import pg, { escapeIdentifier } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { encodeCopy } from '../../app/store/copy-binary.ts';
import { encodeRecord, RECORDS } from '../../app/store/row-encoding.ts';
import { MIGRATIONS } from '../../app/store/schema-migrations.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from './benchmark-records.ts';

const ROWS_PER_TRANSACTION = 10_000;
const SCHEMA = 'copy_baseline';

function* readyMadeBuffers(records: number): Generator<Buffer> {
  for (let from = 0; from < records; from += ROWS_PER_TRANSACTION) {
    const count = Math.min(ROWS_PER_TRANSACTION, records - from);
    const rows = Array.from({ length: count }, (_, nth) => {
      const record = { ...benchmarkRecord(from + nth), offset: BigInt(from + nth), timestamp: 1_700_000_000_000n };
      return encodeRecord('orders', 0, { ...record, headers: [BENCHMARK_HEADER] });
    });
    yield encodeCopy(rows);
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
    const buffers = [...readyMadeBuffers(records)];
    await client.query('CHECKPOINT');
    const began = performance.now();
    const columns = RECORDS.columns.map(escapeIdentifier).join(', ');
    for (const buffer of buffers) {
      const stream = client.query(copyFrom(`COPY ${schema}.records (${columns}) FROM STDIN (FORMAT binary)`));
      stream.end(buffer);
      await finished(stream);
    }
    const seconds = (performance.now() - began) / 1_000;
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    return records / seconds;
  } finally {
    await client.end();
  }
}
