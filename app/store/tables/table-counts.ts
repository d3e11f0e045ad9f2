import type { TableCounts, TableLetters, TableRecords } from '../../stream/ports/record-sink.ts';
import type { Admitted, TableRows } from './admit.ts';
import type { RefusedRecord } from './table.ts';

/**
 * What was done with the records of a committed transaction in tables of the user's own, for the metrics.
 *
 * @param poison records that PostgreSQL refused in it. @default none
 */
export function tableCounts(
  { admitted, refused, batches, unmappedFields, unmatched }: Admitted,
  poison: readonly RefusedRecord[] = [],
): { readonly tables?: TableCounts } {
  if (batches.every(({ table }) => table.operation === undefined)) {
    return {};
  }
  const places = admitted.indexesOf(new Set(poison.map(({ place }) => place)));
  const operations = operationsOf(batches, admitted.length, places);
  return { tables: { operations, deadLetters: lettersOf([...refused, ...poison]), unmappedFields, unmatched } };
}

/**
 * Records by table and by what became of them there; those that a table does not take are none of it.
 *
 * @param records how many the rows are of
 * @param refused places of those that are dead letters
 */
function operationsOf(
  batches: readonly TableRows[],
  records: number,
  refused: readonly number[],
): readonly TableRecords[] {
  return batches.flatMap(({ table: { name: table, operation }, rows }) => {
    if (operation === undefined) {
      return [];
    }
    const written = refused.reduce((left, place) => left - rows.rowsIn(place, place + 1), rows.length);
    const letters = new Set(refused);
    const [deletes = 0, unmatched = 0] = [rows.deletes, rows.unmatched].map(
      (places) => [...places].filter((place) => !letters.has(place)).length,
    );
    const counts = [
      { table, operation, records: written - deletes },
      { table, operation: 'delete', records: deletes },
      { table, operation: 'skip', records: records - refused.length - written - unmatched },
    ] as const;
    return counts.filter((count) => count.records > 0);
  });
}

/** Those that a table of the user's own made. */
function lettersOf(letters: readonly RefusedRecord[]): readonly TableLetters[] {
  const counts = new Map<string, TableLetters>();
  for (const { target: table, targetColumn: column = '', reason } of letters) {
    if (table !== undefined) {
      const key = JSON.stringify([table, column, reason]);
      counts.set(key, { table, column, reason, records: (counts.get(key)?.records ?? 0) + 1 });
    }
  }
  return [...counts.values()];
}
