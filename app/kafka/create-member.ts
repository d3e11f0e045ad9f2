import type { Kafka } from 'kafkajs';
import { milliseconds } from '../../settings/schema/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { Position } from '../stream/ports/record-source.ts';
import type { ReadTopics } from '../topics/read-topics.ts';
import type { ClientListener } from './client/client-listener.ts';
import type { NotOffered } from './consumer-protocol/consumer-member.ts';
import { ConsumerMember } from './consumer-protocol/consumer-member.ts';
import { BrokerConnections } from './fetch/broker-connections.ts';
import { clusterApart } from './fetch/cluster-apart.ts';
import { ClassicMember } from './group/classic-member.ts';
import { GroupCoordinator } from './group/coordinator.ts';
import type { GroupMember, GroupMemberListener } from './group/group-member.ts';
import { topicsOf } from './group/subscribed-metadata.ts';
import type { KafkaAdmin } from './kafka-admin.ts';

/** What a member is made of. */
interface MemberParts {
  readonly watcher: Pick<ClientListener, 'onAnswer'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admin: Pick<KafkaAdmin, 'topicIds'>;
  /** The topics that are read now. */
  readonly topics: ReadTopics;
}

/** The process as a member of its group; it connects to nothing yet. */
export function createMember(
  settings: Settings['kafka'],
  kafka: Kafka,
  { watcher, clock, logger, admin, topics: read }: MemberParts,
): GroupMember {
  const { groupId, groupProtocol, groupInstanceId: instanceId = null } = settings;
  const sessionTimeoutMs = milliseconds(settings.sessionTimeout);
  const connections = new BrokerConnections(clusterApart(kafka, watcher), clock);
  const coordinator = new GroupCoordinator(connections, { groupId, sessionTimeoutMs });
  const ports = { coordinator, topics: topicsOf(connections), clock, logger };
  const topics = () => read.all;
  const templates = read.templates.length > 0 && { templates: read };
  const createClassic = () => new ClassicMember({ groupId, topics, sessionTimeoutMs, instanceId, ...templates }, ports);
  if (groupProtocol === 'classic') {
    return createClassic();
  }
  const topicIds = (asked: readonly string[]) => admin.topicIds(asked);
  return new NegotiatedMember(
    (onNotOffered) =>
      new ConsumerMember({ groupId, topics, instanceId, ...templates }, { ...ports, topicIds, onNotOffered }),
    createClassic,
    ({ message: reason }) =>
      logger.warn({ reason }, 'the group is joined by the protocol classic until the process ends'),
  );
}

/** Makes a member of KIP-848, which reports where the brokers do not have the protocol. */
type CreateConsumer = (onNotOffered: (error: NotOffered) => void) => GroupMember;

/**
 * A member by the protocol of KIP-848 where the brokers have it, and by the classic one from the moment on that they do
 * not, for the life of the process: brokers of both kinds in one cluster would have it leave and join again and again.
 */
export class NegotiatedMember implements GroupMember {
  readonly #createConsumer: CreateConsumer;
  readonly #createClassic: () => GroupMember;
  readonly #onClassic: (error: NotOffered) => void;
  #member: GroupMember | null = null;
  #isLeaving = false;

  /** @param onClassic called before the group is joined by the classic protocol */
  constructor(
    createConsumer: CreateConsumer,
    createClassic: () => GroupMember,
    onClassic: (error: NotOffered) => void,
  ) {
    this.#createConsumer = createConsumer;
    this.#createClassic = createClassic;
    this.#onClassic = onClassic;
  }

  join(listener: GroupMemberListener): Promise<void> {
    return new Promise((resolve, reject) => {
      const consumer = this.#createConsumer((error) => {
        if (!this.#isLeaving) {
          this.#onClassic(error);
          const classic = this.#createClassic();
          this.#member = classic;
          classic.join(listener).then(resolve, reject);
        }
      });
      this.#member = consumer;
      // It gives way without a word: who joins waits for the classic one then.
      consumer.join(listener).then(resolve, (error: unknown) => this.#member === consumer && reject(error));
    });
  }

  async handOver(timeoutMs: number): Promise<boolean> {
    return (await this.#member?.handOver(timeoutMs)) ?? false;
  }

  async leave(timeoutMs: number): Promise<void> {
    this.#isLeaving = true;
    await this.#member?.leave(timeoutMs);
  }

  async commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    if (this.#member === null) {
      throw new Error('the offsets were not committed: the process is not a member of its group');
    }
    await this.#member.commit(positions, metadata);
  }
}
