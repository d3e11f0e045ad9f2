import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { endOffsets, type ProducedRecord } from '../orders/sample-producer.ts';
import { ensureTopic } from '../stack/topic.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { PositionReader, type Positions } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { insist } from './insist.ts';

const PARTITIONS = 2;
const RECORDS_PER_SECOND = 200;
/** Produced right before a deletion, so that some records go with the topic before they are read. */
export const LAST_REQUESTS = 10;

/** What was produced to the topic between a creation and the deletion after it. */
export interface Incarnation {
  /** What its rows have as topic: the topic's own name while it is there, another one afterwards. */
  readonly topic: string;
  readonly producer: ChaosProducer;
  /** The stored position of each partition when the topic was gone; undefined: it is not. */
  readonly next: ReadonlyMap<number, bigint> | undefined;
  /** Whether a consumer took the topic after it for another one. */
  readonly isNoticed: boolean;
}

/** A topic that is deleted and created again under the same name. The main topic is not touched by that. */
export class SideTopic {
  readonly written: Written;
  readonly #kafka: Kafka;
  readonly #url: string;
  readonly #seed: number;
  readonly #positions: PositionReader;
  readonly #past: Incarnation[] = [];
  readonly #deleted: ChaosProducer[] = [];
  #producer: ChaosProducer;
  #isThere = false;

  /** @param url of the database, past all proxies. */
  constructor(kafka: Kafka, url: string, written: Written, seed: number) {
    this.written = written;
    this.#kafka = kafka;
    this.#url = url;
    this.#seed = seed;
    this.#positions = new PositionReader(url, kafka, written);
    this.#producer = this.#nextProducer();
  }

  /** The incarnations so far; the last one is that which is there. */
  get incarnations(): readonly Incarnation[] {
    return [...this.#past, { topic: this.written.topic, producer: this.#producer, next: undefined, isNoticed: false }];
  }

  /** Whether it is not deleted. */
  get isThere(): boolean {
    return this.#isThere;
  }

  /** Where the consumers are in the topic that is there. */
  read = (): Promise<Positions> => this.#positions.read();

  /** Creates the topic and begins to produce. */
  async start(): Promise<void> {
    await ensureTopic(this.#kafka, this.written.topic, PARTITIONS);
    await this.#positions.connect();
    await this.#producer.start();
    this.#isThere = true;
  }

  /** Ends producing; all requests are acknowledged. */
  stop(): Promise<void> {
    return this.#producer.stop(1);
  }

  async disconnect(): Promise<void> {
    await this.#positions.disconnect();
  }

  /** Deletes the topic with its last records; resolves when Kafka does not know it any more. */
  async delete(): Promise<void> {
    const { topic } = this.written;
    this.#isThere = false;
    await this.#producer.stop(LAST_REQUESTS);
    await deleteTopic(this.#kafka, topic);
  }

  /** Creates the topic under the same name and produces other records to it. */
  async createAgain(): Promise<void> {
    this.#deleted.push(this.#producer);
    this.#producer = this.#nextProducer();
    await insist(() => ensureTopic(this.#kafka, this.written.topic, PARTITIONS));
    await insist(() => this.#producer.start());
    this.#isThere = true;
  }

  /**
   * Looks where the rows of the deleted topic are, after the command `offsets begin-again --rename-rows`, which keeps
   * its offsets beside them.
   *
   * Whatever was below a stored position is in one of the tables, and has to be found there; what was above it went
   * with the topic.
   *
   * @param isNoticed whether a consumer took the topic for another one.
   */
  async findRenamed(isNoticed: boolean): Promise<void> {
    const { topic, group, schema } = this.written;
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      const { rows } = await client.query<{ topic: string; partition: number; next: string }>(
        `SELECT topic, partition, next_offset AS next FROM "${schema}".offsets
          WHERE group_id = $1 AND starts_with(topic, $2) AND topic <> ALL ($3)`,
        [group, `${topic}@`, this.#past.map((incarnation) => incarnation.topic)],
      );
      const next = new Map(rows.map((row) => [row.partition, BigInt(row.next)]));
      const producer = this.#deleted.at(-1);
      if (producer === undefined || rows[0] === undefined) {
        throw new Error(`the offsets of the deleted topic ${topic} were not kept`);
      }
      this.#past.push({ topic: rows[0].topic, producer, next, isNoticed });
    } finally {
      await client.end();
    }
  }

  #nextProducer(): ChaosProducer {
    return new ChaosProducer({
      kafka: this.#kafka,
      topic: this.written.topic,
      partitions: PARTITIONS,
      seed: this.#seed + 1 + this.#deleted.length,
      rate: RECORDS_PER_SECOND,
    });
  }
}

/** Deletes a topic; resolves when Kafka does not know it any more. */
export function deleteTopic(kafka: Kafka, topic: string): Promise<void> {
  return insist(async () => {
    const admin = kafka.admin();
    try {
      await admin.connect();
      await admin.deleteTopics({ topics: [topic] }).catch(() => undefined);
      if ((await admin.listTopics()).includes(topic)) {
        throw new Error(`${topic} is still there`);
      }
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  });
}

/** Records that have to be in the tables: all, or those of a deleted topic that were read before it went. */
export function* expectedOf({ producer, next }: Incarnation): Generator<ProducedRecord> {
  for (const record of producer.records()) {
    if (next === undefined || record.offset < (next.get(record.partition) ?? 0n)) {
      yield record;
    }
  }
}

/** Where each partition of an incarnation ends. */
export const endsOf = ({ producer }: Incarnation): ReadonlyMap<number, bigint> => endOffsets(producer.records());

/** How many topics were deleted, and how many records with them, all and those that were not read. */
export function deletedRecords(incarnations: readonly Incarnation[]): {
  readonly topics: number;
  readonly all: number;
  readonly unread: number;
} {
  const deleted = incarnations.filter(({ next }) => next !== undefined);
  const sum = (records: (incarnation: Incarnation) => Iterable<ProducedRecord>): number =>
    deleted.reduce((total, incarnation) => total + [...records(incarnation)].length, 0);
  const all = sum(({ producer }) => producer.records());
  return { topics: deleted.length, all, unread: all - sum(expectedOf) };
}
