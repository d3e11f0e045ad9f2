import { setTimeout as delay } from 'node:timers/promises';
import type { Producer, TopicMessages } from 'kafkajs';
import { topicOf } from '../../../dev/change-events/source-tables.ts';
import { randomSource } from '../../../dev/orders/random-source.ts';
import { ADMIN_TIMEOUT_MS } from '../../../dev/stack/topic.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 2;
const PAUSE_MS = 100;
/** Keys of a table: few, so that each is changed and deleted now and then. */
const KEYS = 20;

/** Rows of a table by their key. */
type Rows = Map<number, string>;

/**
 * Inserts, updates and deletes of many tables, as Debezium writes them without schemas, and the rows that they leave.
 * Each request has a change of each table.
 */
export class HandMadeChanges {
  readonly #prefix: string;
  readonly #seed: number;
  readonly #producer: Producer = kafkaClient().producer();
  readonly #tables = new Map<string, Rows>();
  readonly #running = new AbortController();
  #requests = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(prefix: string, seed: number) {
    this.#prefix = prefix;
    this.#seed = seed;
  }

  /** Makes the topics of tables, each of which gets changes from now on. */
  async create(...tables: readonly string[]): Promise<void> {
    const admin = kafkaClient().admin();
    await admin.connect();
    try {
      const topics = tables.map((table) => ({ topic: topicOf(this.#prefix, table), numPartitions: PARTITIONS }));
      await admin.createTopics({ topics, waitForLeaders: false, timeout: ADMIN_TIMEOUT_MS });
      for (const { topic } of topics) {
        await until(`the leaders of ${topic}`, () => admin.fetchTopicOffsets(topic));
      }
    } finally {
      await admin.disconnect();
    }
    for (const table of tables) {
      this.#tables.set(table, new Map());
    }
  }

  /** No more changes of a table. */
  drop(table: string): void {
    this.#tables.delete(table);
  }

  /** Makes changes until {@link stop}. */
  async start(): Promise<void> {
    await this.#producer.connect();
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#running.abort();
    await this.#work;
    await this.#producer.disconnect();
  }

  /** The rows that a table has to have, in the order of their keys. */
  rows(table: string): readonly { readonly id: number; readonly name: string }[] {
    const rows = [...(this.#tables.get(table) ?? [])].map(([id, name]) => ({ id, name }));
    return rows.toSorted((a, b) => a.id - b.id);
  }

  async #run(): Promise<void> {
    while (!this.#running.signal.aborted) {
      this.#requests += 1;
      const topicMessages = [...this.#tables].map(([table, rows], nth) => this.#change(table, rows, nth));
      await this.#producer.sendBatch({ topicMessages });
      await delay(PAUSE_MS);
    }
  }

  #change(table: string, rows: Rows, nth: number): TopicMessages {
    const random = randomSource(this.#seed + nth, this.#requests);
    const id = random.below(KEYS);
    const name = `name ${this.#requests}`;
    const key = JSON.stringify({ id });
    const partition = id % PARTITIONS;
    const topic = topicOf(this.#prefix, table);
    if (rows.has(id) && random.below(3) === 0) {
      const before = { id, name: rows.get(id) };
      rows.delete(id);
      const values = [JSON.stringify({ before, after: null, op: 'd' }), null];
      return { topic, messages: values.map((value) => ({ key, value, partition })) };
    }
    const op = rows.has(id) ? 'u' : 'c';
    rows.set(id, name);
    return { topic, messages: [{ key, value: JSON.stringify({ before: null, after: { id, name }, op }), partition }] };
  }
}
