import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ProducedRecord } from '../orders/produced-records.ts';
import type { SampleHeader } from '../orders/sample-record.ts';

const CHUNK_BYTES = 65_536;
const NULL = '\\N';

/** Puts what was produced beside what was written: into the temporary table `expected` of the connection. */
export async function loadExpected(client: pg.Client, records: Iterable<ProducedRecord>): Promise<void> {
  await client.query(
    `CREATE TEMP TABLE expected (
       partition int, "offset" bigint, reason text, key bytea, headers jsonb, value bytea,
       PRIMARY KEY (partition, "offset"))`,
  );
  await pipeline(Readable.from(copyText(records)), client.query(copyFrom('COPY expected FROM STDIN')));
  await client.query('ANALYZE expected');
}

function* copyText(records: Iterable<ProducedRecord>): Generator<string> {
  let chunk = '';
  for (const { partition, offset, reason, key, headers, value } of records) {
    chunk += [partition, offset, reason ?? NULL, bytea(key), headerText(headers), bytea(value)].join('\t');
    chunk += '\n';
    if (chunk.length > CHUNK_BYTES) {
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

/** COPY takes a backslash for an escape: two of them are one. */
const bytea = (bytes: Buffer | null): string => (bytes === null ? NULL : `\\\\x${bytes.toString('hex')}`);

/** As the consumer is to write them: text where it is UTF-8 without NUL, else base64. */
function headerText(headers: readonly SampleHeader[]): string {
  const entries = headers.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? value : { base64: value.toString('base64') },
  }));
  return JSON.stringify(entries).replaceAll('\\', '\\\\');
}
