import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Producer } from 'kafkajs';
import { type ProducedRecord, type RecordAt, toMessage } from '../orders/sample-producer.ts';
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
  /** The records with a number that is not negative. @default the sample orders */
  readonly recordAt?: RecordAt;
}

/** An acknowledged request: `count` records from the number `first` on. */
export interface AcknowledgedRequest {
  readonly first: number;
  readonly count: number;
  /** Offset of its first record in each partition that it touched. */
  readonly baseOffsets: ReadonlyMap<number, bigint>;
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
  readonly #requests: AcknowledgedRequest[] = [];
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

  /**
   * Ends after the request under way.
   *
   * @param more so many further requests are sent at once, and acknowledged before it ends. @default none
   */
  async stop(more = 0): Promise<void> {
    this.#isStopping = true;
    await this.#work;
    for (let sent = 0; sent < more; ) {
      sent += (await this.#sendOrders()) ? 1 : await delay(REQUEST_INTERVAL_MS, 0);
    }
    await this.#producer.disconnect();
  }

  /** All orders with their offsets, without reading the topic; see {@link acknowledgedRecords}. */
  records(): Generator<ProducedRecord> {
    return acknowledgedRecords(this.#requests, this.#plan);
  }

  async #produce(): Promise<void> {
    while (!this.#isStopping) {
      const startedAt = performance.now();
      await this.#sendOrders();
      await this.#sendBurst();
      await delay(Math.max(1, REQUEST_INTERVAL_MS - (performance.now() - startedAt)));
    }
  }

  async #sendOrders(): Promise<boolean> {
    const count = Math.ceil((this.#plan.rate * REQUEST_INTERVAL_MS) / 1_000);
    const isAcknowledged = await this.#send(this.#orders, count, 0);
    this.#orders += isAcknowledged ? count : 0;
    return isAcknowledged;
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
    const { topic, seed, partitions, recordAt } = this.#plan;
    const messages = Array.from({ length: count }, (_, nth) =>
      toMessage(chaosRecord(seed, first + nth, partitions, burstPartition, recordAt)),
    );
    try {
      const answers = await this.#producer.send({ topic, messages, acks: -1 });
      const baseOffsets = new Map(answers.map(({ partition, baseOffset }) => [partition, BigInt(baseOffset ?? -1)]));
      this.#requests.push({ first, count, baseOffsets });
      return true;
    } catch {
      this.#failures += 1;
      return false;
    }
  }
}

/**
 * The records of a topic with their offsets, where no burst was produced to it, each request until it was
 * acknowledged. What lies between two acknowledged requests is the later one, stored by attempts that were not.
 *
 * @throws Error when the offsets leave room for something else.
 */
export function* acknowledgedRecords(
  requests: Iterable<AcknowledgedRequest>,
  { seed, partitions, recordAt }: Pick<ProductionPlan, 'seed' | 'partitions' | 'recordAt'>,
): Generator<ProducedRecord> {
  const ends = new Map<number, bigint>();
  for (const { first, count, baseOffsets } of requests) {
    const records = Array.from({ length: count }, (_, nth) => chaosRecord(seed, first + nth, partitions, 0, recordAt));
    for (const [partition, base] of baseOffsets) {
      const own = records.filter((record) => record.partition === partition);
      let offset = ends.get(partition) ?? 0n;
      if ((base - offset) % BigInt(own.length) !== 0n) {
        throw new Error(`${partition}/${offset} to ${base} are not attempts of the request from number ${first} on`);
      }
      while (offset <= base) {
        for (const record of own) {
          yield { ...record, offset };
          offset += 1n;
        }
      }
      ends.set(partition, offset);
    }
  }
}

/**
 * The record with a number: that of the stream when it is not negative, else one of a poison burst, in
 * `burstPartition`.
 *
 * @param recordAt the stream. @default the sample orders
 */
export function chaosRecord(
  seed: number,
  number: number,
  partitions: number,
  burstPartition: number,
  recordAt: RecordAt = sampleRecord,
): SampleRecord {
  const record = number < 0 ? burstRecord(number, burstPartition) : recordAt(seed, number, partitions);
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
