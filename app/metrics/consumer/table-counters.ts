import { DEAD_LETTER_REASONS, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { TABLE_OPERATIONS, type TableOperation } from '../../../contract/metrics/definition.ts';
import { tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { TableCounts, TableLetters } from '../../stream/ports/record-sink.ts';
import { LabelledCounts, type Labels, type MetricSources, type Sample } from '../exposition/metric-source.ts';

interface Count extends Sample {
  value: number;
}

const countOf = (labels: Labels): Count => ({ labels, value: 0 });

function addTo(count: Count | undefined, value: number): void {
  if (count !== undefined) {
    count.value += value;
  }
}

/**
 * Series of dead letters that name a column, at most, of all tables: a scrape beyond its limit is refused as a whole.
 */
const MOST_SERIES = 200;

/** Counts dead letters by table and column. */
class TableLetterCounts {
  readonly #ofNoColumn: ReadonlyMap<string, LabelledCounts<DeadLetterReason>>;
  readonly #ofColumns = new Map<string, Count>();

  constructor(tables: readonly string[]) {
    this.#ofNoColumn = new Map(
      tables.map((table) => [table, new LabelledCounts('reason', DEAD_LETTER_REASONS, { table, column: '' })]),
    );
  }

  add({ table, column, reason, records }: TableLetters): void {
    const ofNoColumn = this.#ofNoColumn.get(table);
    const key = JSON.stringify([table, column, reason]);
    const known = this.#ofColumns.get(key);
    if (ofNoColumn === undefined || column === '' || (known === undefined && this.#ofColumns.size >= MOST_SERIES)) {
      ofNoColumn?.add(reason, records);
      return;
    }
    const count = known ?? countOf({ table, column, reason });
    count.value += records;
    this.#ofColumns.set(key, count);
  }

  readonly source = (): readonly Sample[] => [
    ...[...this.#ofNoColumn.values()].flatMap((counts) => counts.source()),
    ...this.#ofColumns.values(),
  ];
}

/** Counts what is done with records in the user's tables; no others are counted. */
export class TableCounters {
  readonly #operations: ReadonlyMap<string, LabelledCounts<TableOperation>>;
  readonly #letters: TableLetterCounts;
  /** By topic. */
  readonly #unmapped: ReadonlyMap<string, Count>;
  /** By topic, of those that have conditions. */
  readonly #unmatched: ReadonlyMap<string, Count>;

  constructor(settings: Pick<Settings, 'tables'>) {
    const entries = tablesOf(settings);
    const tables = [...new Set(entries.map(({ schema, table }) => `${schema}.${table}`))];
    const countsOf = (from: typeof entries): ReadonlyMap<string, Count> =>
      new Map(from.flatMap(({ topics }) => topics).map((topic) => [topic, countOf({ topic })]));
    this.#operations = new Map(
      tables.map((table) => [table, new LabelledCounts('operation', TABLE_OPERATIONS, { table })]),
    );
    this.#letters = new TableLetterCounts(tables);
    this.#unmapped = countsOf(entries);
    this.#unmatched = countsOf(entries.filter(({ when }) => when !== undefined));
  }

  observe(topic: string, { operations, deadLetters, unmappedFields, unmatched }: TableCounts): void {
    for (const { table, operation, records } of operations) {
      this.#operations.get(table)?.add(operation, records);
    }
    for (const letters of deadLetters) {
      this.#letters.add(letters);
    }
    addTo(this.#unmapped.get(topic), unmappedFields);
    addTo(this.#unmatched.get(topic), unmatched);
  }

  get sources(): Pick<MetricSources, 'tableRecords' | 'tableDeadLetters' | 'unmappedFields' | 'unmatchedRecords'> {
    return {
      tableRecords: () => [...this.#operations.values()].flatMap((counts) => counts.source()),
      tableDeadLetters: this.#letters.source,
      unmappedFields: () => [...this.#unmapped.values()],
      unmatchedRecords: () => [...this.#unmatched.values()],
    };
  }
}
