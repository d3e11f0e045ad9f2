import { isDeepStrictEqual } from 'node:util';
import type { PoolClient } from 'pg';
import type { DatabasePool } from '../../store/connection/database-pool.ts';
import { BEGIN_ROWS, commit } from '../../store/connection/transaction.ts';
import {
  type DeadLetterFilter,
  type DeadLetterPlace,
  deadLetterOf,
  deadLettersTable,
  LETTER_COLUMNS,
  type SelectingRequest,
  type StoredDeadLetter,
  selection,
} from './dead-letters-table.ts';
import {
  type LockedLetter,
  PRIMARY_KEY,
  type Present,
  placeValues,
  type ReplayTables,
  writeLetter,
} from './replay-rows.ts';

/** The command `dead-letters replay`. */
export interface ReplayRequest extends SelectingRequest {
  /** Whether everything is tried, and nothing changed. */
  readonly dryRun: boolean;
  /** Whether rows of the letters' keys, which may be of newer records, are replaced and deleted. */
  readonly overwrite: boolean;
  /** The value that the record of the one letter should have had. @default the one that the letter has */
  readonly value?: Buffer;
}

/**
 * The outcome of a dead letter's replay.
 *
 * - `moved`: it is a row of each of its tables now, and no dead letter
 * - `refused`: it still does not fit; the dead letter stays, with its new reason and error
 * - `present`: `records` has the record already, or a table with a key has a row of its key, which may be of a newer
 *   record; the dead letter stays
 */
export type ReplayOutcome =
  | { readonly kind: 'moved' | 'refused'; readonly letter: StoredDeadLetter }
  | ({ readonly kind: 'present'; readonly letter: StoredDeadLetter } & Present);

/** Where records go, and whether anything is changed. */
interface ReplayTarget extends ReplayTables {
  readonly dryRun: boolean;
  /** Takes the place of the value of each letter; where that is refused, the letter stays as it is. */
  readonly value?: Buffer | undefined;
  /** Fetches what the record of a letter cannot be a row without; `undefined` where nothing is missing. */
  prepare(letter: LockedLetter): Promise<void> | undefined;
}

/** The next letter is not written yet: something is missing for that, which no transaction waits for. */
interface Unprepared {
  readonly place: DeadLetterPlace;
  readonly preparing: Promise<void>;
}

/** How far a replay has come. */
interface ReplayPlace {
  /** The dead letter before; `null` begins with the first. */
  readonly after: DeadLetterPlace | null;
  /** The dead letter that all was fetched for; `null`: none. */
  readonly prepared: DeadLetterPlace | null;
}

const isSameLetter = (one: DeadLetterPlace, other: DeadLetterPlace | null): boolean =>
  other !== null && isDeepStrictEqual(placeValues(one), placeValues(other));

/**
 * Replays the next dead letter of a filter in one transaction: its record is in all of its tables and the letter goes
 * from `dead_letters`, or neither. The dead letter is locked meanwhile and locked ones are skipped, so several replays
 * at once share the work.
 *
 * @returns `null` when no dead letter is left
 */
export async function replayNext(
  client: PoolClient,
  target: ReplayTarget,
  filter: DeadLetterFilter,
  { after, prepared }: ReplayPlace,
): Promise<ReplayOutcome | Unprepared | null> {
  await client.query(BEGIN_ROWS);
  const locked = await lockNext(client, target.schema, filter, after);
  if (locked === undefined) {
    await client.query('ROLLBACK');
    return null;
  }
  const row = target.value === undefined ? locked : { ...locked, value: target.value };
  const place = deadLetterOf(row);
  const preparing = isSameLetter(place, prepared) ? undefined : target.prepare(row);
  if (preparing !== undefined) {
    await client.query('ROLLBACK');
    return { place, preparing };
  }
  const outcome = await replayLocked(client, target, row);
  const isKeptAsItIs = outcome.kind === 'present' || (outcome.kind === 'refused' && target.value !== undefined);
  if (target.dryRun || isKeptAsItIs) {
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
): Promise<LockedLetter | undefined> {
  const { sql, values } = selection(filter, after);
  const { rows } = await client.query<LockedLetter>(
    `SELECT ${LETTER_COLUMNS}, key, value FROM ${deadLettersTable(schema)}
      WHERE ${sql} ORDER BY group_id, topic, partition, "offset" LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [...values],
  );
  return rows[0];
}

async function replayLocked(client: PoolClient, target: ReplayTarget, row: LockedLetter): Promise<ReplayOutcome> {
  const letter = deadLetterOf(row);
  if (target.value !== undefined) {
    await client.query(`UPDATE ${deadLettersTable(target.schema)} SET value = $5 WHERE ${PRIMARY_KEY}`, [
      ...placeValues(letter),
      target.value,
    ]);
  }
  const written = await writeLetter(client, target, row);
  if (written !== 'written' && 'presentIn' in written) {
    return { kind: 'present', letter, ...written };
  }
  if (written !== 'written') {
    const { reason, error, target: table = null, targetColumn = null } = written;
    await client.query(
      `UPDATE ${deadLettersTable(target.schema)} SET reason = $5, error = $6, target = $7, target_column = $8 WHERE ${PRIMARY_KEY}`,
      [...placeValues(letter), reason, error, table, targetColumn],
    );
    return { kind: 'refused', letter: { ...letter, reason, error, target: table, targetColumn } };
  }
  await client.query(`DELETE FROM ${deadLettersTable(target.schema)} WHERE ${PRIMARY_KEY}`, placeValues(letter));
  return { kind: 'moved', letter };
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
  let prepared: DeadLetterPlace | null = null;
  for (let seen = 0; seen < limit && !signal.aborted; ) {
    const place: ReplayPlace = { after, prepared };
    const outcome: ReplayOutcome | Unprepared | null = await pool.withClient((client) =>
      replayNext(client, target, filter, place),
    );
    if (outcome === null) {
      return;
    }
    if ('preparing' in outcome) {
      await outcome.preparing;
      prepared = outcome.place;
      continue;
    }
    seen += 1;
    after = outcome.letter;
    yield outcome;
  }
}
