import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { DatabasePool } from '../store/database-pool.ts';
import { type Admission, type KeyEncoding, refusal } from '../store/record-rows.ts';
import { describeDatabaseError, reasonOf, verdictOn } from '../store/sqlstate.ts';
import { BEGIN_ROWS, commit } from '../store/transaction.ts';
import type { DeadLetterFilter, ReplayRequest } from './dead-letters-request.ts';
import {
  COLUMNS,
  type DeadLetterPlace,
  type DeadLetterRow,
  deadLetterOf,
  deadLettersTable,
  type StoredDeadLetter,
  selection,
} from './dead-letters-table.ts';

/**
 * The outcome of a dead letter's replay.
 *
 * - `moved`: it is a row of `records` now, and no dead letter
 * - `refused`: it still does not fit; the dead letter stays, with its new reason and error
 * - `present`: `records` has the record already; the dead letter stays
 */
export interface ReplayOutcome {
  readonly kind: 'moved' | 'refused' | 'present';
  readonly letter: StoredDeadLetter;
}

/** The schema of the tables, the conditions of a record, and whether anything is changed. */
interface ReplayTarget extends Admission {
  readonly schema: string;
  readonly dryRun: boolean;
}

interface LockedRow extends DeadLetterRow {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly has_timestamp: boolean;
}

interface Refusal {
  readonly reason: DeadLetterReason;
  readonly error: string;
}

const PRIMARY_KEY = 'group_id = $1 AND topic = $2 AND partition = $3 AND "offset" = $4';

const keyOf = ({ groupId, topic, partition, offset }: DeadLetterPlace) => [
  groupId,
  topic,
  partition,
  offset.toString(),
];

/**
 * Replays the next dead letter of a filter in one transaction: its row appears in `records` and goes from
 * `dead_letters`, or neither. The dead letter is locked meanwhile and locked ones are skipped, so several replays at
 * once share the work.
 *
 * @param after the dead letter before; `null` begins with the first
 * @returns `null` when no dead letter is left
 */
export async function replayNext(
  client: PoolClient,
  target: ReplayTarget,
  filter: DeadLetterFilter,
  after: DeadLetterPlace | null,
): Promise<ReplayOutcome | null> {
  await client.query(BEGIN_ROWS);
  const row = await lockNext(client, target.schema, filter, after);
  if (row === undefined) {
    await client.query('ROLLBACK');
    return null;
  }
  const outcome = await replay(client, target, row);
  if (target.dryRun || outcome.kind === 'present') {
    await client.query('ROLLBACK');
  } else {
    await commit(client);
  }
  return outcome;
}

async function lockNext(
  client: PoolClient,
  schema: string,
  filter: DeadLetterFilter,
  after: DeadLetterPlace | null,
): Promise<LockedRow | undefined> {
  const { sql, values } = selection(filter, after);
  const { rows } = await client.query<LockedRow>(
    `SELECT ${COLUMNS}, key, value, timestamp IS NOT NULL AS has_timestamp FROM ${deadLettersTable(schema)}
      WHERE ${sql} ORDER BY group_id, topic, partition, "offset" LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [...values],
  );
  return rows[0];
}

async function replay(client: PoolClient, target: ReplayTarget, row: LockedRow): Promise<ReplayOutcome> {
  const letter = deadLetterOf(row);
  const known = knownRefusal(row, target);
  const inserted = known ?? (await insert(client, target, letter));
  if (typeof inserted === 'object') {
    await client.query(`UPDATE ${deadLettersTable(target.schema)} SET reason = $5, error = $6 WHERE ${PRIMARY_KEY}`, [
      ...keyOf(letter),
      inserted.reason,
      inserted.error,
    ]);
    return { kind: 'refused', letter: { ...letter, ...inserted } };
  }
  if (!inserted) {
    return { kind: 'present', letter };
  }
  await client.query(`DELETE FROM ${deadLettersTable(target.schema)} WHERE ${PRIMARY_KEY}`, keyOf(letter));
  return { kind: 'moved', letter };
}

/** The conditions of a record that comes from Kafka; a timestamp that did not fit is not in the table. */
function knownRefusal({ key, value, reason, has_timestamp }: LockedRow, admission: Admission): Refusal | null {
  const isLost = reason === 'timestamp_out_of_range' && !has_timestamp;
  const record = { offset: 0n, timestamp: 0n, key, value, headers: [] };
  const found = isLost ? 'timestamp_out_of_range' : refusal(record, admission);
  return found === null ? null : { reason: found, error: DEAD_LETTER_REASON[found] };
}

/** The key as `records` holds it: base64 without the line breaks that PostgreSQL's encode adds. */
const KEY_COLUMN: Readonly<Record<KeyEncoding, string>> = {
  text: "convert_from(key, 'UTF8')",
  base64: "translate(encode(key, 'base64'), E'\\n', '')",
};

/** Whether the row was inserted, `false` when it was there; or PostgreSQL's refusal. */
async function insert(
  client: PoolClient,
  { schema, keyEncoding }: ReplayTarget,
  letter: StoredDeadLetter,
): Promise<boolean | Refusal> {
  await client.query('SAVEPOINT fit');
  try {
    const { rowCount } = await client.query(
      `INSERT INTO ${escapeIdentifier(schema)}.records (topic, partition, "offset", timestamp, key, headers, value)
       SELECT topic, partition, "offset", timestamp, ${KEY_COLUMN[keyEncoding]}, headers, convert_from(value, 'UTF8')::jsonb
         FROM ${deadLettersTable(schema)} WHERE ${PRIMARY_KEY}
       ON CONFLICT (topic, partition, "offset") DO NOTHING`,
      keyOf(letter),
    );
    return rowCount === 1;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code === undefined || verdictOn(error) !== 'isolate') {
      throw error;
    }
    await client.query('ROLLBACK TO SAVEPOINT fit');
    return { reason: reasonOf(error.code), error: describeDatabaseError(error) };
  }
}

/**
 * Replays the dead letters that a request selects, one transaction after the other, in the order of group, topic,
 * partition and offset, and yields the outcome of each once its transaction is over.
 *
 * @param signal when it is aborted, the current transaction is finished and no other begun
 * @throws OutageError, FatalError when PostgreSQL is away or refuses; what was moved before stays moved
 */
export async function* replayDeadLetters(
  pool: Pick<DatabasePool, 'withClient'>,
  target: ReplayTarget,
  { filter, limit = Number.POSITIVE_INFINITY }: Pick<ReplayRequest, 'filter' | 'limit'>,
  signal: AbortSignal,
): AsyncGenerator<ReplayOutcome> {
  let after: DeadLetterPlace | null = null;
  for (let seen = 0; seen < limit && !signal.aborted; seen += 1) {
    const place: DeadLetterPlace | null = after;
    const outcome: ReplayOutcome | null = await pool.withClient((client) => replayNext(client, target, filter, place));
    if (outcome === null) {
      return;
    }
    after = outcome.letter;
    yield outcome;
  }
}
