import { DEAD_LETTER_REASONS, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { TABLE_OPERATIONS, type TableOperation } from '../../../contract/metrics/definition.ts';
import { tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { TableCounts, TableLetters } from '../../stream/ports/record-sink.ts';
import {
  LabelledCounts,
  type Labels,
  type MetricSources,
  type Sample,
  TopicSeries,
} from '../exposition/metric-source.ts';

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
  readonly #ofNoColumn: TopicSeries<LabelledCounts<DeadLetterReason>>;
  readonly #ofColumns = new Map<string, Count>();

  constructor(tables: () => readonly string[]) {
    this.#ofNoColumn = new TopicSeries(
      tables,
      (table) => new LabelledCounts('reason', DEAD_LETTER_REASONS, { table, column: '' }),
    );
  }

  add({ table, column, reason, records }: TableLetters): void {
    const ofNoColumn = this.#ofNoColumn.of(table);
    const key = JSON.stringify([table, column, reason]);
    const known = this.#ofColumns.get(key);
    if (this.#ofColumns.size >= MOST_SERIES) {
      this.#forget();
    }
    if (ofNoColumn === undefined || column === '' || (known === undefined && this.#ofColumns.size >= MOST_SERIES)) {
      ofNoColumn?.add(reason, records);
      return;
    }
    const count = known ?? countOf({ table, column, reason });
    count.value += records;
    this.#ofColumns.set(key, count);
  }

  readonly source = (): readonly Sample[] => {
    this.#forget();
    return [...this.#ofNoColumn.all.flatMap((counts) => counts.source()), ...this.#ofColumns.values()];
  };

  /** Columns of tables that are not filled any more are not counted. */
  #forget(): void {
    for (const [key, { labels }] of this.#ofColumns) {
      if (this.#ofNoColumn.of(labels['table'] ?? '') === undefined) {
        this.#ofColumns.delete(key);
      }
    }
  }
}

/** Names that the entries of now have: of their tables, and of their topics. */
class CountedNames {
  readonly #current: () => Settings['tables'];
  #read: Settings['tables'] | null = null;
  #tables: readonly string[] = [];
  #topics: readonly string[] = [];
  #conditionTopics: readonly string[] = [];

  /** @param current the entries of now, another list each time that they change */
  constructor(current: () => Settings['tables']) {
    this.#current = current;
  }

  readonly tables = (): readonly string[] => this.#follow().#tables;
  readonly topics = (): readonly string[] => this.#follow().#topics;
  readonly conditionTopics = (): readonly string[] => this.#follow().#conditionTopics;

  #follow(): this {
    const current = this.#current();
    if (current !== this.#read) {
      this.#read = current;
      const entries = tablesOf({ tables: current });
      const topicsIn = (from: typeof entries): readonly string[] => [...new Set(from.flatMap(({ topics }) => topics))];
      this.#tables = [...new Set(entries.map(({ schema, table }) => `${schema}.${table}`))];
      this.#topics = topicsIn(entries);
      this.#conditionTopics = topicsIn(entries.filter(({ when }) => when !== undefined));
    }
    return this;
  }
}

/** Counts what is done with records in the user's tables; no others are counted. */
export class TableCounters {
  readonly #operations: TopicSeries<LabelledCounts<TableOperation>>;
  readonly #letters: TableLetterCounts;
  /** By topic. */
  readonly #unmapped: TopicSeries<Count>;
  /** By topic, of those that have conditions. */
  readonly #unmatched: TopicSeries<Count>;

  /** @param tables the entries of now, another list each time that they change */
  constructor(tables: () => Settings['tables']) {
    const names = new CountedNames(tables);
    const ofTopic = (topic: string): Count => countOf({ topic });
    this.#operations = new TopicSeries(
      names.tables,
      (table) => new LabelledCounts('operation', TABLE_OPERATIONS, { table }),
    );
    this.#letters = new TableLetterCounts(names.tables);
    this.#unmapped = new TopicSeries(names.topics, ofTopic);
    this.#unmatched = new TopicSeries(names.conditionTopics, ofTopic);
  }

  observe(topic: string, { operations, deadLetters, unmappedFields, unmatched }: TableCounts): void {
    for (const { table, operation, records } of operations) {
      this.#operations.of(table)?.add(operation, records);
    }
    for (const letters of deadLetters) {
      this.#letters.add(letters);
    }
    addTo(this.#unmapped.of(topic), unmappedFields);
    addTo(this.#unmatched.of(topic), unmatched);
  }

  get sources(): Pick<MetricSources, 'tableRecords' | 'tableDeadLetters' | 'unmappedFields' | 'unmatchedRecords'> {
    return {
      tableRecords: () => this.#operations.all.flatMap((counts) => counts.source()),
      tableDeadLetters: this.#letters.source,
      unmappedFields: () => this.#unmapped.all,
      unmatchedRecords: () => this.#unmatched.all,
    };
  }
}
