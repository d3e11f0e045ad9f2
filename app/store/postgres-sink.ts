import type { Settings } from '../../settings/settings.ts';
import type { DeadLetterTopic } from '../stream/dead-letter.ts';
import { DeadLetterLimit } from '../stream/dead-letter-limit.ts';
import type { Gap, RecordSink, WriteOutcome, WriteRequest } from '../stream/record-sink.ts';
import type { Position } from '../stream/record-source.ts';
import type { DatabasePool } from './database-pool.ts';
import { GroupedWrites } from './grouped-writes.ts';
import { migrate } from './migrations.ts';
import { requireMigrated } from './require-migrated.ts';
import { skipGap } from './skip-gap.ts';
import { initializePositions, readPositions } from './stored-positions.ts';
import { writeGroup } from './write-group.ts';
import { type WriteTarget, writeRecords } from './write-records.ts';

/** The sink that PostgreSQL is: each method is one transaction on one connection of the pool. */
export class PostgresSink implements RecordSink {
  readonly #pool: DatabasePool;
  readonly #target: WriteTarget;
  readonly #mayMigrate: boolean;
  readonly #writes: GroupedWrites;

  /** @param deadLetterTopic takes dead letters where `deadLetters.to` names a topic; not looked at where it does not */
  constructor(
    pool: DatabasePool,
    settings: Pick<Settings, 'database' | 'kafka' | 'consumer' | 'records' | 'deadLetters'>,
    deadLetterTopic: DeadLetterTopic,
  ) {
    const { to, maxRatio } = settings.deadLetters;
    this.#pool = pool;
    this.#mayMigrate = settings.database.migrate;
    this.#target = {
      schema: settings.database.schema,
      groupId: settings.kafka.groupId,
      maxValueBytes: settings.consumer.maxValueBytes,
      keyEncoding: settings.records.keyEncoding,
      deadLetters: {
        toTable: to !== 'topic',
        topic: to === 'table' ? null : deadLetterTopic,
        limit: new DeadLetterLimit(maxRatio),
      },
    };
    const alone = (request: WriteRequest) => pool.withClient((client) => writeRecords(client, this.#target, request));
    const together = (requests: readonly WriteRequest[]) =>
      pool.withClient((client) => writeGroup(client, this.#target, requests));
    this.#writes = new GroupedWrites({ alone, together }, { ...settings.consumer, ...settings.database });
  }

  /** Creates or upgrades the tables, or only asks for them where `database.migrate` is false; answers with the versions applied. */
  migrate(): Promise<number[]> {
    const prepare = this.#mayMigrate ? migrate : requireMigrated;
    return this.#pool.withClient((client) => prepare(client, this.#target.schema));
  }

  positions(topics: readonly string[]): Promise<Position[]> {
    const { schema, groupId } = this.#target;
    return this.#pool.withClient((client) => readPositions(client, schema, groupId, topics));
  }

  initialize(topic: string, choose: (stored: ReadonlySet<number>) => readonly Position[]): Promise<Position[]> {
    const { schema, groupId } = this.#target;
    return this.#pool.withClient((client) => initializePositions(client, schema, groupId, topic, choose));
  }

  skip(gap: Gap): Promise<WriteOutcome> {
    return this.#pool.withClient((client) => skipGap(client, this.#target, gap));
  }

  /** Small requests of several partitions may share a transaction, which then does for each what its own would. */
  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#writes.write(request);
  }
}
