import { expect } from '@jest/globals';
import pg from 'pg';
import type { ChangeSource } from '../../../dev/change-events/change-source.ts';
import { replicaEntry, type SourceTable, sourceTableSql, topicOf } from '../../../dev/change-events/source-tables.ts';
import { TcpProxy } from '../../../dev/chaos/tcp-proxy.ts';
import type { ChangeTopics } from '../../../dev/stack/connect/debezium-source.ts';
import { compareReplica } from '../../../dev/verdict/compare-replica.ts';
import type { Finding } from '../../../dev/verdict/finding.ts';
import { awaitAccounted, PositionReader, type Positions, sumOfNext } from '../../../dev/verdict/positions.ts';
import { type CommitProxy, startCommitProxy } from '../stack/commit-proxy.ts';
import { query } from '../stack/database.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitRoot } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

/**
 * Consumers that make a replica of a source in a database of the shared PostgreSQL, by a way that can be cut. The
 * database is the replica's own, as its tables need extensions, which a database has once.
 */
export class Replica {
  readonly schema = randomName('replica');
  readonly #url: string;
  readonly #own = { schema: randomName('schema'), groupId: randomName('group') };
  readonly #tables: readonly SourceTable[];
  readonly #topics: ChangeTopics;
  readonly #way: TcpProxy;
  /** To the registry; `null` where the records need none. */
  readonly #registryWay: TcpProxy | null;
  readonly #proxy: CommitProxy;
  readonly #positions: ReadonlyMap<string, PositionReader>;
  #current: StartedConsumer | undefined;

  private constructor(
    url: string,
    tables: readonly SourceTable[],
    topics: ChangeTopics,
    way: TcpProxy,
    registryWay: TcpProxy | null,
    proxy: CommitProxy,
  ) {
    this.#url = url;
    this.#tables = tables;
    this.#topics = topics;
    this.#way = way;
    this.#registryWay = registryWay;
    this.#proxy = proxy;
    const { schema, groupId: group } = this.#own;
    this.#positions = new Map(
      tables.map(({ name }) => {
        const topic = topicOf(topics.prefix, name);
        return [topic, new PositionReader(url, kafkaClient(), { schema, group, topic })];
      }),
    );
  }

  /** Makes the replica's tables, and starts a consumer. */
  static async start(tables: readonly SourceTable[], topics: ChangeTopics): Promise<Replica> {
    const way = await TcpProxy.listen();
    way.forwardTo(Number(new URL(sharedDatabaseUrl()).port));
    const registryWay = topics.registry === undefined ? null : await TcpProxy.listen();
    registryWay?.forwardTo(Number(new URL(topics.registry ?? '').port));
    const database = randomName('replica');
    await query(`CREATE DATABASE ${database}`);
    const url = new URL(sharedDatabaseUrl());
    url.pathname = `/${database}`;
    const direct = url.href;
    url.port = String(way.port);
    const replica = new Replica(direct, tables, topics, way, registryWay, await startCommitProxy(url.href));
    const creations = tables.map((table) => sourceTableSql(replica.schema, table));
    await replica.query([`CREATE SCHEMA ${replica.schema}`, ...creations].join(';'));
    await Promise.all([...replica.#positions.values()].map((reader) => reader.connect()));
    replica.#current = await replica.#startConsumer();
    return replica;
  }

  /** The consumer that works. */
  get consumer(): StartedConsumer {
    if (this.#current === undefined) {
      throw new Error('the replica has no consumer');
    }
    return this.#current;
  }

  #startConsumer(): Promise<StartedConsumer> {
    const { prefix, hasSchemas } = this.#topics;
    const place = { prefix, schema: this.schema, hasSchemas };
    return startConsumer({
      topics: [],
      ...this.#own,
      databaseUrl: this.#proxy.url,
      settings: {
        // Small transactions, so that a fault meets one; and a session that ends soon after it.
        consumer: { maxBatchRecords: 100 },
        kafka: { sessionTimeout: '6s' },
        tables: this.#tables.map((table) => replicaEntry(place, table)),
        ...this.#formats(),
      },
    });
  }

  /** Keys and values by the registry, where there is one. */
  #formats(): Readonly<Record<string, object>> {
    const port = this.#registryWay?.port;
    const registered = [...this.#positions.keys()].map((topic) => [topic, { key: 'registry', value: 'registry' }]);
    return port === undefined
      ? {}
      : {
          formats: Object.fromEntries(registered),
          schemaRegistry: { url: `http://127.0.0.1:${port}/apis/ccompat/v7`, timeout: '5s' },
        };
  }

  #looks(): Promise<readonly Positions[]> {
    return Promise.all([...this.#positions.values()].map((reader) => reader.read()));
  }

  /** The sum of the next offsets of all topics. */
  async stored(): Promise<bigint> {
    return (await this.#looks()).reduce((sum, look) => sum + sumOfNext(look), 0n);
  }

  /** Events in Kafka that are not stored yet. */
  async ahead(): Promise<bigint> {
    const ends = (await this.#looks()).flatMap((look) => [...look.end.values(), -sumOfNext(look)]);
    return ends.reduce((sum, each) => sum + each, 0n);
  }

  /** Waits until more is stored than now. */
  async advances(): Promise<void> {
    const before = await this.stored();
    await until('the replica to go on', async () => ((await this.stored()) > before ? true : undefined), 90_000);
  }

  /** Starts a consumer again after {@link finish}. */
  async resume(): Promise<void> {
    this.#current = await this.#startConsumer();
  }

  /** Ends the consumer by SIGKILL in the middle of its work, and starts another one. */
  async kill(): Promise<void> {
    await this.advances();
    this.consumer.kill('SIGKILL');
    await this.consumer.exited;
    this.#current = await this.#startConsumer();
    await this.advances();
  }

  /**
   * Cuts all connections to PostgreSQL, one in the middle of a commit first, until health is DOWN; then they are back.
   */
  async cut(): Promise<void> {
    await this.#proxy.cutNextCommit('while', 'COMMIT');
    await this.advances();
    this.#way.cut();
    await this.consumer.waitForHealth(503);
    this.#way.restore();
    await this.advances();
  }

  /**
   * Cuts the way to the registry, where there is one. Another consumer, which knows no schema, waits until the way is
   * back.
   */
  async loseRegistry(): Promise<void> {
    await this.advances();
    if (this.#registryWay === null) {
      return;
    }
    this.#registryWay.cut();
    this.consumer.kill('SIGKILL');
    await this.consumer.exited;
    this.#current = await this.#startConsumer();
    await awaitRoot(this.consumer, 'the registry to be DOWN', ({ components }) => {
      return components['schemaRegistry']?.status === 'DOWN';
    });
    this.#registryWay.restore();
    await this.advances();
  }

  /** Freezes the consumer in the middle of a transaction until another one has taken over, and lets it go on then. */
  async fence(): Promise<void> {
    const update = await this.#proxy.holdNext('UPDATE');
    const frozen = this.consumer;
    frozen.kill('SIGSTOP');
    this.#current = await this.#startConsumer();
    await this.advances();
    update();
    frozen.kill('SIGCONT');
    await this.advances();
    frozen.kill('SIGTERM');
    expect(await frozen.exited).toMatchObject({ code: 0 });
  }

  /** Ends the consumer in order, once all events of the source are stored. */
  async finish(source: ChangeSource): Promise<void> {
    await source.flushed();
    for (const [topic, reader] of this.#positions) {
      const { end } = await reader.read();
      const finding = await awaitAccounted(
        end,
        () => reader.read(),
        () => true,
      );
      const log = finding.isWell ? [] : this.consumer.logs.all.slice(-10);
      expect({ topic, ...finding, log }).toMatchObject({ isWell: true, details: [], log: [] });
    }
    this.consumer.kill('SIGTERM');
    expect(await this.consumer.exited).toMatchObject({ code: 0 });
  }

  /**
   * What differs from the source, but for what is lost there.
   *
   * @param nulls what the replica has for NULL, by table and column. @default NULL
   */
  async differences(
    source: ChangeSource,
    nulls: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  ): Promise<readonly Finding[]> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      const findings: Finding[] = [];
      for (const table of this.#tables) {
        const compared = { source: source.client, replica: client, schema: this.schema, table };
        findings.push(await compareReplica({ ...compared, nulls: nulls[table.name] ?? {} }));
      }
      return findings.filter(({ isWell }) => !isWell);
    } finally {
      await client.end();
    }
  }

  /** Its dead letters: topic, reason, column and key. */
  deadLetters(): Promise<readonly { topic: string; reason: string; column: string | null; key: string | null }[]> {
    return this.query(
      `SELECT topic, reason, target_column AS column, encode(key, 'escape') AS key FROM ${this.#own.schema}.dead_letters
       ORDER BY topic, partition, "offset"`,
    );
  }

  /** Rows of a table of the replica. @param columns as SQL */
  rows(table: string, columns = '*'): Promise<readonly Record<string, unknown>[]> {
    return this.query(`SELECT ${columns} FROM ${this.schema}.${table} ORDER BY 1`);
  }

  /** Rows of one statement in the replica's database. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
    return query<Row>(text, [], this.#url);
  }

  /** Ends what it has open, and removes its database. */
  async remove(): Promise<void> {
    this.#current?.kill('SIGKILL');
    await this.#current?.exited;
    await Promise.all([...this.#positions.values()].map((reader) => reader.disconnect()));
    await Promise.all([this.#way.close(), this.#registryWay?.close()]);
    await query(`DROP DATABASE ${new URL(this.#url).pathname.slice(1)} WITH (FORCE)`);
  }
}
