import { escapeIdentifier, type PoolClient } from 'pg';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { DatabasePool } from '../../store/connection/database-pool.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';

/** The place of one letter, as a person writes it: `orders/1/5`. */
export interface LetterPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  /** @default any group */
  readonly groupId?: string;
}

/** Selects dead letters; an empty condition selects all. */
export interface DeadLetterFilter {
  readonly reasons: readonly DeadLetterReason[];
  readonly topics: readonly string[];
  /** @default letters of all places */
  readonly place?: LetterPlace;
}

/** The options of both commands. */
export interface SelectingRequest {
  readonly filter: DeadLetterFilter;
  /** Dead letters to look at, at most; `undefined` is all of them. */
  readonly limit: number | undefined;
  /** Whether the output is one JSON object per line instead of text. */
  readonly json: boolean;
}

/** The command `dead-letters list`. */
export interface ListRequest extends SelectingRequest {
  /** Whether keys and values are shown, which may be confidential. */
  readonly showValue: boolean;
}

/** The primary key of a row of `dead_letters`. */
export interface DeadLetterPlace {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A text, or bytes that are none, as the column `headers` has them. */
export type StoredBytes = string | { readonly base64: string };

/** The headers of a record, in their order. */
type StoredHeaders = readonly { readonly key: StoredBytes; readonly value: StoredBytes | null }[];

/** A row of `dead_letters` without its record's key and value. */
export interface StoredDeadLetter extends DeadLetterPlace {
  readonly reason: DeadLetterReason;
  readonly error: string;
  readonly failedAt: Date;
  /** The user's table that could not have the record; `null`: `records`, or all of its tables. */
  readonly target: string | null;
  readonly targetColumn: string | null;
  /** The record's timestamp, since 1970; `null` where it has none, or one that fits no timestamptz. */
  readonly milliseconds: string | null;
  readonly headers: StoredHeaders;
}

/** A row of `dead_letters` as `SELECT` with {@link LETTER_COLUMNS} gives it. */
export interface DeadLetterRow {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly reason: string;
  readonly error: string;
  readonly failed_at: Date;
  readonly target: string | null;
  readonly target_column: string | null;
  readonly milliseconds: string | null;
  readonly headers: StoredHeaders;
}

export const LETTER_COLUMNS =
  'group_id, topic, partition, "offset", reason, error, failed_at, target, target_column, headers, ' +
  'round(extract(epoch FROM timestamp) * 1000)::bigint AS milliseconds';

export const deadLetterOf = (row: DeadLetterRow): StoredDeadLetter => ({
  groupId: row.group_id,
  topic: row.topic,
  partition: row.partition,
  offset: BigInt(row.offset),
  reason: row.reason as DeadLetterReason,
  error: row.error,
  failedAt: row.failed_at,
  target: row.target,
  targetColumn: row.target_column,
  milliseconds: row.milliseconds,
  headers: row.headers,
});

/** A condition and the values of its parameters, which begin at `$1`. */
interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * The condition for a filter's dead letters behind a place.
 *
 * @param after the last dead letter before, in the order of the primary key; `null` begins with the first
 */
export function selection({ reasons, topics, place }: DeadLetterFilter, after: DeadLetterPlace | null): Condition {
  const values: unknown[] = [reasons, topics];
  const parts = [
    '(cardinality($1::text[]) = 0 OR reason = ANY ($1))',
    '(cardinality($2::text[]) = 0 OR topic = ANY ($2))',
  ];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  if (place) {
    const at = [parameter(place.topic), `${parameter(place.partition)}::int`, `${parameter(place.offset)}::bigint`];
    parts.push(`(topic, partition, "offset") = (${at.join(', ')})`);
  }
  if (place?.groupId !== undefined) {
    parts.push(`group_id = ${parameter(place.groupId)}`);
  }
  if (after) {
    const at = [`${parameter(after.partition)}::int`, `${parameter(after.offset)}::bigint`];
    const groupAndTopic = [parameter(after.groupId), parameter(after.topic)];
    parts.push(`(group_id, topic, partition, "offset") > (${[...groupAndTopic, ...at].join(', ')})`);
  }
  return { sql: parts.join(' AND '), values };
}

/** The table, quoted. */
export const deadLettersTable = (schema: string): string => `${escapeIdentifier(schema)}.dead_letters`;

/** Tables and columns that {@link countTargets} counts at most. */
const MOST_TARGETS = 10;

/** How many letters one of the user's tables has made, by the column at fault. */
export interface TargetCount extends Pick<StoredDeadLetter, 'target' | 'targetColumn'> {
  readonly letters: number;
}

/**
 * Counts a filter's dead letters by the user's tables, and the columns, that made them: the ten with most.
 *
 * @returns also whether there are others
 */
export async function countTargets(
  client: PoolClient,
  schema: string,
  filter: DeadLetterFilter,
): Promise<{ readonly targets: readonly TargetCount[]; readonly hasMore: boolean }> {
  const { sql, values } = selection(filter, null);
  const { rows } = await client.query<TargetCount>(
    `SELECT target, target_column AS "targetColumn", count(*)::float8 AS letters FROM ${deadLettersTable(schema)}
      WHERE target IS NOT NULL AND ${sql} GROUP BY 1, 2 ORDER BY letters DESC, 1, 2 LIMIT ${MOST_TARGETS + 1}`,
    [...values],
  );
  return { targets: rows.slice(0, MOST_TARGETS), hasMore: rows.length > MOST_TARGETS };
}

/**
 * Counts a filter's dead letters by reason.
 *
 * @throws FatalError `DATABASE_REFUSED` when there is no such table
 */
export async function countDeadLetters(
  client: PoolClient,
  schema: string,
  filter: DeadLetterFilter,
): Promise<ReadonlyMap<string, number>> {
  const table = deadLettersTable(schema);
  const found = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  if (!found.rows[0]?.exists) {
    throw new FatalError(
      'DATABASE_REFUSED',
      `there is no table dead_letters in the schema ${schema}: the consumer creates it when it first starts; ` +
        'check database.url and database.schema',
    );
  }
  const { sql, values } = selection(filter, null);
  const { rows } = await client.query<{ reason: string; count: string }>(
    `SELECT reason, count(*) FROM ${table} WHERE ${sql} GROUP BY reason ORDER BY count(*) DESC, reason`,
    [...values],
  );
  return new Map(rows.map(({ reason, count }) => [reason, Number(count)]));
}

/** Small enough that a page of large values fits into memory. */
const PAGE_ROWS = 100;

/** A dead letter, with its record's key and value where they were asked for. */
export interface ListedDeadLetter extends StoredDeadLetter {
  readonly content?: { readonly key: Buffer | null; readonly value: Buffer | null };
}

/** A row of `dead_letters`, with what was asked for. */
export interface ListedRow extends DeadLetterRow {
  readonly key?: Buffer | null;
  readonly value?: Buffer | null;
}

export function listedLetter(row: ListedRow): ListedDeadLetter {
  const { key, value } = row;
  return { ...deadLetterOf(row), ...(key === undefined || value === undefined ? {} : { content: { key, value } }) };
}

/**
 * The dead letters that a request selects, page by page, in the order of group, topic, partition and offset.
 *
 * @throws OutageError, FatalError when PostgreSQL is away or refuses
 */
export async function* listDeadLetters(
  pool: Pick<DatabasePool, 'withClient'>,
  schema: string,
  { filter, limit = Number.POSITIVE_INFINITY, showValue }: Omit<ListRequest, 'json'>,
): AsyncGenerator<readonly ListedDeadLetter[]> {
  const columns = showValue ? `${LETTER_COLUMNS}, key, value` : LETTER_COLUMNS;
  let after: DeadLetterPlace | null = null;
  for (let seen = 0; seen < limit; ) {
    const { sql, values } = selection(filter, after);
    const pageRows = Math.min(PAGE_ROWS, limit - seen);
    const page = await pool.withClient(async (client) => {
      const { rows } = await client.query<ListedRow>(
        `SELECT ${columns} FROM ${deadLettersTable(schema)} WHERE ${sql}
          ORDER BY group_id, topic, partition, "offset" LIMIT ${pageRows}`,
        [...values],
      );
      return rows.map(listedLetter);
    });
    if (page.length > 0) {
      yield page;
    }
    after = page.at(-1) ?? null;
    seen += page.length;
    if (page.length < pageRows) {
      return;
    }
  }
}

/** The topics that the table has letters of. */
export async function letterTopics(client: PoolClient, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ topic: string }>(
    `SELECT DISTINCT topic FROM ${escapeIdentifier(schema)}.dead_letters`,
  );
  return rows.map(({ topic }) => topic);
}
