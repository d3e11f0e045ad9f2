import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { milliseconds } from '../../settings/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logger.ts';
import type { Clock } from '../stream/clock.ts';
import { partitionKey, type TopicPartition } from '../stream/record.ts';
import type { WritePlace } from '../stream/record-sink.ts';
import type { LogRange, Position, RecordSource, RecordSourceListener } from '../stream/record-source.ts';
import { Retries } from '../stream/retries.ts';
import { FatalError, OutageError } from '../stream/stream-errors.ts';
import { type ClientListener, contentBytes, watchClient } from './client-listener.ts';
import { EventLoopTurns } from './event-loop-turns.ts';
import { type ClaimingMember, GroupClaim } from './group-claim.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import {
  type FetchAnswer,
  kafkajsEvents,
  type OffsetOutOfRange,
  type SkippedRange,
  type TopicsAnswer,
} from './kafkajs-consumer-patches.ts';
import type { decodeRecord } from './kafkajs-record-patches.ts';
import { RestartPace } from './restart-pace.ts';
import { SourceLog } from './source-log.ts';
import { messageOf, type SubscriptionParts, subscribe } from './subscription.ts';

/** kafkajs's batch as it is at run time, with our record decoder: the messages are records already. */
type FetchedBatch = Omit<EachBatchPayload['batch'], 'messages'> & {
  readonly fetchedOffset: string;
  readonly messages: readonly ReturnType<typeof decodeRecord>[];
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
  #isLeader = false;
  #unknownTopics: readonly string[] = [];
  #assigned = new Map<string, TopicPartition>();

  constructor(settings: Settings['kafka'], kafka: Kafka, ports: KafkaSourcePorts) {
    const { admin, clock, logger, watcher, storedPositions, place } = ports;
    this.#watcher = watcher;
    this.#restarts = new RestartPace(clock);
    this.#settings = settings;
    this.#admin = admin;
    this.#clock = clock;
    this.#logger = logger;
    this.#log = new SourceLog(logger);
    const sessionTimeout = milliseconds(settings.sessionTimeout);
    const { groupId } = settings;
    this.#claim = new GroupClaim({ groupId, sessionTimeoutMs: sessionTimeout, admin, clock, logger, place });
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval: Math.max(500, Math.floor(sessionTimeout / 5)),
      rebalanceTimeout: 60_000,
      maxWaitTimeInMs: MAX_WAIT_MS,
      maxBytesPerPartition: 1_048_576,
      maxBytes: 8_388_608,
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
    watchClient(this.#consumer, watcher);
  }

  async start(listener: RecordSourceListener): Promise<void> {
    this.#listen(listener);
    await this.#subscribe(listener);
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

  async #subscribe(listener: RecordSourceListener): Promise<void> {
    const topics = [...this.#settings.topics];
    let told = '';
    const onOutage = ({ message: reason }: OutageError): void => {
      if (reason !== told) {
        told = reason;
        this.#logger.warn({ brokers: this.#settings.brokers, reason }, 'waiting for Kafka');
        listener.onWaiting(reason);
      }
    };
    await new Retries(this.#clock).until(() => subscribe(topics, this.#subscription), this.#stopping.signal, {
      onOutage,
    });
  }

  seek({ topic, partition, offset }: Position): void {
    this.#whileAssigned({ topic, partition }, () =>
      this.#consumer.seek({ topic, partition, offset: offset.toString() }),
    );
  }

  pause(target: TopicPartition): void {
    this.#whileAssigned(target, ({ topic, partition }) => this.#consumer.pause([{ topic, partitions: [partition] }]));
  }

  resume(target: TopicPartition): void {
    this.#whileAssigned(target, ({ topic, partition }) => this.#consumer.resume([{ topic, partitions: [partition] }]));
  }

  logRanges(topic: string): Promise<LogRange[]> {
    return this.#admin.logRanges(topic);
  }

  committedOffsets(topic: string): Promise<Position[]> {
    return this.#admin.committedOffsets(this.#settings.groupId, topic);
  }

  claim(signal: AbortSignal): Promise<void> {
    const known = this.#settings.topics.filter((topic) => !this.#unknownTopics.includes(topic));
    const [first = known.map((topic) => ({ topic, partition: 0 }))[0]] = this.#assigned.values();
    if (first === undefined) {
      // Without a topic there is nothing to write, and no offset that a claim could be committed with.
      return Promise.resolve();
    }
    const commit: ClaimingMember['commit'] = (position, metadata) =>
      this.#commit([position], metadata).catch((error: unknown) => {
        throw new OutageError(`Kafka did not take the claim of the group: ${messageOf(error)}`, {
          reason: 'kafka_away',
          cause: error,
        });
      });
    return this.#claim.hold({ isLeader: this.#isLeader, partition: first, commit }, signal);
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
        this.#logger.warn({ reason: error.message }, 'the Kafka client starts again');
        listener.onWaiting(`the Kafka client starts again: ${error.message}`);
      } else if (!this.#stopping.signal.aborted) {
        const message = `the Kafka client stopped for good: ${error.name}: ${error.message}`;
        listener.onFatal(new FatalError('KAFKA_CLIENT_STOPPED', message, { cause: error }));
      }
    });
    kafkajsEvents.on('outOfRange', (event: OffsetOutOfRange) => {
      const { groupId, topic, partition } = event;
      if (groupId === this.#settings.groupId) {
        this.pause({ topic, partition });
        listener.onOutOfRange({ topic, partition });
      }
    });
    kafkajsEvents.on('topics', ({ groupId, unknown }: TopicsAnswer) => {
      if (groupId === this.#settings.groupId) {
        this.#unknownTopics = unknown.toSorted();
        this.#log.unknownTopics(this.#unknownTopics);
        listener.onUnknownTopics(this.#unknownTopics);
      }
    });
    kafkajsEvents.on('skipped', (range: SkippedRange) => this.#skip(range, listener));
    kafkajsEvents.on('unreadable', ({ groupId, ...batch }) => {
      if (groupId === this.#settings.groupId && this.#assigned.has(partitionKey(batch))) {
        // Nothing of the batch is handed over, so its records stay ahead of the stored offset.
        this.pause(batch);
        this.#log.unreadable(batch);
        listener.onUnreadable(batch);
      }
    });
    kafkajsEvents.on('answered', ({ groupId, ...answer }: FetchAnswer) => {
      if (groupId === this.#settings.groupId) {
        this.#watcher.onLogEnds(answer);
      }
    });
  }

  /** A range without records is a batch without records: the stored offset has to move over it, too. */
  #skip({ groupId, topic, partition, fetchedOffset, lastOffset }: SkippedRange, listener: RecordSourceListener): void {
    if (groupId === this.#settings.groupId && this.#assigned.has(partitionKey({ topic, partition }))) {
      this.#log.wasRead({ topic, partition });
      const range = { fetchedOffset: BigInt(fetchedOffset), nextOffset: BigInt(lastOffset) + 1n };
      listener.onBatch({ topic, partition, records: [], ...range });
    }
  }

  #assign(memberAssignment: Readonly<Record<string, number[]>>, listener: RecordSourceListener): void {
    const partitions = Object.entries(memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    this.#assigned = new Map(partitions.map((partition) => [partitionKey(partition), partition]));
    for (const partition of partitions) {
      this.pause(partition);
    }
    this.#logger.info({ partitions: memberAssignment }, 'assigned');
    listener.onAssigned(partitions);
  }

  /** resolveOffset moves only kafkajs's local position; for a partition that is not assigned any more it throws. */
  #handOver({ batch, resolveOffset }: EachBatchPayload, listener: RecordSourceListener): void {
    const { topic, partition, fetchedOffset, messages } = batch as unknown as FetchedBatch;
    if (!this.#assigned.has(partitionKey({ topic, partition }))) {
      return;
    }
    this.#log.wasRead({ topic, partition });
    const lastOffset = batch.lastOffset();
    const range = { fetchedOffset: BigInt(fetchedOffset), nextOffset: BigInt(lastOffset) + 1n };
    listener.onBatch({ topic, partition, records: messages, ...range });
    this.#watcher.onDelivered({ topic, records: messages.length, bytes: contentBytes(messages) });
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
