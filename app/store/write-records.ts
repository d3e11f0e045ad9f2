import type { PoolClient } from 'pg';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { countReasons, type DeadLetter, type DeadLetterLimit, type DeadLetterTopic } from '../stream/dead-letter.ts';
import type { StreamRecord } from '../stream/record.ts';
import type { WriteOutcome, WriteRequest } from '../stream/record-sink.ts';
import { copyInto, copyStatement } from './binary-copy.ts';
import { beginMovingOffset, movingOffset, writeAtOnce } from './compare-and-set.ts';
import { droppedRows } from './dropped-rows.ts';
import { RowRefused, storeWithoutPoison } from './isolate-poison.ts';
import { newestLetters } from './newest-letters.ts';
import type { OwnTables } from './own-tables.ts';
import { type Admission, DEAD_LETTERS, deadLetterRows, RECORDS, RecordRows, refusal } from './record-rows.ts';
import { RefusingTable, requireSomeTaken } from './refusing-table.ts';
import { asRefusal, describeDatabaseError, reasonOf } from './sqlstate.ts';
import { commit, type Timeouts } from './transaction.ts';

/** The group, the schema of its tables, and the conditions of its rows. */
export interface WriteTarget extends Admission {
  readonly schema: string;
  readonly groupId: string;
  readonly timeouts: Timeouts;
  readonly tables: OwnTables;
  /** Whether the rows that a trigger leaves are committed without the ones that it drops. */
  readonly allowsDroppedRows: boolean;
  readonly deadLetters: DeadLetterHandling;
}

/** Where dead letters go, and how many there may be. */
interface DeadLetterHandling {
  /** Whether they are rows of `dead_letters`. */
  readonly toTable: boolean;
  /** The topic that takes them; `null` for none. */
  readonly topic: DeadLetterTopic | null;
  readonly limit: DeadLetterLimit;
}

/** A record that does not go into `records`. */
type Refused = Pick<DeadLetter, 'record' | 'reason' | 'error'>;

/**
 * One transaction: the offset moves from exactly the expected value to the next one, the rows and the dead letters are
 * written. If the offset is not the expected one, nothing happens.
 *
 * The update takes the row's lock, so of two writers with the same expectation the second waits, then sees the offset
 * that the first has committed, matches no row and writes nothing; or it fails, if that takes long. Only a `COMMIT`
 * that the server answered counts as committed; every other end leaves the outcome to be read from the stored offset.
 *
 * Where there are records and none is known to be bad, which is nearly always, it is tried in two round trips first;
 * when PostgreSQL refuses a row there, or a trigger drops one, that transaction is rolled back as if it had never been,
 * and another one finds out which rows it can take.
 */
export async function writeRecords(
  client: PoolClient,
  target: WriteTarget,
  request: WriteRequest,
): Promise<WriteOutcome> {
  const { admitted, refused } = admit(target, request);
  const rows = new RecordRows(request.topic, request.partition, admitted, target.keyEncoding);
  if (rows.length > 0 && refused.length === 0) {
    const end = await writeAtOnce(client, target, { moving: movingOffset(target, request), gaps: [request] }, rows);
    if (end === 'declined') {
      return { kind: 'fenced' };
    }
    if (end === 'committed') {
      return asCommitted(target, request);
    }
  }
  return writePartByPart(client, target, request, { admitted, refused, rows });
}

/**
 * The records of a request that become rows and those that do not, as far as can be told before PostgreSQL has seen
 * them.
 */
interface Admitted {
  readonly admitted: readonly StreamRecord[];
  readonly refused: readonly Refused[];
}

export function admit(target: Admission, { records }: WriteRequest): Admitted {
  const admitted: StreamRecord[] = [];
  const refused: Refused[] = [];
  for (const record of records) {
    const reason = refusal(record, target);
    if (reason === null) {
      admitted.push(record);
    } else {
      refused.push({ record, reason, error: DEAD_LETTER_REASON[reason] });
    }
  }
  return { admitted, refused };
}

const NO_DEAD_LETTERS: ReadonlyMap<DeadLetterReason, number> = new Map();

/** The outcome of a request with a row for each record. */
export function asCommitted({ deadLetters }: WriteTarget, request: WriteRequest): WriteOutcome {
  deadLetters.limit.written(request.records.length);
  return { kind: 'committed', deadLetters: NO_DEAD_LETTERS, rows: new Map([['copy', request.records.length]]) };
}

async function writePartByPart(
  client: PoolClient,
  target: WriteTarget,
  request: WriteRequest,
  { admitted, refused, rows }: Admitted & { readonly rows: RecordRows },
): Promise<WriteOutcome> {
  const { limit } = target.deadLetters;
  await limit.recall(() => newestLetters(client, target));
  if (!(await beginMovingOffset(client, target, request))) {
    return { kind: 'fenced' };
  }
  await target.tables.requireLocked(client);
  const { poison, stored } = await copyRecords(client, target, admitted, rows);
  requireStored(client, target, request, { sent: rows.length - poison.length, stored });
  const letters = [...refused, ...poison];
  if (letters.length === 0) {
    await commit(client);
    limit.written(request.records.length);
  } else {
    await limit.committing(request, letters, async () => {
      await writeDeadLetters(client, target, request, deadLettersOf(target, request, letters));
      await commit(client);
    });
  }
  return { kind: 'committed', deadLetters: countReasons(letters), rows: new Map([['copy', stored]]) };
}

/**
 * Compares the rows that the table took with those that it was sent, before COMMIT: the transaction of a mismatch is
 * rolled back, and its records stay ahead of the stored offset.
 *
 * @throws FatalError `ROWS_DROPPED` unless such rows are allowed: then they are in no table, and counted
 */
function requireStored(
  client: PoolClient,
  { tables, allowsDroppedRows }: WriteTarget,
  request: WriteRequest,
  counts: { readonly sent: number; readonly stored: number },
): void {
  if (counts.stored < counts.sent && !allowsDroppedRows) {
    const triggers = tables.rowTriggers(client);
    throw droppedRows([request], { ...counts, table: RECORDS.table, triggers, isCommitted: false });
  }
}

const deadLettersOf = (
  { groupId }: WriteTarget,
  { topic, partition }: WriteRequest,
  refused: readonly Refused[],
): readonly DeadLetter[] => refused.map((letter) => ({ groupId, topic, partition, ...letter }));

/** Records that PostgreSQL refused, and how many rows of the others the table took. */
interface CopiedRecords {
  readonly poison: readonly Refused[];
  readonly stored: number;
}

async function copyRecords(
  client: PoolClient,
  target: WriteTarget,
  records: readonly StreamRecord[],
  rows: RecordRows,
): Promise<CopiedRecords> {
  const table = new RefusingTable(client, target);
  let stored = 0;
  const poison = await storeWithoutPoison(rows.length, async (from, to) => {
    const part = { format: 'binary', rows: rows.part(from, to) } as const;
    const count = await copyInto(client, copyStatement(target.schema, RECORDS), part).catch(async (error: unknown) => {
      const refusal = asRefusal(error);
      if (refusal instanceof RowRefused) {
        await client.query('ROLLBACK TO SAVEPOINT part');
        await table.requireInnocent(refusal);
      }
      throw refusal;
    });
    stored += count;
    if (to < rows.length || from > 0) {
      await client.query('RELEASE SAVEPOINT part; SAVEPOINT part');
    }
  });
  if (!target.deadLetters.limit.isWithout) {
    requireSomeTaken(poison, records);
  }
  const refused = poison.flatMap(({ index, cause }) => {
    const record = records[index];
    return record ? [{ record, reason: reasonOf(cause.sqlstate), error: describeDatabaseError(cause.cause) }] : [];
  });
  return { poison: refused, stored };
}

/**
 * Writes dead letters within the transaction under way: the rows first, since they may be refused and a topic takes
 * nothing back; the topic before COMMIT, since a crash after COMMIT would leave them unsent for ever.
 *
 * @throws FatalError `ROWS_DROPPED` when a trigger dropped one, whatever is allowed for records: it would be nowhere
 */
async function writeDeadLetters(
  client: PoolClient,
  { schema, groupId, tables, deadLetters }: WriteTarget,
  request: WriteRequest,
  letters: readonly DeadLetter[],
): Promise<void> {
  if (deadLetters.toTable) {
    const rows = { format: 'binary', rows: deadLetterRows(letters) } as const;
    const stored = await copyInto(client, copyStatement(schema, DEAD_LETTERS), rows).catch(async (error: unknown) => {
      await client.query('ROLLBACK');
      await tables.requireUnwritten(client, groupId, error);
      throw error;
    });
    if (stored < letters.length) {
      const counts = { table: DEAD_LETTERS.table, sent: letters.length, stored };
      throw droppedRows([request], { ...counts, triggers: [], isCommitted: false });
    }
  }
  await deadLetters.topic?.send(letters);
}
