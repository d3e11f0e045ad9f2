import { escapeIdentifier, type PoolClient } from 'pg';
import { BEGIN, commit } from '../../store/connection/transaction.ts';
import {
  deadLettersTable,
  LETTER_COLUMNS,
  type LetterPlace,
  type ListedDeadLetter,
  type ListedRow,
  listedLetter,
  selection,
} from './dead-letters-table.ts';

/** The command `dead-letters show`. */
export interface ShowRequest {
  readonly place: LetterPlace;
  readonly json: boolean;
}

/** The command `dead-letters discard`. */
export interface DiscardRequest extends ShowRequest {
  /** Why nobody needs the record; stored with it. */
  readonly because: string;
}

/** No such letter, in words; or letters of several groups. */
export interface NoLetter {
  readonly words: string;
}

export const placeText = ({ topic, partition, offset }: LetterPlace): string => `${topic}/${partition}/${offset}`;

/** The filter of one place. */
export const atPlace = (place: LetterPlace) => ({ reasons: [], topics: [], place });

const discardedLettersTable = (schema: string): string => `${escapeIdentifier(schema)}.discarded_letters`;

/** The one letter at a place, with its record. */
export async function findLetter(
  client: PoolClient,
  schema: string,
  place: LetterPlace,
): Promise<ListedDeadLetter | NoLetter> {
  const { sql, values } = selection(atPlace(place), null);
  const { rows } = await client.query<ListedRow>(
    `SELECT ${LETTER_COLUMNS}, key, value FROM ${deadLettersTable(schema)} WHERE ${sql} ORDER BY group_id LIMIT 10`,
    [...values],
  );
  const [row, ...others] = rows;
  if (row === undefined) {
    return noLetter(client, schema, place);
  }
  const groups = rows.map(({ group_id: group }) => group).join(', ');
  return others.length === 0
    ? listedLetter(row)
    : { words: `several groups have a dead letter ${placeText(place)}: ${groups}. Choose one with --group` };
}

async function noLetter(client: PoolClient, schema: string, place: LetterPlace): Promise<NoLetter> {
  const none = `there is no dead letter ${placeText(place)}${place.groupId === undefined ? '' : ` of group ${place.groupId}`}`;
  const table = discardedLettersTable(schema);
  const found = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  if (found.rows[0]?.exists !== true) {
    return { words: none };
  }
  const { sql, values } = selection(atPlace(place), null);
  const { rows } = await client.query<{ because: string; by: string; at: Date }>(
    `SELECT because, discarded_by AS by, discarded_at AS at FROM ${table} WHERE ${sql} ORDER BY discarded_at DESC LIMIT 1`,
    [...values],
  );
  const [discarded] = rows;
  return {
    words: discarded
      ? `${none}: ${discarded.by} discarded it at ${discarded.at.toISOString()}, because: ${discarded.because}`
      : none,
  };
}

/** Columns that a letter keeps when it is discarded. */
const MOVED =
  'group_id, topic, partition, "offset", timestamp, key, headers, value, reason, error, failed_at, target, target_column';

/**
 * Moves a letter to `discarded_letters` in one transaction, with its record, the reason given, the session's role and
 * the time; or it stays. A letter that another transaction holds is waited for: what is gone then is not discarded.
 *
 * @throws Error of the driver when PostgreSQL is away or refuses; the letter stays
 */
export async function discardLetter(
  client: PoolClient,
  schema: string,
  { place, because }: DiscardRequest,
): Promise<ListedDeadLetter | NoLetter> {
  await client.query(BEGIN);
  const letter = await findLetter(client, schema, place);
  if ('words' in letter) {
    await client.query('ROLLBACK');
    return letter;
  }
  const { sql, values } = selection(atPlace({ ...place, groupId: letter.groupId }), null);
  const { rowCount } = await client.query(
    `WITH letter AS (DELETE FROM ${deadLettersTable(schema)} WHERE ${sql} RETURNING ${MOVED})
     INSERT INTO ${discardedLettersTable(schema)} (${MOVED}, because) SELECT ${MOVED}, $${values.length + 1}::text FROM letter`,
    [...values, because],
  );
  if (rowCount !== 1) {
    await client.query('ROLLBACK');
    return {
      words: `the dead letter ${placeText(place)} was not discarded, and nothing was changed: another transaction took it meanwhile, or a trigger drops the row`,
    };
  }
  await commit(client);
  return letter;
}
