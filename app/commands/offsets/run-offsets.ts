import { escapeIdentifier, type PoolClient } from 'pg';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import { type TableSettings, tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { BEGIN, commit } from '../../store/connection/transaction.ts';
import { requireMigrated } from '../../store/tables/migrations.ts';
import { RECORDS } from '../../store/tables/record-rows.ts';
import type { OutputStreams } from '../command/command.ts';
import { withDatabase } from '../command/with-database.ts';

/** The command `offsets accept-topic`. */
export interface AcceptTopicRequest {
  readonly topic: string;
  /** Whether everything is looked at, and nothing changed. */
  readonly dryRun: boolean;
}

/** The command `offsets begin-again`. */
export interface BeginAgainRequest extends AcceptTopicRequest {
  /** Whether the rows that the topic has get another topic's name; else the command is refused where there are any. */
  readonly renameRows: boolean;
  /** Whether rows of the user's tables stay as they are; else the command is refused where the topic fills any. */
  readonly keepTableRows: boolean;
}

/** Renaming many rows takes longer than any statement of the consumer may. */
const STATEMENT_TIMEOUT = '24h';
/** A consumer gives an offset's lock back sooner. */
const LOCK_TIMEOUT = '30s';

/** A request that was not carried out, for a reason that the user has to see to. */
class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused';
}

/** The connection, and the offsets' owner. */
interface GroupOffsets {
  readonly client: PoolClient;
  /** Quoted. */
  readonly schema: string;
  readonly groupId: string;
  /** The user's tables, by the settings. */
  readonly tables: readonly TableSettings[];
}

interface StoredOffset {
  readonly partition: number;
  readonly next: string;
  readonly id: string | null;
}

/** What is done with the locked offsets of a topic. @returns lines about it */
type Change<Request> = (
  group: GroupOffsets,
  request: Request,
  offsets: readonly StoredOffset[],
) => Promise<readonly string[]>;

/**
 * Runs a change as one transaction that holds the offsets of all partitions of the topic, and prints what it did.
 *
 * A consumer may run beside it. Every transaction of a consumer holds the offset of its partition, too, so it commits
 * before this one or finds the offset moved: then it writes nothing and reads the stored position again. One that
 * writes nothing meanwhile learns of it with its next record.
 *
 * @returns the exit code: 0 when it was done, or there was nothing to do; 1 when it was refused, or PostgreSQL was away
 * or refused. It rejects only for a mistake in the program.
 */
function runChange<Request extends AcceptTopicRequest>(
  command: string,
  { database, kafka: { groupId }, tables }: Settings,
  request: Request,
  { out, err }: OutputStreams,
  change: Change<Request>,
): Promise<number> {
  const patient = { ...database, statementTimeout: STATEMENT_TIMEOUT };
  return withDatabase(command, patient, { err }, async (pool) => {
    const schema = escapeIdentifier(database.schema);
    const lines = await pool.withClient(async (client) => {
      await requireMigrated(client, database.schema);
      const group = { client, schema, groupId, tables: tablesOf({ tables }) };
      return inTransaction(group, request, change).catch(refusalAsValue);
    });
    if (lines instanceof ChangeRefused) {
      err.write(`${PRODUCT_NAME} ${command}: ${lines.message}\n`);
      return EXIT_CODE.failed;
    }
    out.write(`${[...lines, ...(request.dryRun ? ['nothing was changed (--dry-run)'] : [])].join('\n')}\n`);
    return EXIT_CODE.ok;
  });
}

/** Runs `offsets accept-topic`; see {@link runChange}. */
export const acceptTopic = (settings: Settings, request: AcceptTopicRequest, streams: OutputStreams): Promise<number> =>
  runChange('offsets accept-topic', settings, request, streams, acceptStored);

/** Runs `offsets begin-again`; see {@link runChange}. */
export const beginAgain = (settings: Settings, request: BeginAgainRequest, streams: OutputStreams): Promise<number> =>
  runChange('offsets begin-again', settings, request, streams, resetTopic);

/** The pool knows no such error. */
function refusalAsValue(error: unknown): ChangeRefused {
  if (error instanceof ChangeRefused) {
    return error;
  }
  throw error;
}

async function inTransaction<Request extends AcceptTopicRequest>(
  group: GroupOffsets,
  request: Request,
  change: Change<Request>,
): Promise<readonly string[]> {
  const { client } = group;
  await client.query(BEGIN);
  await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
  const offsets = await lockOffsets(group, request.topic);
  const lines = await change(group, request, offsets);
  if (request.dryRun) {
    await client.query('ROLLBACK');
  } else {
    await commit(client);
  }
  return lines;
}

/** @throws ChangeRefused when the group has no offset of the topic */
async function lockOffsets({ client, schema, groupId }: GroupOffsets, topic: string): Promise<readonly StoredOffset[]> {
  const { rows } = await client.query<StoredOffset>(
    `SELECT partition, next_offset AS next, topic_id AS id FROM ${schema}.offsets
      WHERE group_id = $1 AND topic = $2 ORDER BY partition FOR UPDATE`,
    [groupId, topic],
  );
  if (rows.length > 0) {
    return rows;
  }
  const found = await client.query<{ topic: string }>(
    `SELECT DISTINCT topic FROM ${schema}.offsets WHERE group_id = $1 ORDER BY topic`,
    [groupId],
  );
  const topics = found.rows.map((row) => row.topic);
  throw new ChangeRefused(
    `the group ${groupId} has no stored offset of the topic ${shownText(topic, topics)}; ` +
      `it has offsets of ${topics.length === 0 ? 'no topic' : topics.join(', ')}. Check kafka.groupId and database.schema`,
  );
}

/** What is unknown is adopted: the next consumer stores the id that it finds. */
async function acceptStored(
  { client, schema, groupId }: GroupOffsets,
  { topic, dryRun }: AcceptTopicRequest,
  offsets: readonly StoredOffset[],
): Promise<readonly string[]> {
  if (offsets.every(({ id }) => id === null)) {
    return [`${topic} of group ${groupId}: no topic id is stored, so the next consumer takes the one that it finds`];
  }
  if (!dryRun) {
    await client.query(
      `UPDATE ${schema}.offsets SET topic_id = NULL, leader_epoch = NULL, leader_epoch_offset = NULL, updated_at = now()
        WHERE group_id = $1 AND topic = $2`,
      [groupId, topic],
    );
  }
  return [
    `${topic} of group ${groupId}: the next consumer takes the topic id that it finds, and goes on at the stored offsets`,
    ...offsets.map(({ partition, next, id }) => `  partition ${partition} at ${next}, ${idBefore(id)}`),
  ];
}

const idBefore = (id: string | null): string => (id === null ? 'no topic id was stored' : `topic id was ${id}`);

/**
 * Every record of the new topic is ahead of the stored offset then. The rows of the one before would have the same
 * keys: they stay in their tables under another name, and so does the position that they were written up to. In the
 * user's tables no row says which topic it is of, so all of them stay as they are.
 */
async function resetTopic(
  group: GroupOffsets,
  { topic, dryRun, renameRows, keepTableRows }: BeginAgainRequest,
  offsets: readonly StoredOffset[],
): Promise<readonly string[]> {
  const counts = await countRows(group, topic);
  const hasRows = counts.some(({ rows }) => rows !== '0');
  const found = counts.map(({ table, rows }) => `${BigInt(rows).toLocaleString('en')} in ${table}`).join(', ');
  const kept = await tablesOfTopic(group, topic);
  const obstacles = [
    ...(hasRows && !renameRows ? [rowsInTheWay(topic, found)] : []),
    ...(keepTableRows ? [] : unkept(kept)),
  ];
  if (obstacles.length > 0) {
    throw new ChangeRefused(`${obstacles.join('\n')}\nNothing was changed`);
  }
  const renamed = hasRows ? await nameOfRowsBefore(group, topic) : null;
  if (!dryRun) {
    await (renamed === null ? undefined : renameTo(group, topic, renamed));
    await resetOffsets(group, topic);
  }
  return [
    `${topic} of group ${group.groupId}: begins again at offset 0, with the topic id that the next consumer finds`,
    ...offsets.map(({ partition, next, id }) => `  partition ${partition} was at ${next}, ${idBefore(id)}`),
    ...(renamed === null ? [] : [`its rows before are those of the topic ${renamed}: ${found}`]),
    ...kept.map((line) => `table ${line}`),
  ];
}

const rowsInTheWay = (topic: string, found: string): string =>
  `the tables still hold rows of the topic ${topic}, at the offsets that would be written again: ${found}. ` +
  '--rename-rows gives them another topic, NAME@TIME, in the same tables; or move or delete them yourself.';

const unkept = (tables: readonly string[]): readonly string[] =>
  tables.length === 0
    ? []
    : [
        `the topic fills tables of your own: ${tables.join('; ')}. --keep-table-rows consents to that; where you do not ` +
          'want these rows a second time, delete them before the next consumer starts.',
      ];

/**
 * What becomes of each of the user's tables that the topic fills by the settings, or has filled by what consumers of
 * the group have stored.
 */
async function tablesOfTopic(
  { client, schema, groupId, tables }: GroupOffsets,
  topic: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ target: string }>(
    `SELECT DISTINCT target FROM ${schema}.filled_tables WHERE group_id = $1 AND topic = $2 AND target <> $3 ORDER BY 1`,
    [groupId, topic, RECORDS.table],
  );
  const set = tables.filter(({ topics }) => topics.includes(topic));
  const named = new Map(set.map(({ schema: of, table, key }) => [`${of}.${table}`, key]));
  const others = rows.map(({ target }) => target).filter((target) => !named.has(target));
  return [
    ...[...named].map(([table, key]) =>
      key === null
        ? `${table}: its rows stay, and the topic is appended to them a second time`
        : `${table}: its rows stay, and the topic is applied to them a second time, by ${key.columns === null ? 'the primary key' : `the key ${key.columns.join(', ')}`}`,
    ),
    ...others.map((table) => `${table}: its rows stay; these settings do not name it`),
  ];
}

/** The tables beside `offsets` that have a row for each place in the topic, and which of their rows are the group's. */
const ROWS = [
  { table: 'dead_letters', isOwn: 'topic = $1 AND group_id = $2' },
  { table: 'discarded_letters', isOwn: 'topic = $1 AND group_id = $2' },
  { table: 'gaps', isOwn: 'topic = $1 AND group_id = $2' },
  // A schema belongs to one group, so records have no column of it.
  { table: 'records', isOwn: 'topic = $1 AND $2::text IS NOT NULL' },
] as const;

async function countRows({ client, schema, groupId }: GroupOffsets, topic: string) {
  const counts: { readonly table: string; readonly rows: string }[] = [];
  for (const { table, isOwn } of ROWS) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${table} WHERE ${isOwn}`, [
      topic,
      groupId,
    ]);
    counts.push({ table, rows: rows[0]?.count ?? '0' });
  }
  return counts;
}

/** No topic can be called so: Kafka's names have no `@`. */
async function nameOfRowsBefore({ client }: GroupOffsets, topic: string): Promise<string> {
  const { rows } = await client.query<{ time: string }>(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS time`,
  );
  return `${topic}@${rows[0]?.time}`;
}

/**
 * Dead letters come first: a replay holds the lock of its letter until its row is in `records`, so no row of the topic
 * before can come after `records` was looked through.
 */
async function renameTo({ client, schema, groupId }: GroupOffsets, topic: string, renamed: string): Promise<void> {
  for (const { table, isOwn } of ROWS) {
    await client.query(`UPDATE ${schema}.${table} SET topic = $3 WHERE ${isOwn}`, [topic, groupId, renamed]);
  }
  await client.query(
    `INSERT INTO ${schema}.offsets (group_id, topic, partition, next_offset, updated_at, topic_id)
     SELECT group_id, $3, partition, next_offset, updated_at, topic_id FROM ${schema}.offsets
      WHERE topic = $1 AND group_id = $2`,
    [topic, groupId, renamed],
  );
}

async function resetOffsets({ client, schema, groupId }: GroupOffsets, topic: string): Promise<void> {
  await client.query(
    `UPDATE ${schema}.offsets SET next_offset = 0, updated_at = now(),
            topic_id = NULL, leader_epoch = NULL, leader_epoch_offset = NULL
      WHERE topic = $1 AND group_id = $2`,
    [topic, groupId],
  );
}
