import type { Kafka } from 'kafkajs';
import { ensureTopic } from '../stack/topic.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { PositionReader } from '../verdict/positions.ts';
import { ChaosProducer } from './chaos-producer.ts';
import { insist } from './insist.ts';
import { FIRST_TEMPLATED, TEMPLATE } from './schedule.ts';
import { deleteTopic, type Incarnation, LAST_REQUESTS } from './side-topic.ts';

const PARTITIONS = 2;
const RECORDS_PER_SECOND = 50;

/** A topic that the template takes. */
interface TemplatedTopic {
  readonly name: string;
  readonly producer: ChaosProducer;
  readonly positions: PositionReader;
}

/** Topics that no setting names: they come with records, and go with their last ones. No name comes again. */
export class TemplatedTopics {
  readonly #kafka: Kafka;
  readonly #url: string;
  readonly #written: Omit<Written, 'topic'>;
  readonly #seed: number;
  readonly #there: TemplatedTopic[] = [];
  readonly #deleted: TemplatedTopic[] = [];
  #created = 0;

  /** @param url of the database, past all proxies. */
  constructor(kafka: Kafka, url: string, written: Omit<Written, 'topic'>, seed: number) {
    this.#kafka = kafka;
    this.#url = url;
    this.#written = written;
    this.#seed = seed;
  }

  /** Those that are not deleted. */
  get there(): readonly TemplatedTopic[] {
    return this.#there;
  }

  /** Creates the first ones and begins to produce. */
  async start(): Promise<void> {
    for (let nth = 0; nth < FIRST_TEMPLATED; nth += 1) {
      await this.create();
    }
  }

  /** Creates one more topic and begins to produce to it. */
  async create(): Promise<void> {
    this.#created += 1;
    const topic = TEMPLATE.replace('{any}', String(this.#created));
    const producer = new ChaosProducer({
      kafka: this.#kafka,
      topic,
      partitions: PARTITIONS,
      seed: this.#seed - this.#created,
      rate: RECORDS_PER_SECOND,
    });
    const positions = new PositionReader(this.#url, this.#kafka, { ...this.#written, topic });
    await insist(() => ensureTopic(this.#kafka, topic, PARTITIONS));
    await insist(() => Promise.all([producer.start(), positions.connect()]));
    this.#there.push({ name: topic, producer, positions });
  }

  /** Deletes the oldest topic with its last records; resolves when Kafka does not know it any more. */
  async drop(): Promise<void> {
    const dropped = this.#there.shift();
    if (dropped === undefined) {
      throw new Error(`no topic of ${TEMPLATE} is there`);
    }
    this.#deleted.push(dropped);
    await dropped.producer.stop(LAST_REQUESTS);
    await deleteTopic(this.#kafka, dropped.name);
  }

  /** Ends producing; all requests are acknowledged. */
  async stop(): Promise<void> {
    await Promise.all(this.#there.map(({ producer }) => producer.stop(1)));
  }

  async disconnect(): Promise<void> {
    await Promise.all([...this.#there, ...this.#deleted].map(({ positions }) => positions.disconnect()));
  }

  /** All of them, deleted ones with what is stored of them: the consumers write nothing any more. */
  async incarnations(): Promise<readonly Incarnation[]> {
    const deleted = this.#deleted.map(async ({ name, producer, positions }) => {
      const { next } = await positions.readStored();
      return { topic: name, producer, next, isNoticed: true };
    });
    const there = this.#there.map(({ name, producer }) => ({
      topic: name,
      producer,
      next: undefined,
      isNoticed: false,
    }));
    return [...(await Promise.all(deleted)), ...there];
  }
}
