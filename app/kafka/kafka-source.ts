import type { Kafka } from 'kafkajs';
import { milliseconds } from '../../settings/schema/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import type { OutageWatch } from '../logging/outage-log.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import type { TopicPartition } from '../records/record.ts';
import type { StartFrom } from '../stream/partition/positions.ts';
import { logTruncated } from '../stream/partition/topic-ids.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { WritePlace } from '../stream/ports/record-sink.ts';
import type { PartitionLog, Position, RecordSource, RecordSourceListener } from '../stream/ports/record-source.ts';
import { FatalError } from '../stream/ports/stream-errors.ts';
import type { ReadTopics } from '../topics/read-topics.ts';
import type { ClientListener } from './client/client-listener.ts';
import { failureText, isOutage, stoppedForGood } from './client/kafka-errors.ts';
import { createMember } from './create-member.ts';
import { BrokerConnections } from './fetch/broker-connections.ts';
import { clusterApart } from './fetch/cluster-apart.ts';
import type { FetchListener } from './fetch/fetch-collector.ts';
import { PartitionFetcher } from './fetch/partition-fetcher.ts';
import type { Assignment, GroupMember, GroupMemberListener } from './group/group-member.ts';
import { type ClaimingMember, claimError, GroupClaim } from './group-claim.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import { SourceLog } from './source-log.ts';
import { type SubscriptionParts, subscribe } from './subscription.ts';
import { type BegunTemplates, TemplateTopics } from './template-topics.ts';

/** The group is left in this time, or its session ends by itself. */
const LEAVE_MS = 2_000;

/** The parts that the source works with. */
export interface KafkaSourcePorts {
  readonly admin: KafkaAdmin;
  /** The topics that are read now. */
  readonly topics: ReadTopics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memory: MemoryBudget;
  /** Gets the client's events. */
  readonly watcher: ClientListener;
  readonly outages: OutageWatch;
  /** The process as a member of its group. */
  readonly member: GroupMember;
  readonly storedPositions: SubscriptionParts['storedPositions'];
  /** The templates that the group has begun with. */
  readonly store: BegunTemplates;
  /** Where topics begin that a template finds at its first start. */
  readonly startFrom: StartFrom;
  /** Where the records go. */
  readonly place: () => Promise<WritePlace>;
}

/**
 * Records of the partitions that the group gives the process, which {@link PartitionFetcher} fetches over connections
 * for fetches alone.
 *
 * What a generation adds is neither sought nor resumed, so nothing of it is fetched until the pipeline has sought to
 * PostgreSQL's position; what it leaves here goes on. Of what is gone nothing is fetched or handed over from the call
 * on that says so. Fetches end before the group is left.
 */
export class KafkaSource implements RecordSource {
  readonly #member: GroupMember;
  readonly #settings: Settings['kafka'];
  readonly #admin: KafkaAdmin;
  readonly #topics: ReadTopics;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #log: SourceLog;
  readonly #watcher: ClientListener;
  readonly #subscription: SubscriptionParts;
  readonly #templates: TemplateTopics;
  readonly #outages: OutageWatch;
  readonly #stopping = new AbortController();
  readonly #claim: GroupClaim;
  readonly #fetcher: PartitionFetcher;
  #listener: RecordSourceListener | null = null;
  #isLeader: boolean | null = false;
  #unknownTopics: readonly string[] = [];

  constructor(settings: Settings['kafka'], kafka: Kafka, ports: KafkaSourcePorts) {
    const { admin, topics, clock, logger, memory, watcher, outages, storedPositions, place, member } = ports;
    this.#watcher = watcher;
    this.#outages = outages;
    this.#member = member;
    this.#settings = settings;
    this.#admin = admin;
    this.#topics = topics;
    this.#clock = clock;
    this.#logger = logger;
    this.#log = new SourceLog(logger, (topic) => topics.isTemplated(topic));
    const { groupId, fetchMinBytes: minBytes, fetchMaxWait, fetchLinger } = settings;
    const sessionTimeoutMs = milliseconds(settings.sessionTimeout);
    this.#claim = new GroupClaim({ groupId, sessionTimeoutMs, admin, clock, logger, place });
    const connections = new BrokerConnections(clusterApart(kafka, watcher), clock);
    const wait = { minBytes, maxWaitMs: milliseconds(fetchMaxWait), lingerMs: milliseconds(fetchLinger) };
    this.#fetcher = new PartitionFetcher({
      ...{ connections, memory, clock, wait, logger, listener: this.#fetched() },
      onPoll: () => watcher.onPoll(),
      onFetchedByName: (fetch) => this.#log.fetchedByName(fetch),
    });
    const refreshMs = milliseconds(settings.topicRefresh);
    const onUnlisted: RecordSourceListener['onUnlisted'] = (...topics) => this.#listener?.onUnlisted(...topics);
    this.#templates = new TemplateTopics({ ...ports, groupId, refreshMs, onUnlisted });
    this.#subscription = {
      ...{ admin, claim: this.#claim, storedPositions },
      ...(topics.templates.length > 0 && { templates: this.#templates }),
    };
  }

  async start(listener: RecordSourceListener): Promise<void> {
    this.#listener = listener;
    const { brokers } = this.#settings;
    const { signal } = this.#stopping;
    const patience = { clock: this.#clock, logger: this.#logger, brokers, signal, listener };
    await subscribe([...this.#topics.names], this.#subscription, patience);
    if (!this.#stopping.signal.aborted) {
      void this.#templates.watch(signal);
      // Who leaves before the first assignment has a reason, which was reported.
      await this.#member.join(this.#membership(listener)).catch(() => undefined);
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
  readonly requireListed: RecordSource['requireListed'] = (topics) => this.#templates.requireListed(topics);

  readonly knowsEpoch: RecordSource['knowsEpoch'] = (position) => this.#admin.knowsEpoch(position);

  committedOffsets(topic: string): Promise<Position[]> {
    return this.#admin.committedOffsets(this.#settings.groupId, topic);
  }

  claim(signal: AbortSignal): Promise<void> {
    const assigned = [...this.#fetcher.assigned.values()];
    const topics = this.#templates.ofClaim().filter((topic) => !this.#unknownTopics.includes(topic));
    if (assigned.length + topics.length === 0) {
      // Without a topic there is nothing to write, and no offset that a claim could be committed with.
      return Promise.resolve();
    }
    const commit: ClaimingMember['commit'] = (position, metadata) =>
      this.#commit([position], metadata).catch((error: unknown) => {
        throw claimError(error, { groupId: this.#settings.groupId, topics: [position.topic] });
      });
    return this.#claim.hold({ isLeader: this.#isLeader, assigned, topics, commit }, signal);
  }

  async commitHint(positions: readonly Position[]): Promise<void> {
    await this.#commit(positions, this.#claim.metadata);
  }

  #commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    return this.#member.commit(positions, metadata);
  }

  handOver(timeoutMs: number): Promise<boolean> {
    return this.#member.handOver(timeoutMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#fetcher.stop();
    await this.#member.leave(LEAVE_MS);
    await this.#admin.disconnect();
  }

  /** What becomes of the membership. */
  #membership(listener: RecordSourceListener): GroupMemberListener {
    return {
      onJoining: () => this.#logger.info({ groupId: this.#settings.groupId }, 'joining the group'),
      onAssigned: (assignment) => this.#assign(assignment, listener),
      onAcknowledged: (duration) => this.#joined(duration, this.#fetcher.assigned.size),
      onExpelled: ({ message: reason }) => {
        this.#logger.warn({ reason }, 'expelled from the group: nothing is read or written until it is joined again');
        this.#fetcher.assign([]);
        listener.onExpelled();
      },
      onHeartbeat: () => {
        this.#outages.worked();
        this.#watcher.onHeartbeat();
        listener.onHeartbeat();
      },
      onTopics: (unknown, partitions) => {
        this.#unknownTopics = unknown;
        this.#log.unknownTopics(unknown.filter((topic) => !this.#topics.isTemplated(topic)));
        this.#templates.answered(unknown);
        listener.onTopics(unknown, partitions);
      },
      onTryingAgain: (error, isJoin) => this.#triesAgain(error, isJoin, listener),
      onFatal: (error) => {
        if (!this.#stopping.signal.aborted) {
          this.#fetcher.assign([]);
          listener.onFatal(
            error instanceof FatalError
              ? error
              : stoppedForGood(error, { ...this.#settings, topics: this.#topics.names }),
          );
        }
      },
    };
  }

  #triesAgain(error: Error, wasJoining: boolean, listener: RecordSourceListener): void {
    const { message: reason } = error;
    const isAway = isOutage(error);
    if (isAway) {
      this.#outages.failed(failureText(error));
    }
    this.#watcher.onCrashed({ wasJoining, isOutage: isAway });
    this.#logger[isAway ? 'debug' : 'warn']({ reason }, 'the Kafka client tries again');
    listener.onWaiting(`the Kafka client tries again: ${reason}`);
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
      onLog: (log) => {
        this.#log.wasFetched(log);
        this.#listener?.onLog(log);
      },
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

  #assign(assignment: Assignment, listener: RecordSourceListener): Promise<void> {
    const { owned, added, revoked, isLeader, milliseconds: duration } = assignment;
    this.#isLeader = isLeader;
    if (duration !== null) {
      this.#joined(duration, owned.length);
    }
    this.#templates.assigned(owned);
    const released = this.#revoke(revoked, owned, listener);
    this.#templates.revoked(revoked, released);
    const shown = { added: numbersByTopic(added), revoked: numbersByTopic(revoked), partitions: numbersByTopic(owned) };
    this.#logger.info(shown, 'assigned');
    listener.onAssigned({ owned, added });
    return released;
  }

  #joined(duration: number, partitions: number): void {
    this.#outages.worked();
    this.#watcher.onJoined({ milliseconds: duration, partitions });
  }

  /** @returns a promise that resolves when nothing of what is revoked is written any more */
  #revoke(
    revoked: readonly TopicPartition[],
    owned: readonly TopicPartition[],
    listener: RecordSourceListener,
  ): Promise<void> {
    this.#fetcher.assign(owned);
    this.#log.assigned(this.#fetcher.assigned);
    return revoked.length === 0 ? Promise.resolve() : listener.onRevoked(revoked);
  }
}

/** The records of a group, of which the process becomes a member by its settings. */
export function createKafkaSource(
  settings: Settings['kafka'],
  kafka: Kafka,
  ports: Omit<KafkaSourcePorts, 'member'>,
): KafkaSource {
  return new KafkaSource(settings, kafka, { ...ports, member: createMember(settings, kafka, ports) });
}

/** As the log shows partitions. */
function numbersByTopic(partitions: readonly TopicPartition[]): Readonly<Record<string, readonly number[]>> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))];
  return Object.fromEntries(
    topics.map((of) => [of, partitions.filter(({ topic }) => topic === of).map(({ partition }) => partition)]),
  );
}
