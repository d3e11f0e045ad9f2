import { TABLE_OPERATIONS } from '../../contract/metrics/definition.ts';
import type { Settings } from '../../settings/settings.ts';
import { tablesOf } from '../../settings/tables.ts';
import type { TableCounts } from '../stream/record-sink.ts';
import { LabelledCounts, type Labels, type MetricSources } from './metric-source.ts';

/** Counts what becomes of records in tables of the user's own; no others are counted. */
export class TableCounters {
  readonly #operations: ReadonlyMap<string, LabelledCounts<(typeof TABLE_OPERATIONS)[number]>>;

  /** By topic. */
  readonly #unmapped: ReadonlyMap<string, { readonly labels: Labels; value: number }>;

  constructor(settings: Pick<Settings, 'tables'>) {
    const entries = tablesOf(settings);
    const tables = new Set(entries.map(({ schema, table }) => `${schema}.${table}`));
    const topics = new Set(entries.flatMap((entry) => entry.topics));
    this.#unmapped = new Map([...topics].map((topic) => [topic, { labels: { topic }, value: 0 }]));
    this.#operations = new Map(
      [...tables].map((table) => [table, new LabelledCounts('operation', TABLE_OPERATIONS, { table })]),
    );
  }

  observe(topic: string, { operations, unmappedFields }: TableCounts): void {
    const unmapped = this.#unmapped.get(topic);
    if (unmapped) {
      unmapped.value += unmappedFields;
    }
    for (const { table, operation, records } of operations) {
      this.#operations.get(table)?.add(operation, records);
    }
  }

  get sources(): Pick<MetricSources, 'tableRecords' | 'unmappedFields'> {
    return {
      tableRecords: () => [...this.#operations.values()].flatMap((counts) => counts.source()),
      unmappedFields: () => [...this.#unmapped.values()],
    };
  }
}
