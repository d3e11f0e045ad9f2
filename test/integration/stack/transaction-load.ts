import { setTimeout as delay } from 'node:timers/promises';
import type { Producer, Transaction } from 'kafkajs';
import { type AtBroker, kafkaClient } from './kafka-client.ts';
import { randomName } from './random-name.ts';

/** Between transactions: as many as the broker can take would cost everything else its time. */
const PAUSE_MS = 40;

/**
 * Transactions of one producer, one after the other, each with a record for both partitions of each topic. Every third
 * one is aborted, and so is one whose records could not be produced. Ends with {@link stop}.
 */
export class TransactionLoad {
  /** The records of committed transactions, as `topic/partition/value`. */
  readonly committed: string[] = [];
  readonly #at: AtBroker;
  readonly #partitions: readonly (readonly [topic: string, partition: number])[];
  readonly #transactionalId = randomName('tx');
  readonly #running: Promise<void>;
  #isStopping = false;
  #nth = 0;

  constructor(at: AtBroker, topics: readonly string[]) {
    this.#at = at;
    this.#partitions = topics.flatMap((topic) => [0, 1].map((partition) => [topic, partition] as const));
    this.#running = this.#run();
  }

  /** Resolves when the last transaction is over. @throws the error of a commit, whose outcome is not known */
  stop(): Promise<void> {
    this.#isStopping = true;
    return this.#running;
  }

  async #run(): Promise<void> {
    do {
      const producer = kafkaClient(this.#at).producer({
        ...{ transactionalId: this.#transactionalId, idempotent: true, maxInFlightRequests: 1 },
      });
      // The same id again: the broker aborts what the producer before left open.
      await producer.connect();
      while (await this.#transact(producer)) {
        await delay(PAUSE_MS);
      }
      await producer.disconnect();
    } while (!this.#isStopping);
  }

  /** @returns whether the producer can go on */
  async #transact(producer: Producer): Promise<boolean> {
    this.#nth += 1;
    const isAborted = this.#nth % 3 === 0;
    const value = `${isAborted ? 'aborted' : 'kept'} ${this.#nth}`;
    const transaction = await this.#produced(producer, value);
    if (transaction === null) {
      return false;
    }
    if (isAborted) {
      await transaction.abort();
    } else {
      await transaction.commit();
      this.committed.push(...this.#partitions.map(([topic, partition]) => `${topic}/${partition}/${value}`));
    }
    return !this.#isStopping;
  }

  async #produced(producer: Producer, value: string): Promise<Transaction | null> {
    try {
      const transaction = await producer.transaction();
      // One partition in each request: kafkajs loses what it has for a leader that moves to a broker which has answered.
      for (const [topic, partition] of this.#partitions) {
        await transaction.send({ topic, messages: [{ partition, value: JSON.stringify(value) }] });
      }
      return transaction;
    } catch {
      return null;
    }
  }
}
