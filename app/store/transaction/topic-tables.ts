import type { PoolClient } from 'pg';
import type { FatalError } from '../../stream/ports/stream-errors.ts';
import type { Table } from '../tables/table.ts';

/** One of the user's own tables, and the topics whose records go to it. */
export interface UserTable extends Table {
  readonly topics: readonly string[];
  /** Called when a deadlock ended a transaction with rows of the table, which is tried again. */
  deadlocked(): void;
}

/** The user's own tables. */
export interface UserTables {
  /** Those that fit, a parent before what refers to it. */
  readonly all: readonly UserTable[];
  /**
   * Those of a topic.
   *
   * @throws FatalError `TABLES_DO_NOT_FIT` where one of them does not fit: no record of the topic may be written
   */
  of(topic: string): readonly UserTable[];
  /** Reads the tables of these topics from the catalog, and returns why those do not fit that do not. */
  misfits(client: PoolClient, topics: readonly string[]): Promise<ReadonlyMap<string, FatalError>>;
}

/** What a topic's records become rows of. */
export class TopicTables {
  readonly #records: Table;
  readonly #recordTopics: () => readonly string[];
  readonly #tables: Pick<UserTables, 'all' | 'of'>;

  /**
   * @param recordTopics topics that go to `records` even where they go to another table: those of `kafka.topics` now. A
   * topic without a mapped table goes there, too.
   * @param tables the user's own, asked for each transaction
   */
  constructor(records: Table, recordTopics: () => readonly string[], tables: Pick<UserTables, 'all' | 'of'>) {
    this.#records = records;
    this.#recordTopics = recordTopics;
    this.#tables = tables;
  }

  /**
   * The tables of a topic, as they are listed: a parent before what refers to it, and the same way each time.
   *
   * @throws FatalError `TABLES_DO_NOT_FIT` where one of them does not fit
   */
  of(topic: string): readonly Table[] {
    return this.#withRecords(topic, this.#tables.of(topic));
  }

  /** Names of those of its tables that fit. */
  namesOf(topic: string): readonly string[] {
    const tables = this.#tables.all.filter(({ topics }) => topics.includes(topic));
    return this.#withRecords(topic, tables).map(({ name }) => name);
  }

  /** Whether all topics have the same one table. */
  get areOne(): boolean {
    const { all } = this.#tables;
    return all.length === 0 || (all.length === 1 && this.#recordTopics().length === 0);
  }

  /** Tables of several topics, in the order of {@link of}. */
  inOrder(tables: Iterable<Table>): readonly Table[] {
    const places = new Map<Table, number>([this.#records, ...this.#tables.all].map((table, nth) => [table, nth]));
    const placeOf = (table: Table): number => places.get(table) ?? -1;
    return [...tables].sort((one, other) => placeOf(one) - placeOf(other));
  }

  /** Calls the tables of some topics after a deadlock. Rows of `records` never wait for each other. */
  deadlocked(topics: readonly string[]): void {
    for (const table of this.#tables.all.filter((each) => each.topics.some((topic) => topics.includes(topic)))) {
      table.deadlocked();
    }
  }

  /** Topics that have no rows in `records`. */
  get topicsWithoutRecords(): readonly string[] {
    const topics = new Set(this.#tables.all.flatMap((table) => table.topics));
    return [...topics].filter((topic) => !this.#recordTopics().includes(topic));
  }

  #withRecords(topic: string, tables: readonly Table[]): readonly Table[] {
    return tables.length > 0 && !this.#recordTopics().includes(topic) ? tables : [this.#records, ...tables];
  }
}
