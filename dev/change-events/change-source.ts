import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type ChangeTopics, slotOf, startDebezium, startSourcePostgres } from '../stack/connect/debezium-source.ts';
import { deathOf, type LocalConnect } from '../stack/connect/local-connect.ts';
import type { LocalPostgres } from '../stack/local-postgres.ts';
import type { Progress } from '../stack/maven-jars.ts';
import { ensureTopic } from '../stack/topic.ts';
import { type SourceTable, sourceTableSql, topicOf } from './source-tables.ts';

const POLL_MS = 200;
/** For as long Debezium may send nothing that the source waits for. */
const FLUSH_TIMEOUT_MS = 120_000;

interface ChangeSourceOptions {
  /** A client of the brokers, which makes the topics. */
  readonly kafka: Kafka;
  /** `host:port`, or several with commas between. */
  readonly brokers: string;
  readonly tables: readonly SourceTable[];
  /** One connector for each of them reads all of the tables. */
  readonly topics: readonly ChangeTopics[];
  /** Fills the tables before Debezium reads them for its snapshot. */
  readonly fill: (source: pg.Client) => Promise<unknown>;
  /** Called with the progress of a long step. @default never */
  readonly onProgress?: Progress;
}

/** A PostgreSQL whose changes Debezium sends to Kafka. */
export interface ChangeSource {
  readonly postgres: LocalPostgres;
  /** A session of its superuser, which does not wait for the disk; another one after a {@link crash}. */
  readonly client: pg.Client;
  readonly debezium: LocalConnect;
  /**
   * Waits until Kafka has acknowledged the events of all changes so far.
   *
   * @throws ExplainedError when Debezium has ended or sends nothing for two minutes
   */
  flushed(): Promise<void>;
  /** Ends PostgreSQL as a crash does, and starts it again. What its session waits for fails. */
  crash(): Promise<void>;
}

/**
 * Starts a source with its tables, and Debezium; both end with the run. The snapshot is in Kafka when this resolves.
 *
 * @throws ExplainedError when PostgreSQL or a connector does not start
 */
export async function startChangeSource(run: RunFolder, options: ChangeSourceOptions): Promise<ChangeSource> {
  const { kafka, brokers, tables, topics, fill, onProgress } = options;
  const postgres = await startSourcePostgres(run);
  let client = await sessionOf(postgres);
  run.beforeClose(() => client.end());
  await client.query('CREATE TABLE flushes (flush serial PRIMARY KEY)');
  await client.query(tables.map((table) => sourceTableSql('public', table)).join('\n'));
  await fill(client);
  for (const { prefix, partitions } of topics) {
    for (const name of [...tables.map((table) => table.name), 'flushes']) {
      await ensureTopic(kafka, topicOf(prefix, name), partitions);
    }
  }
  const debezium = await startDebezium(run, { source: postgres, broker: brokers, topics }, onProgress);
  const slots = topics.map(({ prefix }) => slotOf(prefix));
  return {
    postgres,
    debezium,
    get client() {
      return client;
    },
    flushed: () => awaitFlushed(client, debezium, slots),
    crash: async () => {
      await postgres.stop('immediate');
      await postgres.start();
      client = await sessionOf(postgres);
    },
  };
}

async function sessionOf({ urlWithPassword }: LocalPostgres): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: urlWithPassword });
  // A broken connection is also an error of the statement that needs it.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SET synchronous_commit = off');
  return client;
}

/**
 * Connect stores no position before Kafka has acknowledged all events before it, and Debezium hands it on to its slot:
 * the end of the transaction before that of the last event. So events come behind the position that is waited for,
 * until it is there.
 */
async function awaitFlushed(client: pg.Client, debezium: LocalConnect, slots: readonly string[]): Promise<void> {
  const { rows: here } = await client.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
  const deadline = performance.now() + FLUSH_TIMEOUT_MS;
  for (;;) {
    await client.query('INSERT INTO flushes DEFAULT VALUES');
    const { rows: behind } = await client.query(
      'SELECT FROM pg_replication_slots WHERE slot_name = ANY ($1) AND confirmed_flush_lsn < $2',
      [slots, here[0]?.lsn],
    );
    if (behind.length === 0) {
      return;
    }
    if (debezium.taskDied.aborted || performance.now() > deadline) {
      const what = debezium.taskDied.aborted ? 'does not go on' : `sent nothing for ${FLUSH_TIMEOUT_MS / 1_000} s`;
      throw new ExplainedError([`Debezium ${what}.`, ...deathOf(debezium).map((line) => `    ${line}`)].join('\n'));
    }
    await delay(POLL_MS);
  }
}
