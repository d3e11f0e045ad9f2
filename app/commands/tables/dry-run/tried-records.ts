import { escapeIdentifier, type PoolClient } from 'pg';
import type { TableOperation } from '../../../../contract/metrics/definition.ts';
import type { NamedTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import { topicsOf } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import type { FieldReaders } from '../../../formats/field-readers.ts';
import { recordDecoders } from '../../../formats/record-decoders.ts';
import type { StreamRecord } from '../../../records/record.ts';
import { isReadOnly } from '../../../store/connection/sqlstate.ts';
import { beginRows, timeoutsOf } from '../../../store/connection/transaction.ts';
import { rowMemory } from '../../../store/copy/row-memory.ts';
import { type Admitted, admit } from '../../../store/tables/admit.ts';
import { OwnTables } from '../../../store/tables/own-tables.ts';
import { RECORDS } from '../../../store/tables/record-rows.ts';
import { RecordsTable } from '../../../store/tables/records-table.ts';
import type { Refusal, Table } from '../../../store/tables/table.ts';
import { TopicTables } from '../../../store/transaction/topic-tables.ts';
import { copyAdmitted, requireTablesOnce } from '../../../store/transaction/write-records.ts';
import type { WaitingTopic } from '../../../stream/partition/consumer-state.ts';
import type { WriteRequest } from '../../../stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../../stream/ports/stream-errors.ts';
import { MappedTables } from '../../../tables/table/mapped-tables.ts';
import { outageText } from '../../command/with-database.ts';
import { type ColumnFindings, SeenColumns } from './seen-columns.ts';

/** What a record does in one table. */
export interface TriedRow {
  /** `records`, or the schema and the name of another table. */
  readonly table: string;
  readonly operation: TableOperation;
}

/** What becomes of a record: rows, or a dead letter. No rows: the conditions of each table pass it by. */
export interface TriedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly record: StreamRecord;
  readonly outcome: { readonly rows: readonly TriedRow[] } | { readonly letter: Refusal };
}

/** Why a consumer leaves a topic waiting. */
export type TriedWait = Pick<WaitingTopic, 'code' | 'message' | 'isIgnored'>;

const waitFor = (error: FatalError | OutageError): TriedWait =>
  error instanceof OutageError
    ? { code: error.reason, message: outageText(error), isIgnored: false }
    : { code: error.code, message: error.messageWithoutStart, isIgnored: error.isIgnored };

/** Whether it is about one topic or its table. A standby takes rows of none, though the error names one. */
const isOfTopic = (error: unknown): error is FatalError | OutageError =>
  error instanceof OutageError
    ? error.table !== undefined && !isReadOnly(error.cause)
    : error instanceof FatalError && error.isOfTopic;

/** What was seen beside the records themselves. */
export interface TriedFindings {
  /** Topics that a consumer leaves waiting, and why: no further record of theirs was tried. */
  readonly waiting: ReadonlyMap<string, TriedWait>;
  /** By topic: fields of values that no table takes, and how many there were. */
  readonly unmapped: ReadonlyMap<string, readonly string[]>;
  readonly columns: readonly ColumnFindings[];
}

/** The wait for a lock: a dry run gives up sooner than a consumer. */
const TRIAL_LOCK_TIMEOUT_MS = 1_000;

const TEMPORARY = 'pg_temp';

/**
 * The table `records` as a temporary one: the records may be in the real one by now, and the role has no right to take
 * them out of it.
 */
function temporaryRecords({ consumer, records: { keyEncoding } }: Settings, readers: FieldReaders): Table {
  const records = new RecordsTable({
    schema: TEMPORARY,
    ownTables: new OwnTables(TEMPORARY),
    allowsDroppedRows: false,
    maxValueBytes: consumer.maxValueBytes,
    keyEncoding,
    decoderOf: recordDecoders(readers),
  });
  const columns = Object.entries(RECORDS.columns).map(([name, type]) => `${escapeIdentifier(name)} ${type}`);
  return {
    name: records.name,
    copy: records.copy,
    allowsDroppedRows: false,
    encode: (place, given, memory) => records.encode(place, given, memory),
    require: async () => undefined,
    requireOnce: async () => undefined,
    opening: () =>
      `SET LOCAL client_min_messages = warning; CREATE TEMPORARY TABLE IF NOT EXISTS ${RECORDS.table} (${columns.join(', ')}) ON COMMIT DROP`,
    guard: () => ({ steps: [] }),
    copying: () => records.copying(),
    rowTriggers: () => [],
    refusal: (client, refused) => records.refusal(client, refused),
  };
}

/**
 * Writes records as the consumer does, in one transaction that is rolled back. What it lacks is the compare-and-set of
 * the offsets.
 */
export class DryRun {
  readonly #settings: Settings;
  readonly #named: NamedTopics<Settings>;
  readonly #mapped: MappedTables;
  readonly #tables: TopicTables;
  readonly #ownTables: OwnTables;
  readonly #unmapped = new Map<string, string[]>();
  readonly #columns = new Map<Table, SeenColumns>();
  readonly #waiting: Map<string, TriedWait>;

  /** @param forbidden topics that may not be read, and why. @default all may be */
  constructor(
    named: NamedTopics<Settings>,
    readers: FieldReaders,
    forbidden: ReadonlyMap<string, FatalError> = new Map(),
  ) {
    const { settings } = named;
    this.#waiting = new Map([...forbidden].map(([topic, error]) => [topic, waitFor(error)]));
    const unmapped = {
      log: (topic: string, _tables: readonly string[], name: string | null) => this.#note(topic, name ?? 'others'),
    };
    this.#settings = settings;
    this.#named = named;
    this.#mapped = new MappedTables(settings, { unmapped }, readers, named);
    this.#ownTables = new OwnTables(settings.database.schema);
    const records = temporaryRecords(settings, readers);
    this.#tables = new TopicTables(records, () => settings.kafka.topics, this.#mapped);
  }

  get findings(): TriedFindings {
    return {
      waiting: this.#waiting,
      unmapped: this.#unmapped,
      columns: [...this.#columns.values()].map(({ findings }) => findings),
    };
  }

  /**
   * Tries the requests one after the other. Deferred constraints are checked before the end.
   *
   * @param signal ends it after the request in hand
   * @param onTried called with the records of each request
   * @throws FatalError `TABLES_DO_NOT_FIT`, or what else stops a consumer. Where a template takes the topic it waits
   * @throws OutageError where PostgreSQL is away, or a table takes no rows for now. Where a template takes the topic it
   * waits for its table
   */
  async try(
    client: PoolClient,
    requests: Iterable<WriteRequest>,
    onTried: (records: readonly TriedRecord[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    await client.query(beginRows({ ...timeoutsOf(this.#settings.database), lock_timeout: TRIAL_LOCK_TIMEOUT_MS }));
    await this.#mapped.read(client);
    const topics = [...this.#named.waiting.keys(), ...topicsOf(this.#settings)];
    for (const topic of topics) {
      this.#unlessWaiting(topic, () => this.#tables.of(topic));
    }
    for (const request of requests) {
      if (signal.aborted) {
        break;
      }
      await onTried(await this.#tryRequest(client, request));
    }
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    await client.query('ROLLBACK');
  }

  #tryRequest(client: PoolClient, request: WriteRequest): Promise<readonly TriedRecord[]> {
    return rowMemory.during(async (memory) => {
      const { groupId } = this.#settings.kafka;
      const written = this.#unlessWaiting(request.topic, () => admit(this.#tables.of(request.topic), request, memory));
      if (written === null) {
        return [];
      }
      const owner = { groupId, ownTables: this.#ownTables, refusedAlike: null };
      const poison = await this.#orWaiting(client, request.topic, async () => {
        await requireTablesOnce(client, written.batches);
        return (await copyAdmitted(client, owner, request, written)).poison;
      });
      if (poison === null) {
        return [];
      }
      const letters = new Map(
        [...written.refused, ...poison].map(({ place, record: _, ...letter }) => [place, letter]),
      );
      return this.#outcomes(request, written, letters);
    });
  }

  /** What the work comes to; `null` where the topic waits. Nothing was sent to PostgreSQL yet. */
  #unlessWaiting<T>(topic: string, work: () => T): T | null {
    if (this.#waiting.has(topic)) {
      return null;
    }
    try {
      return work();
    } catch (error) {
      return this.#leaveWaiting(topic, error);
    }
  }

  /**
   * What the work in the transaction comes to; `null` where the topic waits, and the work is taken back.
   *
   * @throws the error also where the transaction is over already, as where the role may not do what only a trial does
   */
  async #orWaiting<T>(client: PoolClient, topic: string, work: () => Promise<T>): Promise<T | null> {
    await client.query('SAVEPOINT tried');
    try {
      const done = await work();
      await client.query('RELEASE SAVEPOINT tried');
      return done;
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT tried').catch(() => {
        throw error;
      });
      return this.#leaveWaiting(topic, error);
    }
  }

  /** @throws the error, unless it is one that the topic waits for */
  #leaveWaiting(topic: string, error: unknown): null {
    if (!isOfTopic(error) || this.#named.isTemplated?.(topic) !== true) {
      throw error;
    }
    this.#waiting.set(topic, waitFor(error));
    return null;
  }

  #outcomes(
    { topic, partition, records }: WriteRequest,
    written: Admitted,
    letters: ReadonlyMap<number, Refusal>,
  ): readonly TriedRecord[] {
    const rows = rowsByPlace(written);
    this.#look(written, letters);
    return [...records].map((record, place): TriedRecord => {
      const letter = letters.get(place);
      return {
        ...{ topic, partition, record },
        outcome: letter === undefined ? { rows: rows.get(place) ?? [] } : { letter },
      };
    });
  }

  /** Looks at the rows of tables of the user's own that would be stored. */
  #look({ admitted, batches }: Admitted, letters: ReadonlyMap<number, Refusal>): void {
    for (const { table, rows } of batches) {
      const mapping = this.#mapped.all.find((each) => each === table)?.mapping;
      if (mapping === undefined) {
        continue;
      }
      const seen = this.#columns.get(table) ?? new SeenColumns(mapping);
      this.#columns.set(table, seen);
      for (let nth = 0; nth < admitted.length; nth += 1) {
        const isStored = !letters.has(admitted.at(nth)?.place ?? -1);
        if (isStored && rows.rowsIn(nth, nth + 1) > 0 && !rows.deletes.has(nth)) {
          seen.add(rows.part(nth, nth + 1));
        }
      }
    }
  }

  #note(topic: string, name: string): void {
    const names = this.#unmapped.get(topic) ?? [];
    this.#unmapped.set(topic, names.includes(name) ? names : [...names, name]);
  }
}

/** What each record does in its tables, by its place in the request. */
function rowsByPlace({ admitted, batches }: Admitted): ReadonlyMap<number, readonly TriedRow[]> {
  const found = new Map<number, readonly TriedRow[]>();
  for (let nth = 0; nth < admitted.length; nth += 1) {
    const takers = batches.filter(({ rows: ofTable }) => !ofTable.unmatched.has(nth));
    const rows = takers.map(({ table, rows: ofTable }): TriedRow => {
      const operation = ofTable.deletes.has(nth) ? 'delete' : (table.operation ?? 'append');
      return { table: table.name, operation: ofTable.rowsIn(nth, nth + 1) > 0 ? operation : 'skip' };
    });
    found.set(admitted.at(nth)?.place ?? nth, rows);
  }
  return found;
}
