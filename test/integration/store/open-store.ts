import { afterAll } from '@jest/globals';
import pg from 'pg';
import { recordsOf } from '../../../app/records/pack-records.ts';
import { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { PostgresSink } from '../../../app/store/postgres-sink.ts';
import type { SharedTable } from '../../../app/store/tables/filled-tables.ts';
import type { RecordDecoders } from '../../../app/store/tables/record-rows.ts';
import { type EndedSession, sessionName } from '../../../app/store/transaction/frozen-writers.ts';
import type { UserTable, UserTables } from '../../../app/store/transaction/topic-tables.ts';
import type { DeadLetter } from '../../../app/stream/ports/dead-letter.ts';
import type { WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import { aRecord } from '../../app/stream/records.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';

const opened: { close(): Promise<void> }[] = [];

afterAll(() => Promise.all(opened.map((part) => part.close())));

export interface StoreOptions {
  /** @default a random one */
  readonly schema?: string;
  /** @default 'group' */
  readonly groupId?: string;
  /** Beside the ones that name the group and the schema. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Takes dead letters where `deadLetters.to` says so. @default takes them and forgets them */
  readonly deadLetterTopic?: (letters: readonly DeadLetter[]) => Promise<void>;
  /** The user's own tables. @default none */
  readonly userTables?: (() => readonly UserTable[]) | UserTables;
  /** What decodes the records of `records`. @default all values are JSON */
  readonly decoderOf?: RecordDecoders;
  /** Whether a template alone takes a topic. @default none does */
  readonly isTemplated?: (topic: string) => boolean;
  /** The level of transactions that name none. @default 'read committed' */
  readonly isolation?: string;
  /** @default the shared PostgreSQL */
  readonly url?: string;
}

/** Tables that fit. */
const listed = (tables: () => readonly UserTable[]): UserTables => ({
  get all() {
    return tables();
  },
  of: (topic) => tables().filter(({ topics }) => topics.includes(topic)),
  misfits: async () => new Map(),
});

/** The sink, as the consumer has it, on the shared PostgreSQL; closed after the last test of the file. */
export function openStore(options: StoreOptions = {}) {
  const { groupId = 'group', schema = randomName('schema'), isolation = 'read committed', settings } = options;
  const url = new URL(options.url ?? sharedDatabaseUrl());
  url.searchParams.set('options', `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`);
  const { kafka, database, ...others } = settings ?? {};
  const checked = checkedSettings({
    database: { url: url.href, schema, ...(database as object) },
    ...others,
    kafka: { groupId, ...(kafka as object) },
  });
  const pool = new DatabasePool(checked.database, () => undefined, { sessionName: sessionName(groupId) });
  opened.push(pool);
  const send = options.deadLetterTopic ?? (async () => undefined);
  const ended: EndedSession[] = [];
  const shared: SharedTable[][] = [];
  const reports = {
    onEnded: (session: EndedSession) => ended.push(session),
    onShared: (tables: readonly SharedTable[]) => shared.push([...tables]),
  };
  const { userTables: tables, decoderOf, isTemplated } = options;
  const userTables = typeof tables === 'function' ? listed(tables) : tables;
  const sink = new PostgresSink(pool, checked, { send }, reports, {
    ...(userTables && { userTables }),
    ...(decoderOf && { decoderOf }),
    ...(isTemplated && { topics: { settings: checked, isTemplated } }),
  });
  return { schema, groupId, pool, sink, ended, shared };
}

/**
 * A connection beside those of the store, ended after the last test of the file at the latest.
 *
 * @param config @default to the shared PostgreSQL
 */
export async function connect(config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: sharedDatabaseUrl(), ...config });
  await client.connect();
  opened.push({ close: () => client.end() });
  return client;
}

/** Records from `expectedOffset` on with these values, and the range that they cover. */
export function aRequest(
  topic: string,
  expectedOffset: bigint,
  values: readonly string[],
  partition = 0,
): WriteRequest {
  const records = recordsOf(
    values.map((value, nth) => aRecord(expectedOffset + BigInt(nth), { value: Buffer.from(value) })),
  );
  return { topic, partition, expectedOffset, nextOffset: expectedOffset + BigInt(values.length), records };
}
