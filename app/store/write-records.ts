import type { PoolClient } from 'pg';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { countReasons, type DeadLetter, type DeadLetterLimit, type DeadLetterTopic } from '../stream/dead-letter.ts';
import type { StreamRecord } from '../stream/record.ts';
import type { WriteOutcome, WriteRequest } from '../stream/record-sink.ts';
import { copyInto } from './binary-copy.ts';
import { beginMovingOffset, movingOffset, writeAtOnce } from './compare-and-set.ts';
import { storeWithoutPoison } from './isolate-poison.ts';
import { type Admission, DEAD_LETTERS, deadLetterRows, RECORDS, RecordRows, refusal } from './record-rows.ts';
import { alreadyWritten, asRefusal, describeDatabaseError, reasonOf } from './sqlstate.ts';
import { commit } from './transaction.ts';

/** The group, the schema of its tables, and the conditions of its rows. */
export interface WriteTarget extends Admission {
  readonly schema: string;
  readonly groupId: string;
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
 * when PostgreSQL refuses a row there, that transaction is rolled back as if it had never been, and another one finds
 * out which rows it can take.
 */
export async function writeRecords(
  client: PoolClient,
  target: WriteTarget,
  request: WriteRequest,
): Promise<WriteOutcome> {
  const { admitted, refused } = admit(target, request);
  const rows = new RecordRows(request.topic, request.partition, admitted, target.keyEncoding);
  if (rows.length > 0 && refused.length === 0 && target.deadLetters.limit.accepts(request, NO_DEAD_LETTERS)) {
    const end = await writeAtOnce(client, target, { moving: movingOffset(target, request), moved: 1 }, rows.all);
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

export const NO_DEAD_LETTERS: ReadonlyMap<DeadLetterReason, number> = new Map();

/** The outcome of a request with a row for each record. */
export function asCommitted({ deadLetters }: WriteTarget, request: WriteRequest): WriteOutcome {
  deadLetters.limit.committed(request, NO_DEAD_LETTERS);
  return { kind: 'committed', deadLetters: NO_DEAD_LETTERS, rows: new Map([['copy', request.records.length]]) };
}

async function writePartByPart(
  client: PoolClient,
  target: WriteTarget,
  request: WriteRequest,
  { admitted, refused, rows }: Admitted & { readonly rows: RecordRows },
): Promise<WriteOutcome> {
  if (!(await beginMovingOffset(client, target, request))) {
    return { kind: 'fenced' };
  }
  const poison = await copyRecords(client, target, admitted, rows);
  const letters = [...refused, ...poison];
  const deadLetters = countReasons(letters);
  target.deadLetters.limit.check(request, deadLetters);
  await writeDeadLetters(client, target, deadLettersOf(target, request, letters));
  await commit(client);
  target.deadLetters.limit.committed(request, deadLetters);
  return { kind: 'committed', deadLetters, rows: new Map([['copy', admitted.length - poison.length]]) };
}

const deadLettersOf = (
  { groupId }: WriteTarget,
  { topic, partition }: WriteRequest,
  refused: readonly Refused[],
): readonly DeadLetter[] => refused.map((letter) => ({ groupId, topic, partition, ...letter }));

async function copyRecords(
  client: PoolClient,
  { schema, groupId }: WriteTarget,
  records: readonly StreamRecord[],
  rows: RecordRows,
): Promise<Refused[]> {
  const poison = await storeWithoutPoison(rows.length, async (from, to) => {
    try {
      await copyInto(client, schema, RECORDS, rows.part(from, to));
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT part');
      throw asRefusal(error, groupId);
    }
    if (to < rows.length || from > 0) {
      await client.query('RELEASE SAVEPOINT part; SAVEPOINT part');
    }
  });
  return poison.flatMap(({ index, cause }) => {
    const record = records[index];
    return record ? [{ record, reason: reasonOf(cause.sqlstate), error: describeDatabaseError(cause.cause) }] : [];
  });
}

/**
 * Writes dead letters within the transaction under way: the rows first, since they may be refused and a topic takes
 * nothing back; the topic before COMMIT, since a crash after COMMIT would leave them unsent for ever.
 */
async function writeDeadLetters(
  client: PoolClient,
  target: { readonly schema: string; readonly groupId: string; readonly deadLetters: DeadLetterHandling },
  letters: readonly DeadLetter[],
): Promise<void> {
  if (letters.length === 0) {
    return;
  }
  const { schema, groupId, deadLetters } = target;
  if (deadLetters.toTable) {
    await copyInto(client, schema, DEAD_LETTERS, deadLetterRows(letters)).catch((error: unknown) => {
      throw alreadyWritten(error, groupId) ?? error;
    });
  }
  await deadLetters.topic?.send(letters);
}
