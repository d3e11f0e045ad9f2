import { escapeIdentifier, type PoolClient } from 'pg';
import type { Records } from '../../../app/records/records.ts';
import { type EncodedRecords, type Refusal, Rows } from '../../../app/store/tables/table.ts';
import { knownTable, readTables } from '../../../app/store/tables/table-guard.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';
import { MappedTable } from '../../../app/tables/table/mapped-table.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { openStore, type StoreOptions } from '../store/open-store.ts';

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

/** A field of COPY's text format. */
const field = (value: unknown): string => (value === null || value === undefined ? '\\N' : escaped(String(value)));

/**
 * Rows of a table with the columns id and name. A value without the field `id` has no row, one that is no JSON is
 * refused, and so is one whose name is null, as by a column that is NOT NULL.
 */
const encodeFor =
  (target: string) =>
  (_place: unknown, records: Records): EncodedRecords => {
    const refused = new Map<number, Refusal>();
    let rows = '';
    const starts = new Uint32Array(records.length + 1);
    for (const [place, { value }] of [...records].entries()) {
      const refusal = refusalOf(value, target);
      if (refusal) {
        refused.set(place, refusal);
      } else {
        const { id, name } = JSON.parse(String(value)) as { id?: unknown; name?: unknown };
        rows += id === undefined ? '' : `${field(id)}\t${field(name)}\n`;
      }
      starts[place + 1] = Buffer.byteLength(rows);
    }
    return { rows: new Rows(Buffer.from(rows), starts), refused };
  };

function refusalOf(value: Buffer | null, target: string): Refusal | null {
  try {
    const { name } = JSON.parse(String(value)) as { name?: unknown };
    const missing = { reason: 'missing_value', error: 'NULL', target, targetColumn: 'name' } as const;
    return name === null ? missing : null;
  } catch {
    return { reason: 'invalid_json', error: 'no JSON' };
  }
}

const INTEGER = { kind: 'integer', name: 'integer' } as const;
const TEXT = { kind: 'text', name: 'text' } as const;

/** A table of the user's own, which takes `{"id", "name"}`. */
export function aTable(schema: string, table: string, topics: readonly string[]): MappedTable {
  const of = (name: string) => ({ kind: 'field', path: [name] }) as const;
  const optional = { isNotNull: false, hasDefault: false };
  const columns = [
    { name: 'id', type: INTEGER, source: of('id'), ...optional },
    { name: 'name', type: TEXT, source: of('name'), ...optional },
  ];
  const encode = encodeFor(`${schema}.${table}`);
  const find = async (client: PoolClient) => {
    const found = (await readTables(client, schema, [table])).get(table);
    const names = new Set(columns.map(({ name }) => name));
    if (found === undefined || found.columns.filter(({ name }) => names.has(name)).length < names.size) {
      throw new FatalError('TABLE_MISMATCH', `the table ${schema}.${table} is not as it was`);
    }
    return knownTable(schema, found, names);
  };
  return new MappedTable({
    mapping: { schema, table, topics, columns, key: null, stage: null },
    encode,
    takesDefaults: false,
    find,
  });
}

interface TablesOptions extends StoreOptions {
  /** Each user's table, and its columns behind id and name; a `?` is the schema. */
  readonly tables: Readonly<Record<string, string>>;
  /** Statements before the tables are there; a `?` is the schema. */
  readonly before?: string;
  /** Statements once they are; a `?` is the schema. */
  readonly sql?: string;
  /** Whether the topic goes to `records`, too. @default true */
  readonly inRecords?: boolean;
}

/** A topic with two partitions at offset 0 whose records go to tables of the user's own, and what is stored of it. */
export async function openTables({ tables, before = '', sql = '', inRecords = true, ...options }: TablesOptions) {
  const topic = randomName('topic');
  const schema = randomName('schema');
  const names = Object.keys(tables);
  const userTables = names.map((table) => aTable(schema, table, [topic]));
  const settings = { ...options.settings, kafka: { topics: inRecords ? [topic] : ['unused'] } };
  const restarted = () => openStore({ ...options, schema, settings, userTables: () => userTables }).sink;
  const sink = restarted();
  await sink.migrate();
  const run = (statements: string) => query(statements.replaceAll('?', schema));
  await run(before);
  for (const [table, columns] of Object.entries(tables)) {
    await run(`CREATE TABLE ?.${escapeIdentifier(table)} (${columns})`);
  }
  await run(sql);
  await sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 0n })));
  const ids = async (table: string, id: string): Promise<readonly number[]> =>
    (await query<{ id: number }>(`SELECT (${id})::int AS id FROM ${schema}.${escapeIdentifier(table)} ORDER BY 1`)).map(
      (row) => row.id,
    );
  const stored = async () => {
    const entries = names.map(async (table) => [table, await ids(table, 'id')] as const);
    return {
      ...Object.fromEntries(await Promise.all(entries)),
      records: await ids('records', '"offset"'),
      letters: await ids('dead_letters', '"offset"'),
      offset: (await ids('offsets', 'next_offset')).at(-1),
    };
  };
  const letters = () =>
    query(`SELECT "offset"::int, reason, error, target, target_column FROM ${schema}.dead_letters ORDER BY "offset"`);
  return { topic, schema, sink, restarted, run, stored, letters };
}
