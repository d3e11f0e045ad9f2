import { FieldReaders } from '../../../app/formats/field-readers.ts';
import type { Schemas } from '../../../app/formats/registry/schemas.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../app/records/record.ts';
import type { WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import { MappedTables } from '../../../app/tables/table/mapped-tables.ts';
import { formatsOf } from '../../../settings/sections/formats.ts';
import { checkSettings, type Settings } from '../../../settings/settings.ts';
import { aRecord } from '../../app/stream/records.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { connect, openStore } from '../store/open-store.ts';

/** A record's key and value; `null` is a tombstone's value, and a value that is no text and no bytes becomes JSON. */
export interface KeyedRecord {
  readonly key?: string | Buffer | null;
  readonly value: unknown;
  /** By their names. @default none */
  readonly headers?: Readonly<Record<string, string>>;
}

const bytesOf = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

/** Records of a partition from an offset on. */
export const keyedRequest = (
  topic: string,
  expectedOffset: bigint,
  given: readonly KeyedRecord[],
  partition = 0,
): WriteRequest => {
  const records = given.map(({ key = null, value, headers = {} }, nth): StreamRecord => {
    const bytes = value === null ? null : bytesOf(value);
    return aRecord(expectedOffset + BigInt(nth), {
      key: key === null ? null : bytesOf(key),
      value: bytes,
      headers: Object.entries(headers).map(([name, text]) => ({ key: name, value: Buffer.from(text) })),
    });
  });
  return {
    topic,
    partition,
    expectedOffset,
    nextOffset: expectedOffset + BigInt(given.length),
    records: recordsOf(records),
  };
};

interface Letter {
  readonly at: number;
  readonly reason: string;
  readonly column: string | null;
}

interface KeyedOptions {
  /** Statements that make the tables; a `?` is the schema. */
  readonly ddl: string;
  /** Entries of the setting, without topic; a `?` in the table's name is the schema. */
  readonly tables: readonly Readonly<Record<string, unknown>>[];
  readonly partitions?: number;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Format of the topic, as the setting has it. @default values are JSON */
  readonly format?: unknown;
  /** The schemas of the registry, where that is the format. */
  readonly schemas?: Schemas;
  /** @default the shared PostgreSQL */
  readonly url?: string;
  /** Another database of the shared PostgreSQL, for tables and store. @default its own */
  readonly database?: string;
  /** Called with a table whose transactions have waited for each other. */
  readonly onContended?: (table: string) => void;
}

/** A topic at offset 0 whose records go to the tables alone, as the consumer writes them. */
export async function openKeyed({ ddl, tables, partitions = 1, onContended, database, ...options }: KeyedOptions) {
  const [topic, schema] = [randomName('topic'), randomName('schema')];
  const own =
    database === undefined ? undefined : Object.assign(new URL(sharedDatabaseUrl()), { pathname: database }).href;
  const session = await connect(own === undefined ? {} : { connectionString: own });
  const run = async (statements: string) =>
    (await session.query<Readonly<Record<string, unknown>>>(statements.replaceAll('?', schema))).rows;
  await run('CREATE SCHEMA ?');
  await run(ddl);
  const entries = tables.map((entry) => ({ topic, ...entry, table: String(entry['table']).replaceAll('?', schema) }));
  const settings = {
    ...(options.format !== undefined && { formats: { [topic]: options.format } }),
    ...(options.schemas && { schemaRegistry: { url: 'http://unused' } }),
    ...options.settings,
    kafka: { topics: [] },
    tables: entries,
  };
  const checked = settingsOf(schema, settings);
  const readers = new FieldReaders((of) => formatsOf(checked, of), options.schemas);
  const { url = own } = options;
  const opened = () => {
    let mapped: MappedTables | null = null;
    const store = openStore({ schema, settings, ...(url && { url }), userTables: () => mapped?.all ?? [] });
    mapped = new MappedTables(checked, { ...(onContended && { onContended }) }, readers);
    const read = mapped;
    return { ...store, read: () => store.pool.withClient((client) => read.read(client)) };
  };
  const store = opened();
  await store.sink.migrate();
  await store.read();
  const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition, offset: 0n }));
  await store.sink.initialize(topic, () => all);
  const ends = new Map<number, bigint>();
  /** Writes records behind those before. */
  const write = async (records: readonly KeyedRecord[], partition = 0) => {
    const request = keyedRequest(topic, ends.get(partition) ?? 0n, records, partition);
    const outcome = await store.sink.write(request);
    ends.set(partition, request.nextOffset);
    return outcome;
  };
  const letters = (): Promise<readonly Letter[]> =>
    query<Letter>(
      `SELECT "offset"::int AS at, reason, target_column AS column FROM ${schema}.dead_letters ORDER BY partition, "offset"`,
      [],
      own,
    );
  const another = async () => {
    const other = opened();
    await other.read();
    return other;
  };
  return { ...store, topic, schema, run, write, letters, another };
}

function settingsOf(schema: string, settings: Readonly<Record<string, unknown>>): Settings {
  const kafka = { brokers: ['unused:9092'], groupId: 'group', topics: [] };
  const { database } = settings;
  const unused = { url: 'postgresql://unused/unused', schema, ...(database as object) };
  const checked = checkSettings({ ...settings, database: unused, kafka });
  if (!checked.ok) {
    throw new Error(JSON.stringify(checked.problems));
  }
  return checked.value;
}
