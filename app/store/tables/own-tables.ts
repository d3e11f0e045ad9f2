import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import type { TableColumns } from '../copy/binary-copy.ts';
import { DEAD_LETTERS } from './dead-letters-table.ts';
import { RECORDS } from './record-rows.ts';
import {
  type GuardedTable,
  KEY_COLUMNS,
  type KnownTable,
  knownTable,
  readTables,
  type TableGuard,
} from './table-guard.ts';

const RECORD_COLUMNS = new Set(Object.keys(RECORDS.columns));

/** A table as the statements of this program need it: the columns that they write, and what makes a row unique. */
interface OwnTable extends TableColumns {
  readonly key: readonly string[];
}

const PLACE = { group_id: 'text', topic: 'text', partition: 'integer' } as const;

const TABLES: readonly OwnTable[] = [
  { ...RECORDS, key: ['topic', 'partition', 'offset'] },
  { ...DEAD_LETTERS, key: [...Object.keys(PLACE), 'offset'] },
  {
    table: 'offsets',
    columns: {
      ...PLACE,
      next_offset: 'bigint',
      updated_at: 'timestamp with time zone',
      topic_id: 'text',
      leader_epoch: 'integer',
      leader_epoch_offset: 'bigint',
    },
    key: Object.keys(PLACE),
  },
  {
    table: 'gaps',
    columns: { ...PLACE, from_offset: 'bigint', next_offset: 'bigint' },
    key: [...Object.keys(PLACE), 'from_offset'],
  },
  {
    table: 'filled_tables',
    columns: { group_id: 'text', topic: 'text', topic_id: 'text', target: 'text' },
    key: ['group_id', 'topic', 'topic_id', 'target'],
  },
  { table: 'templates', columns: { group_id: 'text', template: 'text' }, key: ['group_id', 'template'] },
];

export const TABLE_NAMES = TABLES.map(({ table }) => table);

/** Types whose binary format is the same, byte for byte. */
const SAME_BYTES: Readonly<Record<string, string>> = { 'character varying': 'text' };

/**
 * The table of ours, if any, that a unique index belongs to, directly or by way of partitions, and the index's columns.
 * Partitions, and keys that were made anew, have other names.
 */
const TABLE_OF_INDEX = `
  WITH RECURSIVE violated AS (
    SELECT indrelid, ${KEY_COLUMNS} AS key FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE relnamespace = to_regnamespace($3) AND relname = $4),
  up AS (
    SELECT indrelid AS oid FROM violated
    UNION SELECT inhparent FROM pg_inherits JOIN up ON inhrelid = up.oid)
  SELECT relname AS "table", key FROM violated CROSS JOIN up JOIN pg_class USING (oid)
   WHERE relnamespace = to_regnamespace($1) AND relname = ANY ($2::text[])`;

const isSameKey = (key: readonly string[], sorted: readonly string[]): boolean =>
  [...key].sort().join() === sorted.join();

/**
 * What an administrator may have made of the tables, asked of the catalog: binary rows are taken as they come by
 * columns of other types, and a row trigger can drop rows without an error.
 */
export class OwnTables {
  readonly #schema: string;
  /** By the connections that have asked. */
  readonly #known = new WeakMap<PoolClient, KnownTable>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  /**
   * Compares names and types of the columns with what is encoded, and looks for the keys.
   *
   * @throws FatalError `TABLE_MISMATCH` with all differences; nothing was written of the records in hand
   */
  async require(client: PoolClient): Promise<void> {
    const found = await readTables(client, this.#schema, TABLE_NAMES);
    const problems = TABLES.flatMap((table) => problemsOf(table, found.get(table.table)));
    if (problems.length > 0) {
      throw new FatalError(
        'TABLE_MISMATCH',
        `tables of the schema "${this.#schema}" are not as this version writes them: ${problems.join('; ')}. ` +
          'Put them right (docs/schema.md says what may be changed) and start again',
      );
    }
    const records = found.get(RECORDS.table);
    if (records) {
      this.#known.set(client, knownTable(this.#schema, records, RECORD_COLUMNS));
    }
  }

  /** {@link require}, once for each connection. */
  async requireOnce(client: PoolClient): Promise<void> {
    if (!this.#known.has(client)) {
      await this.require(client);
    }
  }

  /** Names of the triggers that may drop rows of `records`, as this connection has found them. */
  rowTriggers(client: PoolClient): readonly string[] {
    return this.#of(client).rowTriggers;
  }

  /** What precedes a COPY on this connection. */
  guard(client: PoolClient): TableGuard {
    return this.#of(client).guard;
  }

  #of(client: PoolClient): KnownTable {
    const known = this.#known.get(client);
    if (known === undefined) {
      throw new Error('own tables: this connection has not read them from the catalog');
    }
    return known;
  }

  /**
   * A duplicate of our own primary key is no fault of the record: another writer wrote it, and a dead letter would hide
   * that. Other errors, and duplicates of an administrator's own index, are passed over.
   *
   * @param client with no failed transaction, since the catalog is asked
   * @throws FatalError `RECORD_ALREADY_WRITTEN`
   */
  async requireUnwritten(client: PoolClient, groupId: string, error: unknown): Promise<void> {
    if (!(error instanceof DatabaseError) || error.code !== '23505') {
      return;
    }
    const index = [escapeIdentifier(error.schema ?? ''), error.constraint ?? ''];
    const { rows } = await client.query<{ table: string; key: readonly string[] }>(TABLE_OF_INDEX, [
      escapeIdentifier(this.#schema),
      TABLE_NAMES,
      ...index,
    ]);
    const own = rows.find(({ table, key }) =>
      TABLES.some((known) => known.table === table && isSameKey(known.key, key)),
    );
    if (own) {
      throw alreadyWritten(own.table, groupId, error);
    }
  }
}

function problemsOf({ table, columns, key }: OwnTable, found: GuardedTable | undefined): string[] {
  if (found === undefined) {
    return [`${table} is missing`];
  }
  const types = new Map(found.columns.map(({ name, type }) => [name, type]));
  const wrong = Object.entries(columns).flatMap(([name, needed]) => {
    const type = types.get(name);
    if (type === undefined) {
      return [`${table} has no column "${name}" (${needed})`];
    }
    return (SAME_BYTES[type] ?? type) === needed ? [] : [`${table}."${name}" is ${type}, and has to be ${needed}`];
  });
  const unfilled = found.columns.filter(({ name, needsValue }) => needsValue && !(name in columns));
  return [
    ...wrong,
    ...unfilled.map(({ name }) => `${table}."${name}" is NOT NULL, has no default and is not written`),
    ...(found.keys.some((candidate) => isSameKey(key, candidate))
      ? []
      : [`${table} has no primary key or unique index of exactly (${key.join(', ')})`]),
  ];
}

const alreadyWritten = (table: string, groupId: string, error: DatabaseError): FatalError =>
  new FatalError(
    'RECORD_ALREADY_WRITTEN',
    `the table ${table} already holds a record that group ${groupId} has not written yet: ${error.detail ?? ''} ` +
      `Another group writes into this schema, or the row of group ${groupId} in the table offsets was lost or set back. ` +
      'Give each group its own database.schema, or set next_offset behind the last record in the table, and start again',
    { cause: error },
  );
