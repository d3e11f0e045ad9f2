import { TABLE_OPERATIONS } from '../../contract/metrics/definition.ts';
import type { Settings } from '../../settings/settings.ts';
import { tablesOf } from '../../settings/tables.ts';
import type { TableCounts } from '../stream/record-sink.ts';
import { LabelledCounts, type MetricSources } from './metric-source.ts';

/** Counts what becomes of records in tables of the user's own; no others are counted. */
export class TableCounters {
  readonly #operations: ReadonlyMap<string, LabelledCounts<(typeof TABLE_OPERATIONS)[number]>>;

  constructor(settings: Pick<Settings, 'tables'>) {
    const tables = new Set(tablesOf(settings).map(({ schema, table }) => `${schema}.${table}`));
    this.#operations = new Map(
      [...tables].map((table) => [table, new LabelledCounts('operation', TABLE_OPERATIONS, { table })]),
    );
  }

  observe({ operations }: TableCounts): void {
    for (const { table, operation, records } of operations) {
      this.#operations.get(table)?.add(operation, records);
    }
  }

  get sources(): Pick<MetricSources, 'tableRecords'> {
    return { tableRecords: () => [...this.#operations.values()].flatMap((counts) => counts.source()) };
  }
}
