import { isDeepStrictEqual } from 'node:util';
import type { PoolClient } from 'pg';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { formatsOf, formattedTables } from '../../../settings/sections/formats.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FieldReaders } from '../../formats/field-readers.ts';
import { recordsOf } from '../../records/pack-records.ts';
import type { KnownTable } from '../../store/tables/table-guard.ts';
import type { UserTables } from '../../store/transaction/topic-tables.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { mappedFields, type NamedFields, type UnmappedLog, unmappedField } from '../json/unmapped-fields.ts';
import { guardOf } from '../mapping/fingerprint-guard.ts';
import { readMappings, type TableEntry } from '../mapping/read-mappings.ts';
import type { CheckedMapping } from '../mapping/resolve-mapping.ts';
import { MappedTable } from './mapped-table.ts';
import { TableEncoder } from './table-encoder.ts';

/** What the tables and their rows depend on. */
type TablesSettings = Pick<Settings, 'tables' | 'database' | 'consumer' | 'formats'>;

/** Reports about tables and their records. */
interface TablesReports {
  /** Fields that no table of their topic takes. Left out: they are not looked for. */
  readonly unmapped?: Pick<UnmappedLog, 'log'>;
  /** A table whose transactions have waited for each other; once. */
  readonly onContended?: (table: string) => void;
}

/** The topics that are read now. */
export interface MappedTopics {
  /** The settings with a name for each topic, another object each time that they change. */
  readonly settings: Pick<Settings, 'tables' | 'formats'>;
  /** Topics of which the settings do not say enough, and why. */
  readonly waiting: ReadonlyMap<string, Problem>;
  /** Whether a template alone takes the topic: it waits while its tables do not fit. Left out: the consumer ends. */
  isTemplated?(topic: string): boolean;
}

/** An entry of the setting, and its table as the catalog had it when it was last asked. */
interface ReadTable {
  readonly entry: TableEntry;
  /** `null` where it does not fit. */
  readonly mapping: CheckedMapping | null;
  readonly table: MappedTable | null;
  readonly problems: readonly Problem[];
  readonly isUnwanted: boolean;
}

/** An entry that has not been read yet fits as little as one whose table is missing. */
const unread = (entry: TableEntry): ReadTable => ({
  entry,
  mapping: null,
  table: null,
  isUnwanted: false,
  problems: [{ path: entry.path ?? 'tables', message: 'was not read yet', allowed: 'a table that was read' }],
});

/** An entry of a template is one for each table. */
const placeOf = ({ path, schema, table }: TableEntry): string => JSON.stringify([path, schema, table]);

/**
 * The tables of the setting `tables`, each as the catalog had it when it was last asked. The catalog is asked for all
 * at the start. For one it is asked on each new connection that writes into it, and before a refused row becomes a dead
 * letter. In every other transaction a guard shows whether it has to be asked anew.
 *
 * A table that was altered is mapped anew and its records are written again by the new mapping: until then they stay
 * ahead of the stored offset. A table that no longer fits the settings ends the consumer, or makes its topics wait
 * where they may. Its records stay ahead of the stored offset as well.
 *
 * No record of a topic is written while one of the tables of the topic does not fit: {@link of} throws. So none of its
 * records goes into a part of its tables, or into `records` instead.
 */
export class MappedTables implements UserTables {
  readonly #settings: TablesSettings;
  readonly #reports: TablesReports;
  readonly #readers: FieldReaders;
  readonly #topics: MappedTopics;
  /** By the places of their entries, in the order of the settings. */
  #tables: ReadonlyMap<string, ReadTable> = new Map();
  /** What they are of. */
  #settingsOfTables: MappedTopics['settings'] | null = null;
  #byTopic: ReadonlyMap<string, readonly ReadTable[]> = new Map();
  #all: readonly MappedTable[] = [];
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
    this.#reports = reports;
    this.#readers = readers;
    this.#topics = topics;
  }

  /** Those that fit, in the order of the settings; none before {@link read}. */
  get all(): readonly MappedTable[] {
    this.#renew();
    return this.#all;
  }

  /**
   * Those of a topic.
   *
   * @throws FatalError `TABLES_DO_NOT_FIT` where one of them does not fit
   */
  of(topic: string): readonly MappedTable[] {
    this.#renew();
    const misfit = this.#misfit(topic);
    if (misfit !== null) {
      throw misfit;
    }
    return (this.#byTopic.get(topic) ?? []).flatMap(({ table }) => table ?? []);
  }

  /**
   * Reads all tables from the catalog.
   *
   * @throws FatalError `TABLES_DO_NOT_FIT` with all problems at once of the tables whose topics may not wait for them
   */
  async read(client: PoolClient): Promise<void> {
    await this.#readAgain(client, () => true);
    const conflicts = [...this.#topics.waiting]
      .filter(([topic]) => !this.#mayWait(topic))
      .map(([, problem]) => problem);
    const misfits = [...this.#tables.values()].filter(({ entry }) => !entry.topics.every(this.#mayWait));
    const problems = [...conflicts, ...misfits.flatMap((table) => table.problems)];
    if (problems.length > 0) {
      throw doNotFit(problems);
    }
  }

  /** Reads the tables of these topics from the catalog, and returns why those do not fit that do not. */
  async misfits(client: PoolClient, topics: readonly string[]): Promise<ReadonlyMap<string, FatalError>> {
    const wanted = new Set(topics);
    await this.#readAgain(client, (entry) => entry.topics.some((topic) => wanted.has(topic)));
    return new Map(topics.map((topic) => [topic, this.#misfit(topic)] as const).filter(isMisfit));
  }

  readonly #mayWait = (topic: string): boolean => this.#topics.isTemplated?.(topic) === true;

  #misfit(topic: string): FatalError | null {
    const conflict = this.#topics.waiting.get(topic);
    const tables = this.#byTopic.get(topic) ?? [];
    const problems = [...(conflict ? [conflict] : []), ...tables.flatMap((table) => table.problems)];
    const isIgnored = conflict === undefined && tables.every((table) => table.isUnwanted || table.mapping !== null);
    return problems.length === 0 ? null : doNotFit(problems, { topic, isIgnored });
  }

  /** Takes the entries of the topics that are read now; what was read of a table is known of it still. */
  #renew(): void {
    const { settings } = this.#topics;
    if (this.#settingsOfTables === settings) {
      return;
    }
    this.#settingsOfTables = settings;
    const before = this.#tables;
    const changed = new Set<string>();
    const renewed = formattedTables(settings).map((entry): readonly [string, ReadTable] => {
      const known = before.get(placeOf(entry));
      if (known !== undefined && isDeepStrictEqual(known.entry, entry)) {
        return [placeOf(entry), known];
      }
      for (const topic of entry.topics) changed.add(topic);
      const mapping = known?.mapping ? { ...known.mapping, topics: entry.topics } : null;
      return [placeOf(entry), known ? { ...known, entry, mapping } : unread(entry)];
    });
    this.#tables = new Map(renewed);
    this.#remake(changed);
  }

  async #readAgain(client: PoolClient, isWanted: (entry: TableEntry, place: string) => boolean): Promise<void> {
    this.#renew();
    const entries = [...this.#tables].flatMap(([place, { entry }]) => (isWanted(entry, place) ? entry : []));
    if (entries.length === 0) {
      return;
    }
    const read = await readMappings(client, entries, this.#settings.database.schema, this.#mayWait);
    const tables = new Map(this.#tables);
    const changed = entries.filter((entry, nth) => {
      const { mapping = null, problems = [], isThere = true } = read.entries[nth] ?? {};
      const before = tables.get(placeOf(entry));
      // Meanwhile the settings may have other topics of the table, or none.
      if (before?.entry !== entry || isDeepStrictEqual([before.mapping, before.problems], [mapping, problems])) {
        return false;
      }
      const isUnwanted = !isThere && entry.isUnwantedWhileMissing === true;
      tables.set(placeOf(entry), { entry, mapping, problems, isUnwanted, table: null });
      return true;
    });
    this.#tables = tables;
    changed.length > 0 && this.#remake(new Set(changed.flatMap(({ topics }) => topics)));
  }

  /** What the tables of a topic make of its records depends on all of them: fields are mapped in any. */
  #remake(topics: ReadonlySet<string>): void {
    const byTopic = new Map<string, ReadTable[]>();
    const tables = new Map<string, ReadTable>();
    for (const [place, known] of this.#tables) {
      const isChanged = known.entry.topics.some((topic) => topics.has(topic));
      const made = isChanged ? { ...known, table: known.mapping && this.#tableOf(known.entry, known.mapping) } : known;
      tables.set(place, made);
      for (const topic of known.entry.topics) {
        const others = byTopic.get(topic);
        others === undefined ? byTopic.set(topic, [made]) : others.push(made);
      }
    }
    this.#tables = tables;
    this.#byTopic = byTopic;
    this.#all = [...tables.values()].flatMap(({ table }) => table ?? []);
  }

  #tableOf(entry: TableEntry, mapping: CheckedMapping): MappedTable {
    const takesDefaults = mapping.columns.some(({ hasDefault }) => hasDefault);
    const { maxValueBytes } = this.#settings.consumer;
    const unmapped = this.#unmappedFields(mapping);
    const encoder = new TableEncoder(mapping, { maxValueBytes, takesDefaults }, unmapped, this.#readers);
    const table = `${mapping.schema}.${mapping.table}`;
    return new MappedTable({
      mapping,
      encode: (place, records, memory) => {
        const encoded = encoder.encode(place, records, memory);
        const isMapped = (encoded.unmappedFields ?? 0) === 0 || !entry.waitsForColumns;
        if (!isMapped && this.#mayWait(place.topic)) {
          throw unmappedField(place.topic, table, unmapped?.namesOf(place.topic) ?? []);
        }
        return encoded;
      },
      takesDefaults,
      find: (client) => this.#find(client, entry, mapping),
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

  #unmappedFields(mapping: CheckedMapping): NamedFields | undefined {
    const log = this.#reports.unmapped;
    if (log === undefined) {
      return undefined;
    }
    const names = new Map<string, ReadonlySet<string>>();
    const mappingsOf = (topic: string) => (this.#byTopic.get(topic) ?? []).flatMap((read) => read.mapping ?? []);
    const tablesOf = (topic: string) => mappingsOf(topic).map(({ schema, table }) => `${schema}.${table}`);
    return {
      mapped: (topic) => mappedFields(mapping, mappingsOf(topic), topic),
      report: (topic, name) => {
        names.set(topic, new Set([...(names.get(topic) ?? []), ...(name === null ? [] : [name])]));
        log.log(topic, tablesOf(topic), name);
      },
      namesOf: (topic) => [...(names.get(topic) ?? [])],
    };
  }

  async #find(client: PoolClient, entry: TableEntry, mapping: CheckedMapping): Promise<KnownTable> {
    const wanted = placeOf(entry);
    await this.#readAgain(client, (_, place) => place === wanted);
    const now = this.#tables.get(wanted);
    if (now && now.problems.length > 0) {
      throw doNotFit(now.problems);
    }
    if (now?.mapping !== mapping) {
      throw new OutageError(
        `the table ${mapping.schema}.${mapping.table} was altered: its records are written again by its new columns`,
        { reason: 'database_busy' },
      );
    }
    return { guard: guardOf(mapping), rowTriggers: mapping.relation.rowTriggers };
  }
}

const isMisfit = (pair: readonly [string, FatalError | null]): pair is readonly [string, FatalError] =>
  pair[1] !== null;

/** @param of the topic. @default that whose records are in hand */
function doNotFit(problems: readonly Problem[], of: { topic?: string; isIgnored?: boolean } = {}): FatalError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new FatalError(
    'TABLES_DO_NOT_FIT',
    `the tables do not fit the setting tables: ${count}. Nothing was written of the records in hand, and they stay ` +
      'ahead of the stored offset. Correct the tables or the setting, check both with "stream-consumer tables check", ' +
      `and start again.\n${problems.map(describeProblem).join('\n')}`,
    of,
  );
}
