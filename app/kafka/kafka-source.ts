import type { Consumer, Kafka } from 'kafkajs';
import { milliseconds } from '../../settings/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logger.ts';
import type { TopicPartition } from '../records/record.ts';
import type { Clock } from '../stream/clock.ts';
import type { MemoryBudget } from '../stream/memory-budget.ts';
import type { WritePlace } from '../stream/record-sink.ts';
import type { PartitionLog, Position, RecordSource, RecordSourceListener } from '../stream/record-source.ts';
import { logTruncated } from '../stream/topic-ids.ts';
import { stoppedForGood } from './authorization.ts';
import { type ClientListener, isOutage, watchClient } from './client-listener.ts';
import type { FetchListener } from './fetch/answer-taker.ts';
import { BrokerConnections, clusterApart } from './fetch/broker-connections.ts';
import { PartitionFetcher } from './fetch/partition-fetcher.ts';
import { type ClaimingMember, GroupClaim, notClaimed } from './group-claim.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import type { TopicsConsumer } from './kafkajs/topic-patches.ts';
import { RestartPace } from './restart-pace.ts';
import { SourceLog } from './source-log.ts';
import { type SubscriptionParts, subscribe } from './subscription.ts';

/** How often kafkajs's member looks whether it has to send a heartbeat. A rebalance or a stop waits for it. */
const LOOK_MS = 500;

/** Topics that are deleted, created (again) or given partitions are noticed after this time at the latest. */
const METADATA_MAX_AGE_MS = 5_000;

/** The parts that the source works with. */
export interface KafkaSourcePorts {
  readonly admin: KafkaAdmin;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memory: MemoryBudget;
  /** Gets the client's events. */
  readonly watcher: ClientListener;
  readonly outages: Parameters<typeof watchClient>[2];
  readonly storedPositions: SubscriptionParts['storedPositions'];
  /** Where the records go. */
  readonly place: () => Promise<WritePlace>;
}

/**
 * Records of the group's partitions: kafkajs's consumer joins the group and stays in it, and fetches nothing. What it is
 * assigned is fetched by {@link PartitionFetcher}, over connections of its own.
 *
 * Each assignment begins with partitions that are neither sought nor resumed, so nothing is fetched until the pipeline has
 * sought to PostgreSQL's position. While the group is joined nothing is asked for: whoever gets a partition then finds
 * nobody who still reads it. Fetches end before the group is left.
 */
export class KafkaSource implements RecordSource {
  readonly #consumer: Consumer;
  readonly #settings: Settings['kafka'];
  readonly #admin: KafkaAdmin;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #log: SourceLog;
  readonly #watcher: ClientListener;
  readonly #subscription: SubscriptionParts;
  readonly #restarts: RestartPace;
  readonly #stopping = new AbortController();
  readonly #claim: GroupClaim;
  readonly #fetcher: PartitionFetcher;
  #listener: RecordSourceListener | null = null;
  #isLeader = false;
  #unknownTopics: readonly string[] = [];

  constructor(settings: Settings['kafka'], kafka: Kafka, ports: KafkaSourcePorts) {
    const { admin, clock, logger, memory, watcher, outages, storedPositions, place } = ports;
    this.#watcher = watcher;
    this.#restarts = new RestartPace(clock);
    this.#settings = settings;
    this.#admin = admin;
    this.#clock = clock;
    this.#logger = logger;
    this.#log = new SourceLog(logger);
    const { groupId } = settings;
    const sessionTimeout = milliseconds(settings.sessionTimeout);
    this.#claim = new GroupClaim({ groupId, sessionTimeoutMs: sessionTimeout, admin, clock, logger, place });
    const connections = new BrokerConnections(clusterApart(kafka, watcher), clock);
    this.#fetcher = new PartitionFetcher({
      ...{ connections, memory, clock, logger, listener: this.#fetched() },
      onPoll: () => watcher.onPoll(),
      onFetchedByName: (fetch) => this.#log.fetchedByName(fetch),
    });
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval: Math.max(500, Math.floor(sessionTimeout / 5)),
      rebalanceTimeout: 60_000,
      maxWaitTimeInMs: LOOK_MS,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: {
        restartOnFailure: async () => {
          await this.#restarts.afterCrash(this.#stopping.signal);
          return !this.#stopping.signal.aborted;
        },
      },
    });
    this.#subscription = { consumer: this.#consumer, admin, claim: this.#claim, storedPositions };
    watchClient(this.#consumer, watcher, outages);
  }

  async start(listener: RecordSourceListener): Promise<void> {
    this.#listener = listener;
    this.#listen(listener);
    const { brokers, topics } = this.#settings;
    const { signal } = this.#stopping;
    const patience = { clock: this.#clock, logger: this.#logger, brokers, signal, listener };
    await subscribe([...topics], this.#subscription, patience);
    if (!this.#stopping.signal.aborted) {
      await this.#consumer.run({ autoCommit: false, eachBatch: async () => undefined });
    }
  }

  seek(position: Position): void {
    this.#fetcher.seek(position);
  }

  pause(target: TopicPartition): void {
    this.#fetcher.pause(target);
  }

  resume(target: TopicPartition): void {
    this.#fetcher.resume(target);
  }

  logRanges(topic: string): Promise<PartitionLog[]> {
    return this.#log.logEnds(topic, this.#admin.logRanges(topic));
  }

  readonly topicIds: RecordSource['topicIds'] = (topics) => this.#admin.topicIds(topics);

  readonly knowsEpoch: RecordSource['knowsEpoch'] = (position) => this.#admin.knowsEpoch(position);

  committedOffsets(topic: string): Promise<Position[]> {
    return this.#admin.committedOffsets(this.#settings.groupId, topic);
  }

  claim(signal: AbortSignal): Promise<void> {
    const topics = this.#settings.topics.filter((topic) => !this.#unknownTopics.includes(topic));
    const assigned = [...this.#fetcher.assigned.values()];
    if (assigned.length + topics.length === 0) {
      // Without a topic there is nothing to write, and no offset that a claim could be committed with.
      return Promise.resolve();
    }
    const commit: ClaimingMember['commit'] = (position, metadata) =>
      this.#commit([position], metadata).catch((error: unknown) => {
        throw notClaimed(error, { groupId: this.#settings.groupId, topics: [position.topic] });
      });
    return this.#claim.hold({ isLeader: this.#isLeader, assigned, topics, commit }, signal);
  }

  async commitHint(positions: readonly Position[]): Promise<void> {
    await this.#commit(positions, this.#claim.metadata);
  }

  async #commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    await this.#consumer.commitOffsets(
      positions.map((position) => ({ ...position, offset: position.offset.toString(), metadata })),
    );
  }

  /** kafkajs's member leaves, and nobody owns its partitions until the others have joined again. */
  async handOver(): Promise<boolean> {
    return false;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#fetcher.stop();
    await this.#consumer.disconnect().catch((error: unknown) => {
      this.#logger.warn({ reason: String(error) }, 'the Kafka consumer did not close in order');
    });
    await this.#admin.disconnect();
  }

  #listen(listener: RecordSourceListener): void {
    const { GROUP_JOIN, REBALANCING, HEARTBEAT, CRASH } = this.#consumer.events;
    this.#consumer.on(HEARTBEAT, () => listener.onHeartbeat());
    this.#consumer.on(REBALANCING, () => this.#fetcher.hold());
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#isLeader = payload.isLeader;
      this.#assign(payload.memberAssignment, listener);
    });
    this.#consumer.on(CRASH, ({ payload: { error, restart } }) => {
      this.#own([], listener);
      if (restart) {
        this.#logger[isOutage(error) ? 'debug' : 'warn']({ reason: error.message }, 'the Kafka client starts again');
        listener.onWaiting(`the Kafka client starts again: ${error.message}`);
      } else if (!this.#stopping.signal.aborted) {
        listener.onFatal(stoppedForGood(error, this.#settings));
      }
    });
    // topic-patches.ts adds what kafkajs's own types do not have.
    (this.#consumer as Consumer & TopicsConsumer).onTopics(({ unknown, partitions }) => {
      this.#unknownTopics = unknown.toSorted();
      this.#log.unknownTopics(this.#unknownTopics);
      listener.onTopics(this.#unknownTopics, partitions);
    });
  }

  /** What the fetches bring. */
  #fetched(): FetchListener {
    return {
      onFetched: (fetched) => {
        const { topic, records } = fetched;
        this.#listener?.onFetched(fetched);
        this.#watcher.onDelivered({ topic, records: records.length, bytes: records.contentBytes });
      },
      onLogEnds: (ends) => this.#watcher.onLogEnds(ends),
      onReadable: (partition) => this.#log.wasForbidden(partition) && this.#listener?.onReadable(partition),
      onRead: (partition) => this.#log.wasRead(partition),
      onOutOfRange: (partition) => this.#listener?.onOutOfRange(partition),
      onUnreadable: (batch) => {
        this.#log.unreadable(batch);
        this.#listener?.onUnreadable(batch);
      },
      onTruncated: (log) => this.#listener?.onFatal(logTruncated(log)),
    };
  }

  #assign(memberAssignment: Readonly<Record<string, number[]>>, listener: RecordSourceListener): void {
    const partitions = Object.entries(memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    this.#own(partitions, listener);
    this.#logger.info({ partitions: memberAssignment }, 'assigned');
    listener.onAssigned({ added: partitions, owned: partitions });
  }

  /** Whatever was owned before is revoked, and may be added again. */
  #own(partitions: readonly TopicPartition[], listener: RecordSourceListener): void {
    const before = [...this.#fetcher.assigned.values()];
    this.#fetcher.assign(partitions);
    void listener.onRevoked(before);
    this.#log.assigned(this.#fetcher.assigned);
  }
}
