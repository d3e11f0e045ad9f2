import { expect } from '@jest/globals';
import { query } from '../stack/database.ts';
import { type AtBroker, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

/** Tables of a schema, and topics for them that one rule takes. */
export class TemplatedShop {
  readonly source = randomName('source');
  readonly schema = randomName('replica');
  readonly #at: AtBroker;

  /** @param at @default the shared Kafka */
  constructor(at: AtBroker = {}) {
    this.#at = at;
  }

  topic(table: string): string {
    return `${this.source}.${this.schema}.${table}`;
  }

  /** Makes tables, each with a topic. */
  async add(...tables: string[]): Promise<void> {
    await query(`CREATE SCHEMA IF NOT EXISTS ${this.schema}`);
    for (const table of tables) {
      await query(`CREATE TABLE ${this.schema}.${table} (id int)`);
      await createNamedTopic(this.topic(table), { ...this.#at, partitions: 2 });
    }
  }

  produce(table: string, ...ids: number[]): Promise<unknown> {
    return produce(
      this.topic(table),
      ids.map((id) => ({ value: JSON.stringify({ id }), partition: id % 2 })),
      this.#at,
    );
  }

  /** Waits until a table has as many rows as these ids, and compares them. */
  async awaitIds(table: string, ...ids: number[]): Promise<void> {
    const rows = await until(`${ids.length} rows in ${table}`, async () => {
      const found = await query<{ id: number }>(`SELECT id FROM ${this.schema}.${table} ORDER BY id`);
      return found.length >= ids.length ? found : undefined;
    });
    expect(rows.map(({ id }) => id)).toEqual(ids);
  }

  start(chosen: Partial<ConsumerUnderTest> = {}): Promise<StartedConsumer> {
    return startConsumer(this.settings(chosen));
  }

  /** One rule for all of it. @param entry what else it has. @default nothing */
  rule(entry: object = {}) {
    return { topic: `${this.source}.{schema}.{table}`, table: '{schema}.{table}', ...entry };
  }

  /** The settings, with the rule. */
  settings(chosen: Partial<ConsumerUnderTest> = {}): ConsumerUnderTest {
    const { kafka, ...settings } = chosen.settings ?? {};
    const all = { kafka: { topicRefresh: '1s', ...kafka }, tables: [this.rule()], ...settings };
    return { topics: [], ...chosen, settings: all };
  }
}
