import { DatabaseError } from 'pg';
import { partitionKey, type TopicPartition } from '../../records/record.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import type { RowRefused } from '../copy/isolate-poison.ts';
import type { AdmittedRecords, TableRows } from '../tables/admit.ts';
import type { RefusedRecord, Rows, Table } from '../tables/table.ts';

/**
 * So many rows of one COPY that a constraint or trigger refuses alike, with none that it takes, are not the fault of
 * each: fewer may be the work of one bad producer, and `deadLetters.maxRatio` bounds those.
 */
const ALIKE_ROWS = 100;

/** The same for a topic that may wait, over its transactions: the next row that the table takes ends that wait. */
const ALIKE_ROWS_OF_WAITING = 10;

/** Fewer rows of a topic that may wait are held for so long, in milliseconds: more of them show what it is. */
const HELD_MS = 10_000;

/** What was not refused again for so long is gone, as with a partition that went to another process. */
const FORGOTTEN_MS = 60_000;

/**
 * Violations of constraints, policies and a view's check option, and errors of triggers. A duplicate is of one row, and
 * so is one that an exclusion constraint refuses.
 */
const BY_TABLE = /^(23(?!505|P01)|42501|44|P0)/;

/** A record whose row a table refused. */
export interface RefusedRow extends RefusedRecord {
  /** Among the records that are admitted. */
  readonly index: number;
  readonly refusedBy: Table;
  readonly cause: RowRefused;
}

/** Rows of one partition that a table refused, which are ahead of the stored offset. */
interface HeldRows {
  readonly rows: number;
  /** When they were refused first and last, in milliseconds of a monotonic clock. */
  readonly since: number;
  readonly last: number;
}

/** What a table has refused alike since it took a row. */
interface Refusals {
  readonly table: string;
  /** By partition. */
  readonly held: Map<string, HeldRows>;
  /** Partitions whose rows were held when the table took another one. */
  readonly atFault: Set<string>;
  /** How many rows are dead letters. */
  letters: number;
}

/**
 * Distinguishes a constraint or a trigger that refuses every row from one that refuses some rows.
 *
 * A few rows that a table refuses are dead letters. But a quiet table gets no more than a few rows of a trigger that
 * refuses every one. A topic that may wait has time to find out: its rows are held while its transaction is tried again
 * with what came meanwhile. The first row that the table takes shows that the refused ones are at fault. If none comes
 * in some seconds, few rows are dead letters. Many make the topic wait, and then the next row that the table takes ends
 * that wait.
 */
export class RefusedAlike {
  readonly #mayWait: (topic: string) => boolean;
  readonly #now: () => number;
  /** By what was violated. */
  readonly #refusals = new Map<string, Refusals>();

  /**
   * @param mayWait whether a topic waits where the process would end for any other one
   * @param now milliseconds of a monotonic clock. @default that of the process
   */
  constructor(mayWait: (topic: string) => boolean, now: () => number = () => performance.now()) {
    this.#mayWait = mayWait;
    this.#now = now;
  }

  /**
   * Asked when a table refused rows of a transaction, before they are dead letters.
   *
   * @param refused in the order of their records
   * @throws FatalError `TABLE_REFUSES_ROWS` when all were refused, alike, and they are many
   * @throws OutageError when all were, and what comes next may show whether they are at fault
   */
  requireSomeTaken(refused: readonly RefusedRow[], records: AdmittedRecords, batches: readonly TableRows[]): void {
    const indexes = new Set(refused.map(({ index }) => index));
    const taking = batches.filter(({ rows }) => isSomeTaken(rows, records.length, indexes));
    this.taken(records.of, taking);
    const [first] = refused;
    if (first === undefined) {
      return;
    }
    const violation = violationOf(first);
    const isAlike =
      BY_TABLE.test(first.cause.sqlstate) &&
      taking.every(({ table }) => table !== first.refusedBy) &&
      refused.every((other) => violationOf(other) === violation);
    if (this.#mayWait(records.of.topic)) {
      this.#hold(isAlike ? refused : [], partitionKey(records.of), violation);
    } else if (isAlike && refused.length >= ALIKE_ROWS) {
      throw refusesRows(refused, refused.length);
    }
  }

  /** Tables took rows of a transaction: what is held of other partitions is at fault. */
  taken(of: TopicPartition, batches: readonly TableRows[]): void {
    if (this.#refusals.size === 0) {
      return;
    }
    const taking = new Set(batches.flatMap(({ table, rows }) => (rows.length > rows.deletes.size ? table.name : [])));
    for (const [violation, { table, held, atFault }] of this.#refusals) {
      if (taking.has(table)) {
        const others = new Set([...atFault, ...held.keys()]);
        others.delete(partitionKey(of));
        others.size === 0
          ? this.#refusals.delete(violation)
          : this.#refusals.set(violation, { table, held: new Map(), atFault: others, letters: 0 });
      }
    }
  }

  /** What was refused of the partition is committed as dead letters: before that it counts for nothing. */
  becameLetters(of: TopicPartition): void {
    const partition = partitionKey(of);
    for (const refusals of this.#refusals.values()) {
      refusals.letters += refusals.held.get(partition)?.rows ?? 0;
      refusals.held.delete(partition);
      refusals.atFault.delete(partition);
    }
  }

  /** @param refused rows of the partition that a table refused; none where it took others, or not all alike */
  #hold(refused: readonly RefusedRow[], partition: string, violation: string): void {
    const now = this.#now();
    const before = this.#refusals.get(violation)?.held.get(partition);
    for (const { held } of this.#refusals.values()) {
      held.delete(partition);
    }
    const [first] = refused;
    if (first === undefined) {
      return;
    }
    const { held, atFault, letters } = this.#of(violation, first.refusedBy.name);
    if (atFault.has(partition)) {
      return;
    }
    const current = [...held.values()].filter(({ last }) => now - last < FORGOTTEN_MS);
    const all = current.reduce((sum, { rows }) => sum + rows, letters + refused.length);
    const since = before !== undefined && now - before.last < FORGOTTEN_MS ? before.since : now;
    held.set(partition, { rows: refused.length, since, last: now });
    if (all >= ALIKE_ROWS_OF_WAITING) {
      throw refusesRows(refused, all);
    }
    if (now - since < HELD_MS) {
      throw mayTakeOthers(refused);
    }
  }

  #of(violation: string, table: string): Refusals {
    const known = this.#refusals.get(violation);
    const refusals = known ?? { table, held: new Map(), atFault: new Set(), letters: 0 };
    this.#refusals.set(violation, refusals);
    return refusals;
  }
}

/** Whether a table took a row that inserts: one that deletes shows nothing of the others. */
function isSomeTaken(rows: Rows, records: number, refused: ReadonlySet<number>): boolean {
  for (let index = 0; index < records; index += 1) {
    if (!refused.has(index) && !rows.deletes.has(index) && rows.rowsIn(index, index + 1) > 0) {
      return true;
    }
  }
  return false;
}

/** The table, the SQLSTATE, and the constraint or column where one is named; a trigger's words may be of the row. */
function violationOf({ refusedBy, cause: { sqlstate, cause } }: RefusedRow): string {
  const { constraint, column } = cause instanceof DatabaseError ? cause : {};
  return [refusedBy.name, sqlstate, constraint, column].join(' ');
}

const offsetsOf = (refused: readonly RefusedRow[]): string =>
  `from offset ${refused[0]?.record.offset} up to ${refused.at(-1)?.record.offset}: ${refused[0]?.error}`;

/** @param rows how many were refused, those of other transactions too */
const refusesRows = (refused: readonly RefusedRow[], rows: number): FatalError =>
  new FatalError(
    'TABLE_REFUSES_ROWS',
    `the table ${refused[0]?.refusedBy.name} refuses each of ${rows} rows alike, ${offsetsOf(refused)}. Nothing was ` +
      'written, and these records stay ahead of the stored offset. Drop or change the constraint or trigger and start ' +
      'again; or set deadLetters.maxRatio to 1 to have such records as dead letters',
  );

const mayTakeOthers = (refused: readonly RefusedRow[]): OutageError =>
  new OutageError(
    `the table ${refused[0]?.refusedBy.name} refuses all ${refused.length} rows alike, ${offsetsOf(refused)}. Nothing was ` +
      `written, and these records stay ahead of the stored offset for ${HELD_MS / 1_000} s, or until the table takes ` +
      `another row. Then they are dead letters, unless ${ALIKE_ROWS_OF_WAITING} or more in a row are refused alike`,
    { reason: 'database_busy', table: refused[0]?.refusedBy.name ?? '', isBrief: true },
  );
