import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { milliseconds } from '../../settings/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logger.ts';
import { partitionKey, type TopicPartition } from '../records/record.ts';
import { Records } from '../records/records.ts';
import type { Clock } from '../stream/clock.ts';
import type { WritePlace } from '../stream/record-sink.ts';
import type { PartitionLog, Position, RecordSource, RecordSourceListener } from '../stream/record-source.ts';
import { logTruncated } from '../stream/topic-ids.ts';
import { stoppedForGood } from './authorization.ts';
import { type ClientListener, isOutage, watchClient } from './client-listener.ts';
import { EventLoopTurns } from './fetch/event-loop-turns.ts';
import type { ReadBatch } from './fetch/record-set.ts';
import { type ClaimingMember, GroupClaim, notClaimed } from './group-claim.ts';
import { listenToGroup } from './group-events.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import { kafkajsEvents, type SkippedRange } from './kafkajs-consumer-patches.ts';
import { fetchOriginsOf, lastEpochOf } from './kafkajs-topic-id-patches.ts';
import { RestartPace } from './restart-pace.ts';
import { SourceLog } from './source-log.ts';
import { type SubscriptionParts, subscribe } from './subscription.ts';

/** kafkajs's batch as it is at run time, with our record decoder: the messages are batches. */
type FetchedBatch = Omit<EachBatchPayload['batch'], 'messages'> & {
  readonly fetchedOffset: string;
  /** The decoded record set, the very array. */
  readonly rawMessages: readonly unknown[];
  readonly messages: readonly ReadBatch[];
};

/**
 * The duration of an empty long poll. A rebalance or a stop waits for it: kafkajs's fetchers look at neither before.
 */
const MAX_WAIT_MS = 500;

/**
 * Batch handlers only hand over, so all batches of a fetch are taken at once; none waits for the heartbeat of another.
 */
const CONCURRENCY = 64;

/** Topics that are deleted, created (again) or given partitions are noticed after this time at the latest. */
const METADATA_MAX_AGE_MS = 5_000;

/** The parts that the source works with. */
export interface KafkaSourcePorts {
  readonly admin: KafkaAdmin;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gets the client's events. */
  readonly watcher: ClientListener;
  readonly outages: Parameters<typeof watchClient>[2];
  readonly storedPositions: SubscriptionParts['storedPositions'];
  /** Where the records go. */
  readonly place: () => Promise<WritePlace>;
}

/**
 * The only place that knows kafkajs's consumer.
 *
 * kafkajs forgets every position in a rebalance and then fetches from Kafka's committed offsets. GROUP_JOIN's listener
 * runs before the first fetch of the new assignment, so pausing all partitions in its synchronous part means that
 * nothing is fetched until the pipeline has sought to PostgreSQL's position. A batch that still arrives from an earlier
 * fetch is refused by the pipeline, which compares its fetchedOffset with the partition's nextOffset.
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
  readonly #turns = new EventLoopTurns();
  readonly #claim: GroupClaim;
  readonly #origins;
  #isLeader = false;
  #unknownTopics: readonly string[] = [];
  #assigned = new Map<string, TopicPartition>();

  constructor(settings: Settings['kafka'], kafka: Kafka, ports: KafkaSourcePorts) {
    const { admin, clock, logger, watcher, outages, storedPositions, place } = ports;
    this.#watcher = watcher;
    this.#restarts = new RestartPace(clock);
    this.#settings = settings;
    this.#admin = admin;
    this.#clock = clock;
    this.#logger = logger;
    this.#log = new SourceLog(logger);
    const { groupId } = settings;
    const sessionTimeout = milliseconds(settings.sessionTimeout);
    this.#origins = fetchOriginsOf(groupId);
    this.#claim = new GroupClaim({ groupId, sessionTimeoutMs: sessionTimeout, admin, clock, logger, place });
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval: Math.max(500, Math.floor(sessionTimeout / 5)),
      rebalanceTimeout: 60_000,
      maxWaitTimeInMs: MAX_WAIT_MS,
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
    this.#listen(listener);
    const { brokers, topics } = this.#settings;
    const { signal } = this.#stopping;
    const patience = { clock: this.#clock, logger: this.#logger, brokers, signal, listener };
    await subscribe([...topics], this.#subscription, patience);
    if (this.#stopping.signal.aborted) {
      return;
    }
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENCY,
      eachBatch: async (payload) => {
        this.#handOver(payload, listener);
        await this.#turns.afterTurn();
      },
    });
  }

  seek({ topic, partition, offset, ...origin }: Position): void {
    this.#whileAssigned({ topic, partition }, () => {
      this.#origins.set({ topic, partition }, origin);
      this.#consumer.seek({ topic, partition, offset: offset.toString() });
    });
  }

  pause(target: TopicPartition): void {
    this.#whileAssigned(target, ({ topic, partition }) => this.#consumer.pause([{ topic, partitions: [partition] }]));
  }

  resume(target: TopicPartition): void {
    this.#whileAssigned(target, ({ topic, partition }) => this.#consumer.resume([{ topic, partitions: [partition] }]));
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
    const assigned = [...this.#assigned.values()];
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

  async stop(): Promise<void> {
    this.#stopping.abort();
    kafkajsEvents.removeAllListeners();
    await this.#consumer.disconnect().catch((error: unknown) => {
      this.#logger.warn({ reason: String(error) }, 'the Kafka consumer did not close in order');
    });
    await this.#admin.disconnect();
  }

  #listen(listener: RecordSourceListener): void {
    const { GROUP_JOIN, HEARTBEAT, CRASH } = this.#consumer.events;
    this.#consumer.on(HEARTBEAT, () => listener.onHeartbeat());
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#isLeader = payload.isLeader;
      this.#assign(payload.memberAssignment, listener);
    });
    this.#consumer.on(CRASH, ({ payload: { error, restart } }) => {
      this.#assigned.clear();
      if (restart) {
        this.#logger[isOutage(error) ? 'debug' : 'warn']({ reason: error.message }, 'the Kafka client starts again');
        listener.onWaiting(`the Kafka client starts again: ${error.message}`);
      } else if (!this.#stopping.signal.aborted) {
        listener.onFatal(stoppedForGood(error, this.#settings));
      }
    });
    listenToGroup(this.#settings.groupId, {
      onOutOfRange: (target) => {
        this.pause(target);
        listener.onOutOfRange(target);
      },
      onTopics: (unknown, partitions) => {
        this.#unknownTopics = unknown;
        this.#log.unknownTopics(unknown);
        listener.onTopics(unknown, partitions);
      },
      onSkipped: (range) => this.#skip(range, listener),
      onUnreadable: (batch) => {
        if (this.#assigned.has(partitionKey(batch))) {
          // Nothing of the batch is handed over, so its records stay ahead of the stored offset.
          this.pause(batch);
          this.#log.unreadable(batch);
          listener.onUnreadable(batch);
        }
      },
      onAnswered: ({ groupId: _, ...answer }) => {
        this.#watcher.onLogEnds(answer);
        if (this.#log.wasForbidden(answer)) {
          listener.onReadable(answer);
        }
      },
      onTruncated: (log) => this.#assigned.has(partitionKey(log)) && listener.onFatal(logTruncated(log)),
      onFetchedByName: (fetch) => this.#log.fetchedByName(fetch),
    });
  }

  /** A range without records is a batch without records: the stored offset has to move over it, too. */
  #skip(range: SkippedRange, listener: RecordSourceListener): void {
    const { topic, partition, fetchedOffset, lastOffset, rawMessages } = range;
    if (this.#isWanted({ topic, partition }, rawMessages)) {
      const offsets = { fetchedOffset: BigInt(fetchedOffset), nextOffset: BigInt(lastOffset) + 1n };
      listener.onFetched({
        topic,
        partition,
        records: Records.NONE,
        ...offsets,
        leaderEpoch: lastEpochOf(rawMessages),
      });
    }
  }

  /** Whether a batch is of an assigned partition, and of the topic id that is fetched. The next fetch follows it. */
  #isWanted(target: TopicPartition, rawMessages: readonly unknown[]): boolean {
    const isWanted = this.#assigned.has(partitionKey(target)) && this.#origins.isFetched(target, rawMessages);
    if (isWanted) {
      this.#log.wasRead(target);
      this.#origins.set(target, { ...this.#origins.get(target), leaderEpoch: lastEpochOf(rawMessages) });
    }
    return isWanted;
  }

  #assign(memberAssignment: Readonly<Record<string, number[]>>, listener: RecordSourceListener): void {
    const partitions = Object.entries(memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    this.#assigned = new Map(partitions.map((partition) => [partitionKey(partition), partition]));
    this.#log.assigned(this.#assigned);
    for (const partition of partitions) {
      this.pause(partition);
    }
    this.#logger.info({ partitions: memberAssignment }, 'assigned');
    listener.onAssigned(partitions);
  }

  /** resolveOffset moves only kafkajs's local position; for a partition that is not assigned any more it throws. */
  #handOver({ batch, resolveOffset }: EachBatchPayload, listener: RecordSourceListener): void {
    const { topic, partition, fetchedOffset, messages, rawMessages } = batch as unknown as FetchedBatch;
    if (!this.#isWanted({ topic, partition }, rawMessages)) {
      return;
    }
    const lastOffset = batch.lastOffset();
    const range = { fetchedOffset: BigInt(fetchedOffset), nextOffset: BigInt(lastOffset) + 1n };
    const records = new Records(messages.flatMap((batch) => batch.records.parts));
    listener.onFetched({ topic, partition, records, ...range, leaderEpoch: lastEpochOf(rawMessages) });
    this.#watcher.onDelivered({ topic, records: records.length, bytes: records.contentBytes });
    resolveOffset(lastOffset);
  }

  /** Between a crash and the next join kafkajs refuses to seek or pause; the join starts from new positions anyway. */
  #whileAssigned(target: TopicPartition, act: (target: TopicPartition) => void): void {
    if (!this.#assigned.has(partitionKey(target))) {
      return;
    }
    try {
      act(target);
    } catch (error) {
      this.#logger.debug({ ...target, reason: String(error) }, 'the Kafka client is between two lives');
    }
  }
}
