import { DatabaseError, type PoolClient } from 'pg';
import { DEAD_LETTER_REASON } from '../../contract/dead-letter-reasons.ts';
import { countReasons, type DeadLetter } from '../stream/dead-letter.ts';
import type { StreamRecord } from '../stream/record.ts';
import type { WriteOutcome, WriteRequest } from '../stream/record-sink.ts';
import { type Admission, reasonOf, refusal } from './admit-record.ts';
import { alreadyWritten } from './already-written.ts';
import { copyInto } from './copy-into.ts';
import { RowRefused, storeWithoutPoison } from './isolate-poison.ts';
import { beginMovingOffset, commit } from './move-offset.ts';
import { RECORDS, RecordRows } from './record-rows.ts';
import { describeDatabaseError, verdictOn } from './sqlstate.ts';
import { type DeadLetterHandling, writeDeadLetters } from './write-dead-letters.ts';

/** Whose offsets are moved, and where the tables are. */
export interface WriteTarget extends Admission {
  readonly schema: string;
  readonly groupId: string;
  readonly deadLetters: DeadLetterHandling;
}

/** A record that does not go into `records`. */
type Refused = Pick<DeadLetter, 'record' | 'reason' | 'error'>;

/**
 * One transaction: the offset moves from exactly the expected value to the next one, the rows and the dead letters are
 * written. If the offset is not the expected one, nothing happens.
 *
 * The update takes the row's lock, so of two writers with the same expectation the second waits, then sees the offset
 * that the first has committed, matches no row and writes nothing. Only a `COMMIT` that the server answered counts as
 * committed; every other end leaves the outcome to be read from the stored offset.
 */
export async function writeRecords(
  client: PoolClient,
  target: WriteTarget,
  request: WriteRequest,
): Promise<WriteOutcome> {
  if (!(await beginMovingOffset(client, target, request))) {
    return { kind: 'fenced' };
  }
  const admitted: StreamRecord[] = [];
  const refused: Refused[] = [];
  for (const record of request.records) {
    const reason = refusal(record, target);
    if (reason === null) {
      admitted.push(record);
    } else {
      refused.push({ record, reason, error: DEAD_LETTER_REASON[reason] });
    }
  }
  const poison = await copyRecords(client, target, request, admitted);
  refused.push(...poison);
  const deadLetters = countReasons(refused);
  target.deadLetters.limit.check(request, deadLetters);
  await writeDeadLetters(client, target, deadLettersOf(target, request, refused));
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
  { schema, groupId, keyEncoding }: WriteTarget,
  { topic, partition }: WriteRequest,
  records: readonly StreamRecord[],
): Promise<Refused[]> {
  const rows = new RecordRows(topic, partition, records, keyEncoding);
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

/** Whose fault a failed COPY is: the row's that its context names, or nobody's. */
function asRefusal(error: unknown, groupId: string): unknown {
  const duplicate = alreadyWritten(error, groupId);
  if (duplicate) {
    return duplicate;
  }
  if (error instanceof DatabaseError && error.code !== undefined && verdictOn(error) === 'isolate') {
    return new RowRefused(error.code, refusedIndex(error.where), { cause: error });
  }
  return error;
}

/** The context's last `COPY records, line N`; a JSON error prints a line of its own before, and neither is ever logged. */
function refusedIndex(context: string | undefined): number | null {
  const lines = [...(context ?? '').matchAll(/^COPY records, line (\d+)/gm)];
  const line = Number(lines.at(-1)?.[1] ?? 0);
  return line > 0 ? line - 1 : null;
}
