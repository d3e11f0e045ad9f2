import { escapeIdentifier, type PoolClient } from 'pg';
import type { Settings } from '../../settings/settings.ts';
import { DeadLetterLimit, type DeadLetterTopic } from '../stream/ports/dead-letter.ts';
import type { Gap, RecordSink, WriteOutcome, WritePlace, WriteRequest } from '../stream/ports/record-sink.ts';
import type { Position } from '../stream/ports/record-source.ts';
import { type FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import type { DatabasePool } from './connection/database-pool.ts';
import { commit, impatient, timeoutsOf } from './connection/transaction.ts';
import { FilledTables, type SharedTable, targetsBySettings } from './tables/filled-tables.ts';
import { migrate, requireMigrated, unknownVersions } from './tables/migrations.ts';
import {
  adoptTopicIds,
  beginTemplates,
  begunTemplates,
  type FirstPositions,
  initializePositions,
  readPositions,
  storedTopics,
} from './tables/offsets-table.ts';
import { OwnTables } from './tables/own-tables.ts';
import { type NeededPrivileges, neededPrivileges, requirePrivileges } from './tables/privileges.ts';
import type { RecordDecoders } from './tables/record-rows.ts';
import { RecordsTable } from './tables/records-table.ts';
import { beginMovingOffset } from './transaction/compare-and-set.ts';
import { type EndedSession, FrozenWriters } from './transaction/frozen-writers.ts';
import { GroupedWrites } from './transaction/grouped-writes.ts';
import { RefusedAlike } from './transaction/refused-alike.ts';
import { TopicTables, type UserTables } from './transaction/topic-tables.ts';
import { writeGroup } from './transaction/write-group.ts';
import { type Writer, writeRecords } from './transaction/write-records.ts';

/** Reports about other writers. */
interface WriterReports {
  /** Called with a frozen writer whose session was ended. */
  readonly onEnded?: (session: EndedSession) => void;
  /** Called with tables of the user's own that another group fills as well, once for each. */
  readonly onShared?: (tables: readonly SharedTable[]) => void;
}

/** The topics that are read now. */
interface WrittenTopics {
  /** With a name for each of them. */
  readonly settings: Pick<Settings, 'kafka' | 'tables'>;
  /** Whether a template alone takes a topic: then it goes into `records` only where the settings put it there. */
  isTemplated(topic: string): boolean;
}

/** What records become rows of. */
interface SinkTables {
  /** The user's own tables, asked for each transaction. @default none: all topics go to `records` */
  readonly userTables?: UserTables;
  /** What decodes the records of `records`. @default all values are JSON */
  readonly decoderOf?: RecordDecoders;
  /** The settings, with a name for each topic that is read now. @default the settings */
  readonly topics?: WrittenTopics;
}

const NO_TABLES: UserTables = { all: [], of: () => [], misfits: async () => new Map() };

/** The sink that PostgreSQL is: each method is one transaction on one connection of the pool. */
export class PostgresSink implements RecordSink {
  readonly #pool: DatabasePool;
  readonly #writer: Writer;
  readonly #mayMigrate: boolean;
  readonly #writes: GroupedWrites;
  readonly #frozenWriters: FrozenWriters;
  readonly #filled: FilledTables;
  readonly #privileges: NeededPrivileges;
  readonly #userTables: UserTables;
  /** Whether it is known where the records of a topic go. */
  readonly #hasTable: (topic: string) => boolean;

  /**
   * @param deadLetterTopic takes dead letters where `deadLetters.to` names a topic; not used where it does not
   * @param reports about other writers. @default none is made
   * @param tables what records become rows of. @default rows of `records`
   */
  constructor(
    pool: DatabasePool,
    settings: Pick<Settings, 'database' | 'kafka' | 'consumer' | 'records' | 'deadLetters' | 'tables'>,
    deadLetterTopic: DeadLetterTopic,
    { onEnded = () => undefined, onShared = () => undefined }: WriterReports = {},
    {
      userTables = NO_TABLES,
      decoderOf = () => null,
      topics = { settings, isTemplated: () => false },
    }: SinkTables = {},
  ) {
    const { schema } = settings.database;
    const ownTables = new OwnTables(schema);
    const records = new RecordsTable({
      schema,
      ownTables,
      allowsDroppedRows: settings.records.onDroppedRows === 'allow',
      maxValueBytes: settings.consumer.maxValueBytes,
      keyEncoding: settings.records.keyEncoding,
      decoderOf,
    });
    const { to, maxRatio } = settings.deadLetters;
    const limit = new DeadLetterLimit(maxRatio);
    this.#pool = pool;
    this.#userTables = userTables;
    this.#mayMigrate = settings.database.migrate;
    this.#writer = {
      schema,
      groupId: settings.kafka.groupId,
      timeouts: timeoutsOf(settings.database),
      ownTables,
      tables: new TopicTables(records, () => topics.settings.kafka.topics, userTables),
      deadLetters: {
        toTable: to !== 'topic',
        topic: to === 'table' ? null : deadLetterTopic,
        limit,
      },
      refusedAlike: limit.isWithout ? null : new RefusedAlike((topic) => topics.isTemplated(topic)),
    };
    const { database, kafka } = settings;
    const targets = targetsBySettings(() => topics.settings);
    this.#hasTable = (topic) =>
      !topics.isTemplated(topic) || topics.settings.kafka.topics.includes(topic) || userTables.of(topic).length > 0;
    this.#filled = new FilledTables({ schema, groupId: kafka.groupId, targets, onShared });
    this.#privileges = neededPrivileges(settings);
    this.#frozenWriters = new FrozenWriters(pool, { database, groupId: kafka.groupId, onEnded });
    const inHaste = { ...this.#writer, timeouts: impatient(this.#writer.timeouts) };
    const alone = (request: WriteRequest, isPatient: boolean) =>
      this.#frozenWriters.moving(request, () =>
        this.#withTables((client) => writeRecords(client, isPatient ? this.#writer : inHaste, request)),
      );
    const together = (requests: readonly WriteRequest[]) =>
      this.#withTables((client) => writeGroup(client, inHaste, requests));
    const tablesOf = (topic: string) => this.#writer.tables.namesOf(topic);
    const isOneTable = () => this.#writer.tables.areOne;
    const writers = { alone, together, tablesOf, isOneTable };
    this.#writes = new GroupedWrites(writers, { ...settings.consumer, ...settings.database });
  }

  /**
   * Creates or upgrades the tables, or only asks for them where `database.migrate` is false; answers with the versions
   * applied.
   *
   * @throws FatalError `TABLE_MISMATCH` when they are not what rows are encoded for
   * @throws FatalError `DATABASE_REFUSED` when the role lacks a privilege that it needs later
   */
  migrate(): Promise<number[]> {
    const prepare = this.#mayMigrate ? migrate : requireMigrated;
    return this.#pool.withClient(async (client) => {
      const versions = await prepare(client, this.#writer.schema);
      await this.#writer.ownTables.require(client);
      await requirePrivileges(client, this.#writer.schema, this.#privileges);
      return versions;
    });
  }

  /** Versions of the tables that are newer than this program. */
  unknownVersions(): Promise<string[]> {
    return this.#pool.withClient((client) => unknownVersions(client, this.#writer.schema));
  }

  /** The schema, and the server and database that it is in. */
  place(): Promise<WritePlace> {
    return this.#pool.withClient((client) => readPlace(client, this.#writer.schema));
  }

  positions(topics: readonly string[]): Promise<Position[]> {
    const { schema, groupId } = this.#writer;
    return this.#withTables((client) => readPositions(client, schema, groupId, topics));
  }

  adoptTopicIds(ids: ReadonlyMap<string, string>): Promise<void> {
    const { schema, groupId } = this.#writer;
    return this.#withTables((client) => adoptTopicIds(client, schema, groupId, ids));
  }

  recordTables(ids: ReadonlyMap<string, string | null>): Promise<void> {
    const topics = new Map([...ids].map(([topic, id]) => [topic, id ?? '']));
    return this.#withTables((client) => this.#filled.record(client, topics));
  }

  initialize(topic: string, choose: (stored: ReadonlySet<number>) => readonly Position[]): Promise<Position[]> {
    const owner = { ...this.#writer, filled: this.#filled };
    return this.#withTables((client) => initializePositions(client, owner, topic, choose));
  }

  /** The templates that the group has begun with. */
  begunTemplates(): Promise<ReadonlySet<string>> {
    const { schema, groupId } = this.#writer;
    return this.#withTables((client) => begunTemplates(client, schema, groupId));
  }

  /** The topics of which the group has stored offsets. */
  storedTopics(): Promise<readonly string[]> {
    const { schema, groupId } = this.#writer;
    return this.#withTables((client) => storedTopics(client, schema, groupId));
  }

  /** Stores that the group begins with templates, together with the first positions of what they take now. */
  beginTemplates(templates: readonly string[], found: readonly FirstPositions[]): Promise<void> {
    const owner = { ...this.#writer, filled: this.#filled };
    return this.#withTables((client) => beginTemplates(client, owner, templates, found));
  }

  misfits(topics: readonly string[]): Promise<ReadonlyMap<string, FatalError>> {
    return this.#withTables((client) => this.#userTables.misfits(client, topics));
  }

  skip(gap: Gap): Promise<WriteOutcome> {
    return this.#frozenWriters.moving(gap, () => this.#withTables((client) => skipGap(client, this.#writer, gap)));
  }

  /** Small requests of several partitions may share a transaction, which then does for each what its own would. */
  async write(request: WriteRequest): Promise<WriteOutcome> {
    if (!this.#hasTable(request.topic)) {
      const message = `the tables of ${request.topic}, which a template takes, are not known: nothing of it was written`;
      throw new OutageError(message, { reason: 'database_unknown' });
    }
    return this.#writes.write(request);
  }

  /**
   * A new connection reads the tables from the catalog first: the one before may have ended with what was done to them.
   */
  #withTables<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#pool.withClient(async (client) => {
      await this.#writer.ownTables.requireOnce(client);
      return work(client);
    });
  }
}

/**
 * Where a group writes: two queries, since the second one is refused as a whole where the right is missing.
 */
export async function readPlace(client: PoolClient, schema: string): Promise<WritePlace> {
  const { rows } = await client.query<{ database: string; isAllowed: boolean }>(
    `SELECT current_database() AS database, has_function_privilege('pg_control_system()', 'EXECUTE') AS "isAllowed"`,
  );
  const { database = '', isAllowed = false } = rows[0] ?? {};
  const system = isAllowed
    ? await client.query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()')
    : { rows: [] };
  return { schema, database, systemIdentifier: system.rows[0]?.id ?? null };
}

/** One transaction: the offset moves over the gap, and the gap is recorded. */
async function skipGap(client: PoolClient, writer: Writer, gap: Gap): Promise<WriteOutcome> {
  if (!(await beginMovingOffset(client, writer, gap))) {
    return { kind: 'fenced' };
  }
  const { topic, partition, expectedOffset, nextOffset } = gap;
  await client.query(
    `INSERT INTO ${escapeIdentifier(writer.schema)}.gaps (group_id, topic, partition, from_offset, next_offset)
     VALUES ($1, $2, $3, $4, $5)`,
    [writer.groupId, topic, partition, expectedOffset.toString(), nextOffset.toString()],
  );
  await commit(client);
  return { kind: 'committed', deadLetters: new Map(), rows: new Map() };
}
