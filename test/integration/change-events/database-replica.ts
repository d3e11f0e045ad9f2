import { expect } from '@jest/globals';
import pg from 'pg';
import { type SourceTable, sourceTableSql, topicOf } from '../../../dev/change-events/source-tables.ts';
import { TcpProxy } from '../../../dev/chaos/tcp-proxy.ts';
import { compareReplica } from '../../../dev/verdict/compare-replica.ts';
import type { Finding } from '../../../dev/verdict/finding.ts';
import { query } from '../stack/database.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { root } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';
import { Delays, type Offsets, partitionOf } from './delays.ts';

const ALL_STORED_TIMEOUT_MS = 180_000;
/** Schema of the tables, at the source and in the replica's database. */
const SCHEMA = 'public';

/** A topic that waits, as the health has it. */
interface Waits {
  readonly topic: string;
  readonly code: string;
}

interface ReplicaOptions {
  /** Of the topics. */
  readonly prefix: string;
  /** Those of the source at the start. */
  readonly tables: readonly SourceTable[];
  /** `kafka.topicRefresh` @default that of the setting */
  readonly topicRefresh?: string;
}

/**
 * A replica of a database by one rule, in a database of the shared PostgreSQL that nothing else is in, and the consumer
 * of it, whose way to PostgreSQL can be cut.
 */
export class DatabaseReplica {
  readonly #prefix: string;
  readonly #url: string;
  readonly #way: TcpProxy;
  readonly #own = { schema: randomName('schema'), groupId: randomName('group') };
  readonly #admin = kafkaClient().admin();
  readonly #topicRefresh: string;
  /** Topics whose ends are read. */
  readonly #topics: Set<string>;
  #current: StartedConsumer | undefined;

  private constructor(
    { prefix, tables, topicRefresh = '30s' }: ReplicaOptions,
    { url, way }: { readonly url: string; readonly way: TcpProxy },
  ) {
    this.#prefix = prefix;
    this.#topicRefresh = topicRefresh;
    this.#url = url;
    this.#way = way;
    this.#topics = new Set(tables.map(({ name }) => this.topicOf(name)));
  }

  /** Makes the tables, and starts a consumer, which reads all topics from their beginning. */
  static async start(options: ReplicaOptions): Promise<DatabaseReplica> {
    const { tables } = options;
    const url = new URL(sharedDatabaseUrl());
    const way = await TcpProxy.listen();
    way.forwardTo(Number(url.port));
    const database = randomName('replica');
    await query(`CREATE DATABASE ${database}`);
    url.pathname = `/${database}`;
    const replica = new DatabaseReplica(options, { url: url.href, way });
    await replica.query(tables.map((table) => sourceTableSql(SCHEMA, table)).join('\n'));
    await replica.#admin.connect();
    await replica.#startConsumer('earliest');
    return replica;
  }

  /** The consumer that works. */
  get consumer(): StartedConsumer {
    if (this.#current === undefined) {
      throw new Error('the replica has no consumer');
    }
    return this.#current;
  }

  topicOf(table: string): string {
    return topicOf(this.#prefix, table);
  }

  /** From now on the ends of its topic are read. The topic has to be there. */
  expects(table: string): void {
    this.#topics.add(this.topicOf(table));
  }

  async #startConsumer(startFrom: 'earliest' | 'latest'): Promise<void> {
    const databaseUrl = Object.assign(new URL(this.#url), { port: String(this.#way.port) }).href;
    const all = {
      topic: `${this.#prefix}.{schema}.{table}`,
      except: [this.topicOf('flushes')],
      table: '{schema}.{table}',
      ...{ key: 'primary', envelope: 'debezium', unmapped: 'wait' },
    };
    this.#current = await startConsumer({
      topics: [],
      ...this.#own,
      databaseUrl,
      settings: {
        // Small transactions, so that a fault meets one; and a session that ends soon after it.
        consumer: { maxBatchRecords: 100, startFrom },
        kafka: { sessionTimeout: '6s', topicRefresh: this.#topicRefresh },
        tables: [all],
      },
    });
  }

  /** Ends the consumer by SIGKILL, and starts another one, for which a topic without offsets would begin at its end. */
  async kill(): Promise<void> {
    await this.#advances();
    this.consumer.kill('SIGKILL');
    expect(await this.consumer.exited).toMatchObject({ signal: 'SIGKILL' });
    await this.#startConsumer('latest');
    await this.#advances();
  }

  /** Cuts all connections to PostgreSQL until health is DOWN; then they are back. */
  async cut(): Promise<void> {
    await this.#advances();
    this.#way.cut();
    await this.consumer.waitForHealth(503);
    this.#way.restore();
    await this.#advances();
  }

  async #advances(): Promise<void> {
    const sum = async () => [...(await this.stored()).values()].reduce((all, next) => all + next, 0n);
    const before = await sum();
    await until('the replica to go on', async () => ((await sum()) > before ? true : undefined));
  }

  /** Resolves when these topics wait, and no other: each as its table and the code. */
  async awaitWaiting(...wanted: readonly string[]): Promise<void> {
    const sorted = JSON.stringify([...wanted].sort());
    await until(`${sorted} to wait`, async () => (JSON.stringify(await this.#waiting()) === sorted ? true : undefined));
  }

  async #waiting(): Promise<readonly string[]> {
    const { details } = (await root(this.consumer)).components['consumer'] ?? {};
    const waiting = (details?.['waitingTopics'] ?? []) as readonly Waits[];
    return waiting.map(({ topic, code }) => `${topic.split('.').at(-1)} ${code}`).sort();
  }

  /** The next offset that PostgreSQL expects, by partition. */
  async stored(): Promise<Offsets> {
    const rows = await this.query<{ topic: string; partition: number; next: string }>(
      `SELECT topic, partition, next_offset AS next FROM ${this.#own.schema}.offsets`,
    );
    return new Map(rows.map(({ topic, partition, next }) => [partitionOf(topic, partition), BigInt(next)]));
  }

  /** Where Kafka's logs end, by partition, of the topics that are read. */
  async ends(): Promise<Offsets> {
    const all = await Promise.all(
      [...this.#topics].map(async (topic) => {
        const ends = await this.#admin.fetchTopicOffsets(topic);
        return ends.map(({ partition, high }) => [partitionOf(topic, partition), BigInt(high)] as const);
      }),
    );
    return new Map(all.flat());
  }

  /** Starts to measure how long records that are in Kafka are not in PostgreSQL. */
  measureDelays(): Delays {
    return Delays.measure(
      () => this.ends(),
      () => this.stored(),
    );
  }

  /** Waits until all that is in the topics is stored, but for those of tables that wait. */
  async allStored(...waiting: readonly string[]): Promise<void> {
    const isWaiting = (partition: string) => waiting.some((table) => partition.startsWith(`${this.topicOf(table)}/`));
    const ends = [...(await this.ends())].filter(([partition]) => !isWaiting(partition));
    const behind = async () => {
      const stored = await this.stored();
      return ends.filter(([partition, end]) => (stored.get(partition) ?? 0n) < end).map(([partition]) => partition);
    };
    const isOver = async () => ((await behind()).length === 0 ? true : undefined);
    await until('all records to be stored', isOver, ALL_STORED_TIMEOUT_MS).catch(async (cause: Error) => {
      const log = this.consumer.logs.all.slice(-10).join('\n');
      throw new Error(`not all is stored of ${await behind()}; the log ends with\n${log}`, { cause });
    });
  }

  /** What differs from the source. */
  async differences(source: pg.Client, tables: readonly SourceTable[]): Promise<readonly Finding[]> {
    const client = await this.session();
    try {
      const findings: Finding[] = [];
      for (const table of tables) {
        findings.push(await compareReplica({ source, replica: client, schema: SCHEMA, table }));
      }
      return findings.filter(({ isWell }) => !isWell);
    } finally {
      await client.end();
    }
  }

  /** Topics and reasons of its dead letters. */
  deadLetters(): Promise<readonly { topic: string; reason: string }[]> {
    return this.query(`SELECT topic, reason FROM ${this.#own.schema}.dead_letters`);
  }

  /** How many records went where those of no table go. */
  async recordRows(): Promise<number | undefined> {
    const [found] = await this.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${this.#own.schema}.records`);
    return found?.rows;
  }

  /** A session of the replica's database, past the way that is cut. */
  async session(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    return client;
  }

  /** Rows of one text in the replica's database, past the way that is cut. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
    return query<Row>(text, [], this.#url);
  }

  /** Ends what it has open, and removes its database. */
  async remove(): Promise<void> {
    this.#current?.kill('SIGKILL');
    await this.#current?.exited;
    await Promise.all([this.#admin.disconnect(), this.#way.close()]);
    await query(`DROP DATABASE ${new URL(this.#url).pathname.slice(1)} WITH (FORCE)`);
  }
}
