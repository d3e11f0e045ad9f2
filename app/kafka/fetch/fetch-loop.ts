import { milliseconds } from '../../../settings/schema/duration.ts';
import { MOST_LINGER } from '../../../settings/sections/kafka.ts';
import type { MemoryBudget } from '../../memory/memory-budget.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { FETCH_REQUEST } from '../client/client-listener.ts';
import { METADATA_KEY, METADATA_WITH_IDS } from '../kafkajs/admin-requests.ts';
import { answerMemory } from '../kafkajs/answer-patches.ts';
import type { Broker } from '../kafkajs/classes.ts';
import type { BrokerConnections } from './broker-connections.ts';
import { FetchAnswer } from './fetch-answer.ts';
import type { FetchCollector, SentFetch } from './fetch-collector.ts';
import { FETCH_BY_ID, FETCH_KEY, type FetchBounds, FetchEncoder, fetchVersion } from './fetch-request.ts';
import type { FetchedPartition } from './fetched-partition.ts';
import { brokerBackoffMs } from './partition-leaders.ts';

/**
 * What a broker gathers before it answers, and how long. What is resumed meanwhile is asked for by the next request.
 */
export interface FetchWait extends Pick<FetchBounds, 'minBytes' | 'maxWaitMs'> {
  /**
   * A request that brought the last records of all logs is followed by the next one so long after it began, and later
   * where the records were of many topics.
   */
  readonly lingerMs: number;
}

/**
 * Each further topic of an answer adds this share of the linger. It has a table, and each transaction with that table
 * costs a statement. So answers have at most 40 topics for each linger, until the longest one is reached.
 */
const LINGER_OF_TOPIC = 1 / 40;
const MOST_LINGER_MS = milliseconds(MOST_LINGER);

/** A broker answers as soon as it has a record, as Kafka has it. Records of a steady load gather between requests. */
export const USUAL_WAIT: FetchWait = { minBytes: 1, maxWaitMs: 1_000, lingerMs: 100 };

/** A broker that has not answered for this time beyond its wait may be away. */
const OVERDUE_MS = 1_500;

/** A broker was asked for topics by their names, since it does not offer fetches by id. */
export interface FetchByName {
  /** The latest version of Fetch that it offers. */
  readonly offered: number;
  /** Whether its metadata have the ids of topics. */
  readonly knowsIds: boolean;
}

/** The parts that all loops work with. */
export interface FetchPorts {
  readonly connections: Pick<BrokerConnections, 'to' | 'drop'>;
  readonly collector: Pick<FetchCollector, 'collect'>;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly wait: FetchWait;
  /** How many brokers are asked. */
  readonly brokers: () => number;
  readonly onPoll: () => void;
  readonly onFetchedByName: (fetch: FetchByName) => void;
  /** A request failed, and is sent again after a pause. */
  readonly onFailed: (nodeId: number, error: unknown) => void;
}

/**
 * Fetches the partitions that one broker leads: one request after the other, each for all that are wanted then. Where
 * none is, or the memory has no room, it waits until it is woken. Each broker has a loop, so one that does not answer
 * holds up its own partitions alone.
 */
export class FetchLoop {
  readonly nodeId: number;
  readonly #ports: FetchPorts;
  readonly #encoder = new FetchEncoder();
  readonly #ending = new AbortController();
  readonly #forgetRoom: () => void;
  #partitions: readonly FetchedPartition[] = [];
  #turn = 0;
  #failures = 0;
  #askedAt = Number.POSITIVE_INFINITY;
  #wake: () => void = () => undefined;
  /** Whether something changed since the last request was made: it may be behind, whatever was last seen of it. */
  #isWoken = false;

  constructor(nodeId: number, ports: FetchPorts) {
    this.nodeId = nodeId;
    this.#ports = ports;
    this.#forgetRoom = ports.memory.onRoom(() => this.wake());
    void this.#run();
  }

  /** Whether the broker leads partitions. */
  get isNeeded(): boolean {
    return this.#partitions.length > 0;
  }

  /** @param partitions those that the broker leads, those of a topic in a row */
  lead(partitions: readonly FetchedPartition[]): void {
    this.#partitions = partitions;
    this.wake();
  }

  /** Something may be wanted now. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Whether the broker is overdue with an answer. */
  isSilent(now: number): boolean {
    return now - this.#askedAt > this.#ports.wait.maxWaitMs + OVERDUE_MS;
  }

  /** Asks for nothing any more; an answer under way is dropped. */
  stop(): void {
    this.#ending.abort();
    this.#forgetRoom();
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      if (this.#wanted().length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else {
        const beganAt = this.#now();
        const topics = await this.#fetch();
        if (topics > 0) {
          await this.#linger(beganAt, topics);
        }
      }
    }
  }

  /** A record that comes to a log at rest finds a request that waits for it, and lingers for nothing. */
  async #linger(beganAt: number, topics: number): Promise<void> {
    const { clock, wait } = this.#ports;
    const lingerMs = wait.lingerMs * (1 + LINGER_OF_TOPIC * (topics - 1));
    const left = beganAt + Math.min(lingerMs, MOST_LINGER_MS) - this.#now();
    const wanted = this.#ending.signal.aborted ? [] : this.#wanted();
    if (left > 0 && wanted.length > 0 && !this.#isWoken && !wanted.some(({ isBehind }) => isBehind)) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await clock.wait(left, woken.signal);
    }
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }

  #wanted(): readonly FetchedPartition[] {
    return this.#ports.memory.hasRoom
      ? this.#partitions.filter(({ isWanted, leader }) => isWanted && leader === this.nodeId)
      : [];
  }

  /** @returns of how many topics it brought records */
  async #fetch(): Promise<number> {
    const { connections, collector, onFailed, clock } = this.#ports;
    const { signal } = this.#ending;
    let topics = 0;
    try {
      this.#askedAt = performance.now();
      const broker = await connections.to(this.nodeId);
      const sent = this.#next(broker);
      if (sent !== null && !signal.aborted) {
        const answer = await this.#send(broker, sent);
        this.#askedAt = Number.POSITIVE_INFINITY;
        if (!signal.aborted) {
          topics = await collector.collect(sent, answer);
          answerMemory.giveBack(answer.bytes);
        }
      }
      this.#failures = 0;
    } catch (error) {
      if (!signal.aborted) {
        connections.drop(this.nodeId);
        onFailed(this.nodeId, error);
        await clock.wait(brokerBackoffMs(this.#failures), signal);
        this.#failures += 1;
      }
    } finally {
      this.#askedAt = Number.POSITIVE_INFINITY;
    }
    return topics;
  }

  /** The next request: each partition is the first one in its turn, since brokers fill an answer from its front. */
  #next({ versions }: Broker): (SentFetch & { readonly version: number }) | null {
    const latest = (key: number): number => versions?.[key]?.maxVersion ?? 0;
    const offered = latest(FETCH_KEY);
    const wanted = this.#wanted();
    this.#isWoken = false;
    this.#turn += 1;
    if (offered < FETCH_BY_ID && wanted.length > 0) {
      this.#ports.onFetchedByName({ offered, knowsIds: latest(METADATA_KEY) >= METADATA_WITH_IDS });
    }
    const partitions = offered < FETCH_BY_ID ? wanted : ofOneKind(wanted, this.#turn);
    const [first] = partitions;
    if (first === undefined) {
      return null;
    }
    return {
      version: fetchVersion(offered, first.id !== null),
      partitions: startingAt(partitions, partitions === wanted ? this.#turn : this.#turn >> 1),
    };
  }

  #send(broker: Broker, sent: SentFetch & { readonly version: number }): Promise<FetchAnswer> {
    const { memory, wait, brokers, onPoll } = this.#ports;
    const { partitions, version } = sent;
    for (const partition of partitions) {
      partition.request = sent;
    }
    const { minBytes, maxWaitMs } = wait;
    const bounds = { minBytes, maxWaitMs, ...memory.fetchBytes(brokers()) };
    const bytes = this.#encoder.encode(version, partitions, bounds);
    onPoll();
    return broker.connectionPool.send({
      request: {
        apiKey: FETCH_KEY,
        apiVersion: version,
        apiName: FETCH_REQUEST,
        // What kafkajs takes of its encoder.
        encode: async () => ({ buf: bytes, buffer: bytes }),
      },
      response: { decode: async (answer) => new FetchAnswer(answer, version), parse: async (answer) => answer },
    });
  }
}

/** Partitions whose topic id is not known can be asked for by name alone, and take turns with the others. */
function ofOneKind(partitions: readonly FetchedPartition[], turn: number): readonly FetchedPartition[] {
  const named = partitions.filter(({ id }) => id === null);
  if (named.length === 0 || named.length === partitions.length) {
    return partitions;
  }
  return turn % 2 === 0 ? named : partitions.filter(({ id }) => id !== null);
}

/** The same partitions, those of a topic in a row, from another one on. */
function startingAt(partitions: readonly FetchedPartition[], turn: number): readonly FetchedPartition[] {
  const start = turn % partitions.length;
  const topic = partitions[start]?.topic;
  let [from, to] = [start, start];
  while (from > 0 && partitions[from - 1]?.topic === topic) {
    from -= 1;
  }
  while (to < partitions.length && partitions[to]?.topic === topic) {
    to += 1;
  }
  return start === 0
    ? partitions
    : [
        ...partitions.slice(start, to),
        ...partitions.slice(from, start),
        ...partitions.slice(to),
        ...partitions.slice(0, from),
      ];
}
