import type { TableCounts, TableRecords } from '../stream/record-sink.ts';
import type { Admitted, RefusedRecord, TargetRows } from './row-target.ts';

/**
 * What was done with the records of a committed transaction in tables of the user's own, for the metrics.
 *
 * @param poison records that PostgreSQL refused in it. @default none
 */
export function tableCounts(
  { admitted, batches, unmappedFields }: Admitted,
  poison: readonly Pick<RefusedRecord, 'record'>[] = [],
): { readonly tables?: TableCounts } {
  if (batches.every(({ target }) => target.operation === undefined)) {
    return {};
  }
  const letters = new Set(poison.map(({ record }) => record));
  const refused = admitted.flatMap((record, place) => (letters.has(record) ? place : []));
  return { tables: { operations: operationsOf(batches, admitted.length, refused), unmappedFields } };
}

/**
 * Records by table and by what became of them there.
 *
 * @param records how many the rows are of
 * @param refused places of those that are dead letters
 */
function operationsOf(
  batches: readonly TargetRows[],
  records: number,
  refused: readonly number[],
): readonly TableRecords[] {
  return batches.flatMap(({ target: { name: table, operation }, rows }) => {
    if (operation === undefined) {
      return [];
    }
    const written = refused.reduce((left, place) => left - rows.rowsIn(place, place + 1), rows.length);
    const counts = [
      { table, operation, records: written },
      { table, operation: 'skip', records: records - refused.length - written },
    ] as const;
    return counts.filter((count) => count.records > 0);
  });
}
