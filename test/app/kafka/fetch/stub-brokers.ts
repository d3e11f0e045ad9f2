import { setImmediate as turn } from 'node:timers/promises';
import type { FetchListener } from '../../../../app/kafka/fetch/fetch-collector.ts';
import { type FetchWait, USUAL_WAIT } from '../../../../app/kafka/fetch/fetch-loop.ts';
import { PartitionFetcher } from '../../../../app/kafka/fetch/partition-fetcher.ts';
import { METADATA_KEY, METADATA_WITH_IDS } from '../../../../app/kafka/kafkajs/admin-requests.ts';
import { answerMemory } from '../../../../app/kafka/kafkajs/answer-patches.ts';
import type { Broker, ProtocolRequest } from '../../../../app/kafka/kafkajs/classes.ts';
import type { ClusterMetadata } from '../../../../app/kafka/kafkajs/cluster-requests.ts';
import type { Logger } from '../../../../app/logging/logger.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import type { TopicPartition } from '../../../../app/records/record.ts';
import type { Records } from '../../../../app/records/records.ts';
import type { Clock } from '../../../../app/stream/ports/clock.ts';
import { answerBytes, askedById, type PartitionAnswer, topicId } from './fetch-bytes.ts';
import { recordBatch } from './record-sets.ts';

const ORDERS = 'orders';
/** The first byte of the topic's id. */
const ORDERS_ID = 0xaa;

const FETCH_KEY = 1;
const BY_ID = 13;

/** More than any answer here has, and enough to be used again. */
export const ANSWER_BYTES = 2 ** 20;

/** A request that a broker holds back until the test answers it. */
interface HeldRequest {
  readonly node: number;
  readonly version: number;
  readonly bytes: Buffer;
  resolve(answer: Buffer): Promise<void>;
  reject(error: Error): void;
}

/** Time that passes as fast as the event loop turns, or not at all; pauses are noted. */
export class TurningClock implements Clock {
  readonly pauses: number[] = [];
  /** How many waits are under way. */
  waits = 0;
  isStopped = false;
  #now = 0;

  now(): Date {
    return this.steady();
  }

  steady(): Date {
    return new Date(this.#now);
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    this.pauses.push(ms);
    this.waits += 1;
    do {
      await turn();
    } while (this.isStopped && signal?.aborted !== true);
    this.waits -= 1;
    this.pass(signal?.aborted ? 0 : ms);
  }
}

/** Brokers whose fetches are answered by the test, and what the fetcher made of them. */
export class StubBrokers {
  /** So small that brokers have to share the bytes of their answers. */
  readonly memory = new MemoryBudget(8 * 2 ** 20);
  readonly told: string[] = [];
  /** What fetches have shown of logs. */
  readonly logs: string[] = [];
  /** What was logged of failures: `<level> <broker> <count>: <text>: <reason>`. */
  readonly logged: string[] = [];
  /** All that was handed over. */
  readonly handedOver: Records[] = [];
  readonly clock = new TurningClock();
  readonly fetcher: PartitionFetcher;
  /** The leaders of the partitions of the topic; none is -1. */
  leaders: number[];
  /** The latest version of Fetch that each broker offers. */
  offered = BY_ID;
  /** The latest version of Metadata that each broker offers. */
  offeredMetadata = METADATA_WITH_IDS;
  metadataFails = false;
  isConnectable = true;
  /** Called with what is handed over, in the very call. */
  onFetched: (from: bigint) => void = () => undefined;
  /** What {@link answer} has sent, in the memory of answers. */
  readonly answers: Buffer[] = [];
  readonly #held: HeldRequest[] = [];

  /** @param wait of the fetches. @default that of the settings */
  constructor(leaders: number[], wait = USUAL_WAIT) {
    this.leaders = leaders;
    const { clock } = this;
    const logger = this.#logger();
    this.fetcher = new PartitionFetcher({
      connections: this.#connections(),
      memory: this.memory,
      ...{ clock, wait, logger },
      listener: this.#listener(),
      onPoll: () => undefined,
      onFetchedByName: ({ offered, knowsIds }) =>
        void this.told.push(`by name, of ${offered}, ${knowsIds ? 'with' : 'without'} ids`),
    });
  }

  /** Assigns partitions of the topic, sought to an offset and resumed. */
  async open(offsets: Readonly<Record<number, bigint>>): Promise<void> {
    const targets = Object.keys(offsets).map((partition) => ({ topic: ORDERS, partition: Number(partition) }));
    this.fetcher.assign(targets);
    for (const target of targets) {
      this.seek(target.partition, offsets[target.partition] ?? 0n);
      this.fetcher.resume(target);
    }
    await this.settle();
  }

  seek(partition: number, offset: bigint, topic: number | null = ORDERS_ID, leaderEpoch = -1): void {
    this.fetcher.seek({
      topic: ORDERS,
      partition,
      offset,
      topicId: topic === null ? null : topicId(topic),
      leaderEpoch,
    });
  }

  /** What is asked for by id in the requests under way: `<broker>: <id>/<partition>@<offset>e<epoch> ...`. */
  get asked(): readonly string[] {
    return this.#held.map(({ node, bytes }) => `${node}: ${askedById(bytes).asked.join(' ').replaceAll('170/', '')}`);
  }

  get versions(): readonly number[] {
    return this.#held.map(({ version }) => version);
  }

  get maxBytes(): readonly number[] {
    return this.#held.map(({ bytes }) => askedById(bytes).maxBytes);
  }

  /** Answers the oldest request of a broker. */
  async answer(node: number, partitions: readonly PartitionAnswer[], how: object = {}): Promise<void> {
    const { version, resolve } = this.#take(node);
    const bytes = answerBytes(version, [[version >= BY_ID ? topicId(ORDERS_ID) : ORDERS, partitions]], how);
    const answer = answerMemory.take(ANSWER_BYTES).subarray(0, bytes.length);
    bytes.copy(answer);
    this.answers.push(answer);
    await resolve(answer);
    await this.settle();
  }

  /** Fails the oldest request of a broker. */
  async fail(node: number, error = new Error('connection lost')): Promise<void> {
    this.#take(node).reject(error);
    await this.settle();
  }

  /** Takes what has been told so far. */
  taken(): readonly string[] {
    return this.told.splice(0);
  }

  /** Lets all that can go on go on. */
  async settle(): Promise<void> {
    for (let nth = 0; nth < 30; nth += 1) {
      await turn();
    }
  }

  #take(node: number): HeldRequest {
    const place = this.#held.findIndex((request) => request.node === node);
    const [request] = place < 0 ? [] : this.#held.splice(place, 1);
    if (request === undefined) {
      throw new Error(`nothing is asked of broker ${node}: ${this.asked.join(', ')}`);
    }
    return request;
  }

  #connections(): ConstructorParameters<typeof PartitionFetcher>[0]['connections'] {
    return {
      to: async (node) => {
        if (!this.isConnectable) {
          throw new Error('no connection');
        }
        return this.#broker(node);
      },
      drop: (node) => void this.told.push(`dropped ${node}`),
      metadata: async (topics, slow) => {
        this.told.push(`metadata of ${topics} ${slow.size > 0 ? `slow: ${[...slow]}` : ''}`.trim());
        if (this.metadataFails) {
          throw new Error('no metadata');
        }
        return this.#metadata(topics);
      },
      close: () => void this.told.push('closed'),
    };
  }

  #metadata(topics: readonly string[]): ClusterMetadata {
    const partitionMetadata = this.leaders.map((leader, partitionId) => ({ partitionId, leader }));
    return { clusterId: 'stub', brokers: [], topicMetadata: topics.map((topic) => ({ topic, partitionMetadata })) };
  }

  #logger(): Logger {
    const log =
      (level: string) =>
      ({ broker, count, reason }: Record<string, unknown>, text: string): void =>
        void this.logged.push(`${level} ${broker} ${count}: ${text}: ${reason}`);
    return { debug: log('debug'), warn: log('warn') } as unknown as Logger;
  }

  #broker(node: number): Broker {
    const send = async (sent: ProtocolRequest<unknown>) => {
      const { buffer } = (await sent.request.encode()) as { readonly buffer: Buffer };
      const answer = await new Promise<Buffer>((resolve, reject) => {
        const { apiVersion: version } = sent.request;
        this.#held.push({ node, version, bytes: Buffer.from(buffer), resolve: async (of) => resolve(of), reject });
      });
      return sent.response.decode(answer);
    };
    const versions = {
      [FETCH_KEY]: { maxVersion: this.offered },
      [METADATA_KEY]: { maxVersion: this.offeredMetadata },
    };
    return { versions, connectionPool: { pool: [], send } } as unknown as Broker;
  }

  #listener(): FetchListener {
    const at = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`.replace(`${ORDERS}/`, '');
    const tell = (text: string): void => void this.told.push(text);
    return {
      onFetched: ({ fetchedOffset, nextOffset, leaderEpoch, records, ...target }) => {
        this.handedOver.push(records);
        const offsets = Array.from(records, ({ offset }) => offset).join();
        tell(`${at(target)}: ${fetchedOffset} to ${nextOffset} epoch ${leaderEpoch} [${offsets}]`);
        this.onFetched(fetchedOffset);
      },
      onLog: ({ start, end, ...target }) => void this.logs.push(`${at(target)} from ${start} to ${end}`),
      onLogEnds: ({ highWatermark, lastStableOffset, ...target }) =>
        tell(`${at(target)} ends at ${lastStableOffset} and ${highWatermark}`),
      onReadable: (target) => tell(`${at(target)} is readable`),
      onRead: (target) => tell(`${at(target)} is read`),
      onOutOfRange: (target) => tell(`${at(target)} is out of range`),
      onUnreadable: ({ offset, code, ...target }) => tell(`${at(target)}: ${code} at ${offset}`),
      onTruncated: ({ endOffset, leaderEpoch, readTo, ...target }) =>
        tell(`${at(target)} was read to ${readTo}, and parted at ${endOffset} of epoch ${leaderEpoch}`),
    };
  }
}

/** Brokers of a topic whose partitions have these leaders; those partitions that are named are sought and resumed. */
export async function openBrokers(
  leaders: number[],
  offsets: Readonly<Record<number, bigint>>,
  wait?: FetchWait,
): Promise<StubBrokers> {
  const brokers = new StubBrokers(leaders, wait);
  await brokers.open(offsets);
  brokers.taken();
  return brokers;
}

/** An answer with a batch of three records. */
export const batch = (partition: number, from: number) => ({
  partition,
  set: recordBatch(from, 3),
  highWatermark: from + 3,
});

/** Of what was reported, what was fetched. */
export const fetched = (told: readonly string[]) => told.filter((line) => line.includes(' to '));
