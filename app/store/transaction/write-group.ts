import type { PoolClient } from 'pg';
import type { WriteOutcome, WriteRequest } from '../../stream/ports/record-sink.ts';
import { inFewPieces, type Memory, rowMemory } from '../copy/row-memory.ts';
import { type Admitted, admit } from '../tables/admit.ts';
import { allKinds, type Rows, type Table } from '../tables/table.ts';
import { movingOffsets, writeAtOnce } from './compare-and-set.ts';
import type { TableBatch } from './transaction-messages.ts';
import { asCommitted, reportingDeadlocks, requireTablesOnce, type Writer } from './write-records.ts';

/**
 * Requests of different partitions as one transaction, which does for each of them what a transaction alone would, or
 * nothing at all: it commits only if the offset of every partition was the expected one. Rows of the same table are one
 * COPY, whichever topics and partitions they are of.
 *
 * It never waits for another writer of one of the partitions: a row of `offsets` that is locked counts as not expected.
 *
 * @returns an outcome for each request; `null` when nothing was written and each has to be written by itself. One of
 * them is fenced, has dead letters, has an offset that another writer holds, or has rows that a trigger drops.
 */
export const writeGroup = (
  client: PoolClient,
  writer: Writer,
  requests: readonly WriteRequest[],
): Promise<readonly WriteOutcome[] | null> =>
  rowMemory.during((memory) => writeTogether(client, writer, requests, memory));

async function writeTogether(
  client: PoolClient,
  writer: Writer,
  requests: readonly WriteRequest[],
  memory: Memory,
): Promise<readonly WriteOutcome[] | null> {
  const parts = new Map<Table, Rows[]>();
  const written: { readonly request: WriteRequest; readonly admitted: Admitted }[] = [];
  for (const request of requests) {
    const admitted = admit(writer.tables.of(request.topic), request, memory);
    if (admitted.refused.length > 0) {
      return null;
    }
    written.push({ request, admitted });
    for (const { table, rows } of admitted.batches) {
      const others = parts.get(table);
      others === undefined ? parts.set(table, [rows]) : others.push(rows);
    }
  }
  const batches = writer.tables.inOrder(parts.keys()).map((table) => merged(table, parts.get(table) ?? [], memory));
  await requireTablesOnce(client, batches);
  const move = { moving: movingOffsets(writer, requests), gaps: requests };
  const filled = batches.filter(({ length }) => length > 0);
  const writeThem = () => writeAtOnce(client, writer, move, filled);
  if (filled.length === 0 || (await reportingDeadlocks(writer, requests, writeThem)) !== 'committed') {
    return null;
  }
  return written.map(({ request, admitted }) => asCommitted(writer, request, admitted));
}

/** Rows of the same table as one. */
const merged = (table: Table, parts: readonly Rows[], memory: Memory): TableBatch => ({
  table,
  rows: inFewPieces(
    parts.map((rows) => rows.all),
    memory,
  ),
  length: parts.reduce((sum, { length }) => sum + length, 0),
  ...allKinds(parts.map(({ kinds }) => kinds)),
});
