import type { Logger } from '../../logging/logger.ts';
import { RepeatedFailures } from '../../logging/outage-log.ts';
import { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import type { MemoryBudget } from '../../memory/memory-budget.ts';
import { partitionKey, type TopicPartition } from '../../records/record.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { Position } from '../../stream/ports/record-source.ts';
import { isOutage, messageOf } from '../client/kafka-errors.ts';
import type { BrokerConnections } from './broker-connections.ts';
import { FetchCollector, type FetchListener } from './fetch-collector.ts';
import { type FetchByName, FetchLoop, type FetchPorts, type FetchWait, USUAL_WAIT } from './fetch-loop.ts';
import { FetchedPartition, FetchedTopic, NO_LEADER } from './fetched-partition.ts';
import { PartitionLeaders } from './partition-leaders.ts';
import { RecordSetReader } from './record-set.ts';

/** How often it is looked whether a broker is overdue with an answer. */
const SILENCE_POLL_MS = 1_000;

interface FetcherPorts {
  readonly connections: Pick<BrokerConnections, 'to' | 'drop' | 'metadata' | 'close'>;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  /** @default a broker answers as soon as it has a record, and after a second without one */
  readonly wait?: FetchWait;
  readonly logger: Logger;
  readonly listener: FetchListener;
  /** A request goes out. */
  readonly onPoll: () => void;
  readonly onFetchedByName: (fetch: FetchByName) => void;
}

/**
 * Fetches the assigned partitions from the brokers that lead them.
 *
 * Why nothing comes of a partition that is not assigned any more, or after the end: its request is cleared when it
 * goes, so an answer under way finds it without one ({@link FetchedPartition}), and when it comes back it is made anew.
 * The end clears them as well, before the group is left.
 *
 * Why nothing of a partition that stays assigned is lost or fetched twice: it stays the same object, with the position
 * and the request of before, whose answer counts as if nothing else had come or gone.
 */
export class PartitionFetcher {
  readonly #ports: FetcherPorts;
  readonly #loopPorts: FetchPorts;
  readonly #leaders: PartitionLeaders;
  readonly #loops = new Map<number, FetchLoop>();
  readonly #failures = new Map<number, RepeatedFailures>();
  readonly #topics = new Map<string, FetchedTopic>();
  readonly #watch: NodeJS.Timeout;
  #partitions: ReadonlyMap<string, FetchedPartition> = new Map();
  #isStopped = false;

  constructor(ports: FetcherPorts) {
    this.#ports = ports;
    const { connections, memory, clock, wait = USUAL_WAIT, listener } = ports;
    const turns = new EventLoopTurns();
    const collector = new FetchCollector(new RecordSetReader(memory, turns), turns, this.#listener(listener));
    this.#leaders = new PartitionLeaders(connections, clock, {
      topics: () => [...new Set(Array.from(this.#partitions.values(), ({ topic }) => topic))],
      silent: () => this.#silent(),
      onFound: () => this.#lead(),
      onFailed: (error) => this.#failed(NO_LEADER, error),
    });
    this.#loopPorts = {
      ...{ connections, collector, memory, clock, wait },
      brokers: () => [...this.#loops.values()].filter(({ isNeeded }) => isNeeded).length,
      onPoll: ports.onPoll,
      onFetchedByName: ports.onFetchedByName,
      onFailed: (nodeId, error) => {
        this.#failed(nodeId, error);
        this.#leaders.look();
      },
    };
    this.#watch = setInterval(() => this.#silent().size > 0 && this.#leaders.look(), SILENCE_POLL_MS);
    this.#watch.unref();
  }

  get assigned(): ReadonlyMap<string, TopicPartition> {
    return this.#partitions;
  }

  /**
   * These are assigned now and no others. What is new is fetched from when it was sought and resumed; the others go on.
   */
  assign(partitions: readonly TopicPartition[]): void {
    const before = this.#partitions;
    const byTopic = partitions.toSorted((one, other) =>
      one.topic < other.topic ? -1 : Number(one.topic > other.topic),
    );
    this.#partitions = new Map(
      byTopic.map((target) => {
        const key = partitionKey(target);
        return [key, before.get(key) ?? new FetchedPartition(target, this.#namesOf(target.topic))];
      }),
    );
    for (const [key, partition] of before) {
      if (!this.#partitions.has(key)) {
        partition.pause();
      }
    }
    if (this.#lead()) {
      this.#leaders.look();
    }
  }

  seek({ offset, ...target }: Position): void {
    this.#change(target, (partition) => partition.seek(offset, target));
  }

  pause(target: TopicPartition): void {
    this.#partitions.get(partitionKey(target))?.pause();
  }

  resume(target: TopicPartition): void {
    this.#change(target, (partition) => partition.resume());
  }

  /** Ends all fetches: nothing is handed over any more from here on. Closes the connections. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#watch);
    this.assign([]);
    for (const loop of this.#loops.values()) {
      loop.stop();
    }
    this.#leaders.stop();
    this.#ports.connections.close();
  }

  #change(target: TopicPartition, change: (partition: FetchedPartition) => void): void {
    const partition = this.#partitions.get(partitionKey(target));
    if (partition !== undefined) {
      change(partition);
      this.#loops.get(partition.leader)?.wake();
    }
  }

  #listener(listener: FetchListener): ConstructorParameters<typeof FetchCollector>[2] {
    return {
      onFetched: (fetched) => listener.onFetched(fetched),
      onLogEnds: (ends) => listener.onLogEnds(ends),
      onLog: (log) => listener.onLog(log),
      onReadable: (partition) => listener.onReadable(partition),
      onRead: (partition) => listener.onRead(partition),
      onOutOfRange: (partition) => listener.onOutOfRange(partition),
      onUnreadable: (batch) => listener.onUnreadable(batch),
      onTruncated: (log) => listener.onTruncated(log),
      onLeaderLost: () => this.#leaders.look(),
      onRefused: (target, { message }) => this.#failed(NO_LEADER, new Error(`${partitionKey(target)}: ${message}`)),
    };
  }

  /** Gives each partition to the loop of its leader. @returns whether one has none */
  #lead(): boolean {
    const byLeader = new Map<number, FetchedPartition[]>();
    for (const partition of this.#partitions.values()) {
      partition.leader = this.#leaders.of(partition);
      const others = byLeader.get(partition.leader);
      others === undefined ? byLeader.set(partition.leader, [partition]) : others.push(partition);
    }
    const isMissing = byLeader.delete(NO_LEADER);
    for (const nodeId of this.#isStopped ? [] : byLeader.keys()) {
      this.#loops.set(nodeId, this.#loops.get(nodeId) ?? new FetchLoop(nodeId, this.#loopPorts));
    }
    for (const [nodeId, loop] of this.#loops) {
      loop.lead(byLeader.get(nodeId) ?? []);
    }
    return isMissing;
  }

  /** The brokers that are overdue with an answer. */
  #silent(): ReadonlySet<number> {
    const now = performance.now();
    return new Set([...this.#loops.values()].filter((loop) => loop.isSilent(now)).map(({ nodeId }) => nodeId));
  }

  /** kafkajs logs connections that fail; what is no outage is logged here, each reason once in a while. */
  #failed(nodeId: number, error: unknown): void {
    const failures = this.#failures.get(nodeId) ?? new RepeatedFailures();
    this.#failures.set(nodeId, failures);
    const reason = messageOf(error);
    const count = isOutage(error) ? undefined : failures.failed(reason);
    const about = nodeId === NO_LEADER ? 'a partition cannot be fetched' : 'fetches from a broker fail';
    this.#ports.logger[count === undefined ? 'debug' : 'warn'](
      { broker: nodeId, reason, count },
      `${about}, trying again`,
    );
  }

  #namesOf(topic: string): FetchedTopic {
    const names = this.#topics.get(topic) ?? new FetchedTopic(topic);
    this.#topics.set(topic, names);
    return names;
  }
}
