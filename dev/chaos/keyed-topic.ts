import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { lastRows, profileEvent } from '../orders/change-events.ts';
import { lastPayments, paymentChange } from '../orders/payment-records.ts';
import { newestStates, type ProducedRecord, type RecordAt } from '../orders/sample-producer.ts';
import {
  CUSTOMERS,
  creationOf,
  entryOf,
  PAYMENTS,
  PROFILES,
  qualified,
  type SampleTable,
} from '../orders/sample-tables.ts';
import { customerChange } from '../orders/table-records.ts';
import { ensureTopic } from '../stack/topic.ts';
import { compareStates } from '../verdict/compare-rows.ts';
import { loadExpected, type Written } from '../verdict/compare-tables.ts';
import type { Finding } from '../verdict/finding.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { RENAMED_COLUMN } from './database-faults.ts';
import { KEYED_SCHEMA, NAMED_TOPICS } from './schedule.ts';

const PARTITIONS = 3;
const RECORDS_PER_SECOND = 300;

/** Records by key, and what they make of their table; the topic has the table's name. */
interface KeyedRecords {
  readonly table: SampleTable;
  readonly recordAt: RecordAt;
  /** The records whose values are the rows at the end. */
  readonly statesOf: (records: Iterable<ProducedRecord>) => ReadonlyMap<string, ProducedRecord>;
}

/** An ISO time; of one length, so that texts are in the order of times. */
const changedAt = (value: Buffer): string => (JSON.parse(String(value)) as { readonly changedAt: string }).changedAt;

/** Whole rows and tombstones; some rows are late, and replace none that is newer. */
export const CUSTOMER_CHANGES: KeyedRecords = {
  table: CUSTOMERS,
  recordAt: customerChange,
  statesOf: (records) => newestStates(records, changedAt),
};

/** Change events of a replica, many of them without the large column. */
export const PROFILE_EVENTS: KeyedRecords = { table: PROFILES, recordAt: profileEvent, statesOf: lastRows };

/** Rows and tombstones, in Avro behind the ids of schemas. */
export const PAYMENT_CHANGES: KeyedRecords = {
  table: PAYMENTS,
  recordAt: paymentChange,
  statesOf: lastPayments,
};

const customers = entryOf(KEYED_SCHEMA, CUSTOMERS, CUSTOMERS.name);
const profiles = entryOf(KEYED_SCHEMA, PROFILES, PROFILES.name);
const payments = entryOf(KEYED_SCHEMA, PAYMENTS, PAYMENTS.name);

/** The topics' entries in the consumers' settings, and their formats. */
export const KEYED_SETTINGS = {
  TABLES_0_TOPIC: customers.topic,
  TABLES_0_TABLE: customers.table,
  TABLES_0_FIELDS: customers.fields,
  TABLES_0_KEY: customers.key ?? '',
  TABLES_0_VERSION: 'changed_at',
  TABLES_1_TOPIC: profiles.topic,
  TABLES_1_TABLE: profiles.table,
  TABLES_1_FIELDS: profiles.fields,
  TABLES_1_KEY: profiles.key ?? '',
  TABLES_1_ENVELOPE: profiles.envelope ?? '',
  // By a template, so that the topic waits alone where one of the others would end the consumers.
  TABLES_2_TOPIC: '{table}',
  TABLES_2_EXCEPT: [...NAMED_TOPICS, customers.topic, profiles.topic].join(),
  TABLES_2_TABLE: `${KEYED_SCHEMA}.{table}`,
  TABLES_2_FIELDS: payments.fields,
  // A column that is named has to be there.
  [`TABLES_2_COLUMNS_${RENAMED_COLUMN.toUpperCase()}`]: RENAMED_COLUMN,
  TABLES_2_KEY: 'primary',
  FORMATS_PAYMENTS: 'registry',
} as const;

/** A topic of changes by key, whose table is not the consumers': inserts, updates and deletes. */
export class KeyedTopic {
  readonly producer: ChaosProducer;
  readonly #records: KeyedRecords;
  readonly #written: Written;
  readonly #kafka: Kafka;
  readonly #url: string;
  readonly #positions: PositionReader;

  /** @param url of a superuser of the database, past all proxies. */
  constructor(records: KeyedRecords, kafka: Kafka, url: string, written: Written, seed: number) {
    const topic = records.table.name;
    this.#records = records;
    this.#written = { ...written, topic };
    this.#kafka = kafka;
    this.#url = url;
    this.#positions = new PositionReader(url, kafka, this.#written);
    const plan = { kafka, topic, partitions: PARTITIONS, seed, rate: RECORDS_PER_SECOND };
    this.producer = new ChaosProducer({ ...plan, recordAt: records.recordAt });
  }

  /** Also the name of its table. */
  get topic(): string {
    return this.#written.topic;
  }

  /** Where the consumers are in it. */
  read = (): Promise<Positions> => this.#positions.read();

  /** Creates the topic and the table, and begins to produce. @param role of the consumers */
  async start(role: string): Promise<void> {
    const { table } = this.#records;
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON ${qualified(KEYED_SCHEMA, table)} TO ${role}`;
      await client.query(`${creationOf(KEYED_SCHEMA, table)} ${grant}`);
    } finally {
      await client.end();
    }
    await ensureTopic(this.#kafka, this.topic, PARTITIONS);
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
    await loadExpected(client, this.topic, broken);
  }

  /** Compares the table with a Map that took the changes in the order of their offsets. */
  compare(client: pg.Client): Promise<Finding> {
    const { table, statesOf } = this.#records;
    return compareStates(client, KEYED_SCHEMA, table, statesOf(this.producer.records()));
  }
}
