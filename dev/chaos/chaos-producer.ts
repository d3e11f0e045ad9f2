import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Producer } from 'kafkajs';
import { toMessage } from '../orders/order-producer.ts';
import { POISON_KINDS, type SampleRecord, sampleRecord } from '../orders/sample-record.ts';

const REQUEST_INTERVAL_MS = 100;

/** The header that holds a record's number, from which a reader of the topic makes the record again. */
export const NUMBER_HEADER = 'chaos-number';

/** Largest value of a burst's records: a thousand of them fit into one request. */
const BURST_BYTES = 1_024;
const BURST_KINDS = POISON_KINDS.filter(({ value }) => value === undefined || value.length <= BURST_BYTES);

/** The topic, the rate, and the seed of the records' content. */
interface ProductionPlan {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
  readonly seed: number;
  /** Records per second while Kafka takes them; those of an outage are left out. */
  readonly rate: number;
}

interface Burst {
  readonly partition: number;
  readonly records: number;
  readonly onSent: () => void;
}

/**
 * Produces records with known content, one request after the other, until it is stopped.
 *
 * A request that fails is sent again until all replicas have acknowledged it. Where the broker has stored the failed
 * one, its records are in the topic twice, at two offsets, and both have to be in the tables.
 */
export class ChaosProducer {
  readonly #plan: ProductionPlan;
  readonly #producer: Producer;
  readonly #bursts: Burst[] = [];
  #orders = 0;
  #burstRecords = 0;
  #failures = 0;
  #isStopping = false;
  #work: Promise<void> = Promise.resolve();

  constructor(plan: ProductionPlan) {
    this.#plan = plan;
    this.#producer = plan.kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 1 } });
  }

  /** The acknowledged records have the numbers from `-burst` up to but without `orders`. */
  get acknowledged(): { readonly orders: number; readonly burst: number } {
    return { orders: this.#orders, burst: this.#burstRecords };
  }

  /** Requests that were not acknowledged and sent again. */
  get failures(): number {
    return this.#failures;
  }

  async start(): Promise<void> {
    await this.#producer.connect();
    this.#work = this.#produce();
  }

  /** Resolves when a burst of poison records is acknowledged. */
  burst(partition: number, records: number): Promise<void> {
    return new Promise((resolve) => this.#bursts.push({ partition, records, onSent: resolve }));
  }

  /** Ends after the request under way is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#work;
    await this.#producer.disconnect();
  }

  async #produce(): Promise<void> {
    const { rate } = this.#plan;
    while (!this.#isStopping) {
      const startedAt = performance.now();
      const orders = Math.ceil((rate * REQUEST_INTERVAL_MS) / 1_000);
      if (await this.#send(this.#orders, orders, 0)) {
        this.#orders += orders;
      }
      await this.#sendBurst();
      await delay(Math.max(1, REQUEST_INTERVAL_MS - (performance.now() - startedAt)));
    }
  }

  async #sendBurst(): Promise<void> {
    const burst = this.#bursts[0];
    if (burst === undefined) {
      return;
    }
    const { partition, records, onSent } = burst;
    if (await this.#send(-this.#burstRecords - records, records, partition)) {
      this.#burstRecords += records;
      this.#bursts.shift();
      onSent();
    }
  }

  async #send(first: number, count: number, burstPartition: number): Promise<boolean> {
    const { topic, seed, partitions } = this.#plan;
    const messages = Array.from({ length: count }, (_, nth) =>
      toMessage(chaosRecord(seed, first + nth, partitions, burstPartition)),
    );
    try {
      await this.#producer.send({ topic, messages, acks: -1 });
      return true;
    } catch {
      this.#failures += 1;
      return false;
    }
  }
}

/**
 * The record with a number: sample order `number` when it is not negative, else one of a poison burst, in
 * `burstPartition`.
 */
export function chaosRecord(seed: number, number: number, partitions: number, burstPartition: number): SampleRecord {
  const record = number < 0 ? burstRecord(number, burstPartition) : sampleRecord(seed, number, partitions);
  return { ...record, headers: [...record.headers, [NUMBER_HEADER, String(number)]] };
}

function burstRecord(number: number, partition: number): SampleRecord {
  const kind = BURST_KINDS[-number % BURST_KINDS.length];
  return {
    partition,
    key: kind?.key ?? Buffer.from(`burst${number}`),
    value: kind?.value ?? Buffer.from(`{"burst":${number}}`),
    headers: [],
    reason: kind?.reason,
  };
}
