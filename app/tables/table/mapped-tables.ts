import { isDeepStrictEqual } from 'node:util';
import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { formatsOf, formattedTables } from '../../../settings/sections/formats.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FieldReaders } from '../../formats/field-readers.ts';
import { recordsOf } from '../../records/pack-records.ts';
import { IS_ROW_TRIGGER, type KnownTable } from '../../store/tables/table-guard.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { mappedFields, type UnmappedFields, type UnmappedLog } from '../json/unmapped-fields.ts';
import { fingerprintGuard } from '../mapping/fingerprint-guard.ts';
import { type CheckedMapping, readMappings } from '../mapping/resolve-mapping.ts';
import { MappedTable } from './mapped-table.ts';
import { TableEncoder } from './table-encoder.ts';

/** What the tables and their rows depend on. */
type TablesSettings = Pick<Settings, 'tables' | 'database' | 'consumer' | 'formats'>;

/** The topics that are read now, by their names alone; another object each time that they change. */
interface MappedTopics {
  readonly settings: Pick<Settings, 'tables' | 'formats'>;
  /** Topics that the settings do not say enough of, and why. */
  readonly waiting: ReadonlyMap<string, Problem>;
}

/** Reports about tables and their records. */
interface TablesReports {
  /** Fields that no table of their topic takes. Left out: they are not looked for. */
  readonly unmapped?: Pick<UnmappedLog, 'log'>;
  /** A table whose transactions have waited for each other; once. */
  readonly onContended?: (table: string) => void;
}

/**
 * The tables of the setting `tables`, as the catalog had them when it was last asked. The catalog is asked at the
 * start, on each new connection, and in each transaction that looks for refused rows, before one of them becomes a dead
 * letter. In every other transaction a guard shows whether it has to be asked anew.
 *
 * A table that was altered is mapped anew and its records are written again by the new mapping: until then they stay
 * ahead of the stored offset. A table that no longer fits the settings ends the consumer, and its records stay ahead of
 * the stored offset as well.
 */
export class MappedTables {
  readonly #settings: TablesSettings;
  readonly #topics: MappedTopics;
  readonly #reports: TablesReports;
  readonly #readers: FieldReaders;
  #mappings: readonly CheckedMapping[] = [];
  #tables: readonly MappedTable[] = [];
  /** What the tables were read by. */
  #readBy: MappedTopics['settings'] | null = null;
  /** Tables whose transactions have waited for each other. */
  readonly #contended = new Set<string>();

  /**
   * @param reports about tables and their records. @default none is made
   * @param readers of the records. @default of the formats of the settings, where none is that of a registry
   * @param topics those that are read now. @default those that the settings name
   */
  constructor(
    settings: TablesSettings,
    reports: TablesReports = {},
    readers = new FieldReaders((topic) => formatsOf(settings, topic)),
    topics: MappedTopics = { settings, waiting: new Map() },
  ) {
    this.#settings = settings;
    this.#topics = topics;
    this.#reports = reports;
    this.#readers = readers;
  }

  /** In the order of the settings; none before {@link read}. */
  get all(): readonly MappedTable[] {
    return this.#tables;
  }

  /** Those of a topic. */
  of(topic: string): readonly MappedTable[] {
    return this.#tables.filter(({ topics }) => topics.includes(topic));
  }

  /**
   * Reads the tables from the catalog.
   *
   * @throws FatalError `TABLES_DO_NOT_FIT` with all problems at once
   */
  async read(client: PoolClient): Promise<void> {
    const { settings, waiting } = this.#topics;
    const tables = formattedTables(settings);
    if (tables.length + waiting.size + this.#tables.length === 0) {
      this.#readBy = settings;
      return;
    }
    const { mappings, problems: misfits } = await readMappings(client, tables, this.#settings.database.schema);
    const problems = [...waiting.values(), ...misfits];
    if (problems.length > 0) {
      const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
      throw new FatalError(
        'TABLES_DO_NOT_FIT',
        `the tables do not fit the setting tables: ${count}. Nothing was written of the records in hand, and they stay ` +
          'ahead of the stored offset. Correct the tables or the setting, check both with "stream-consumer tables check", ' +
          `and start again.\n${problems.map(describeProblem).join('\n')}`,
      );
    }
    if (!isDeepStrictEqual(mappings, this.#mappings)) {
      this.#mappings = mappings;
      this.#tables = mappings.map((mapping) => this.#tableOf(mapping));
    }
    this.#readBy = settings;
  }

  /** {@link read}, where other topics are read now than when the tables were read. */
  async prepare(client: PoolClient): Promise<void> {
    if (this.#readBy !== this.#topics.settings) {
      await this.read(client);
    }
  }

  #tableOf(mapping: CheckedMapping): MappedTable {
    const takesDefaults = mapping.columns.some(({ hasDefault }) => hasDefault);
    const { maxValueBytes } = this.#settings.consumer;
    const unmapped = this.#unmappedFields(mapping);
    const encoder = new TableEncoder(mapping, { maxValueBytes, takesDefaults }, unmapped, this.#readers);
    const table = `${mapping.schema}.${mapping.table}`;
    return new MappedTable({
      mapping,
      encode: (place, records, memory) => encoder.encode(place, records, memory),
      takesDefaults,
      find: (client) => this.#find(client, mapping),
      misfit: ({ record, ...place }, column) => encoder.misfit(place, recordsOf([record]), column),
      isContended: () => this.#contended.has(table),
      onDeadlock: () => this.#contend(table),
    });
  }

  #contend(table: string): void {
    if (!this.#contended.has(table)) {
      this.#contended.add(table);
      this.#reports.onContended?.(table);
    }
  }

  #unmappedFields(mapping: CheckedMapping): UnmappedFields | undefined {
    const [log, mappings] = [this.#reports.unmapped, this.#mappings];
    if (log === undefined) {
      return undefined;
    }
    const tablesOfTopic = (topic: string) =>
      mappings.filter(({ topics }) => topics.includes(topic)).map(({ schema, table }) => `${schema}.${table}`);
    return {
      mapped: (topic) => mappedFields(mapping, mappings, topic),
      report: (topic, name) => log.log(topic, tablesOfTopic(topic), name),
    };
  }

  async #find(client: PoolClient, mapping: CheckedMapping): Promise<KnownTable> {
    await this.read(client);
    if (!this.#mappings.includes(mapping)) {
      throw new OutageError(
        `the table ${mapping.schema}.${mapping.table} was altered: its records are written again by its new columns`,
        { reason: 'database_busy' },
      );
    }
    return { guard: guardOf(mapping), rowTriggers: mapping.relation.rowTriggers };
  }
}

/** Where no trigger may drop rows, that none was made meanwhile is part of the guard. */
function guardOf(mapping: CheckedMapping): KnownTable['guard'] {
  const steps = fingerprintGuard(mapping);
  if (mapping.relation.rowTriggers.length > 0) {
    return steps;
  }
  const name = `${escapeIdentifier(mapping.schema)}.${escapeIdentifier(mapping.table)}`;
  const noTrigger = `SELECT FROM pg_trigger WHERE tgrelid = to_regclass(${escapeLiteral(name)}) AND ${IS_ROW_TRIGGER}`;
  return [...steps, { sql: noTrigger, tag: 'SELECT 0' }];
}
