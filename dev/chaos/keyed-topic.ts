import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { CUSTOMERS, creationOf, entryOf, qualified } from '../orders/sample-tables.ts';
import { customerChange } from '../orders/table-records.ts';
import { ensureTopic } from '../stack/topic.ts';
import { compareCustomers } from '../verdict/compare-rows.ts';
import { loadExpected, type Written } from '../verdict/compare-tables.ts';
import type { Finding } from '../verdict/finding.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { KEYED_SCHEMA } from './schedule.ts';

const PARTITIONS = 3;
const RECORDS_PER_SECOND = 300;
const TOPIC = CUSTOMERS.name;

const { table, fields, key = '' } = entryOf(KEYED_SCHEMA, CUSTOMERS, TOPIC);

/** The topic's entry in the consumers' settings. */
export const KEYED_SETTINGS = {
  TABLES_0_TOPIC: TOPIC,
  TABLES_0_TABLE: table,
  TABLES_0_FIELDS: fields,
  TABLES_0_KEY: key,
} as const;

/** A topic of changes by key, whose table is not the consumers': inserts, updates and deletes. */
export class KeyedTopic {
  readonly producer: ChaosProducer;
  readonly #written: Written;
  readonly #kafka: Kafka;
  readonly #url: string;
  readonly #positions: PositionReader;

  /** @param url of a superuser of the database, past all proxies. */
  constructor(kafka: Kafka, url: string, written: Written, seed: number) {
    this.#written = { ...written, topic: TOPIC };
    this.#kafka = kafka;
    this.#url = url;
    this.#positions = new PositionReader(url, kafka, this.#written);
    const plan = { kafka, topic: TOPIC, partitions: PARTITIONS, seed, rate: RECORDS_PER_SECOND };
    this.producer = new ChaosProducer({ ...plan, recordAt: customerChange });
  }

  /** Where the consumers are in it. */
  read = (): Promise<Positions> => this.#positions.read();

  /** Creates the topic and the table, and begins to produce. @param role of the consumers */
  async start(role: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON ${qualified(KEYED_SCHEMA, CUSTOMERS)} TO ${role}`;
      await client.query(`${creationOf(KEYED_SCHEMA, CUSTOMERS)} ${grant}`);
    } finally {
      await client.end();
    }
    await ensureTopic(this.#kafka, TOPIC, PARTITIONS);
    await this.#positions.connect();
    await this.producer.start();
  }

  /** Ends producing; all requests are acknowledged. */
  stop(): Promise<void> {
    return this.producer.stop(1);
  }

  disconnect(): Promise<void> {
    return this.#positions.disconnect();
  }

  /** Loads what has to be dead letters into `expected` of the connection; all others of the topic are unexpected. */
  async loadBroken(client: pg.Client): Promise<void> {
    const broken = [...this.producer.records()].filter(({ reason }) => reason !== undefined);
    await loadExpected(client, TOPIC, broken);
  }

  /** Compares the table with a Map that took the changes in the order of their offsets. */
  compare(client: pg.Client): Promise<Finding> {
    return compareCustomers(client, KEYED_SCHEMA, this.producer.records());
  }
}
